// Interleaved weights kept on disk, so that a model is packed once and mapped ever after: one file per model
// in one folder. The file's layout and the rules: docs/model-loading.md.
//
// Nothing here is an error to a person: a file that is missing, short, damaged or of another model is not
// used, a folder that cannot be written keeps nothing. Files are written under a temporary name and renamed;
// what a program that was killed has left is cleared away by the next one that writes. Several processes and
// threads may use one folder.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/base/thread_pool.h"
#include "engine/gguf/mapped_file.h"

namespace tandem {

// How the matrices of a model lie in memory once they are interleaved.
struct WeightLayout {
  std::uint64_t bytes = 0;
  // XXH3-128 of the packing's version and of every matrix's name, rows, format, shape and offset.
  std::array<std::uint64_t, 2> key = {};
};

struct WeightKey {
  std::string fingerprint;  // of the model file, 32 hexadecimal digits
  WeightLayout layout;

  // "<fingerprint>-<layout's key>.weights"
  std::string fileName() const;
};

// A file that is being filled. Goes away with its temporary file unless it was kept; its memory lives on.
class NewWeightFile {
 public:
  // REQUIRES: the descriptor is of a file of that many bytes at `temporary`, which are reserved on the disk.
  NewWeightFile(int descriptor, std::filesystem::path temporary, std::filesystem::path path, WeightKey key);
  ~NewWeightFile();
  NewWeightFile(const NewWeightFile&) = delete;
  NewWeightFile& operator=(const NewWeightFile&) = delete;

  // layout.bytes bytes, aligned to a page; null when they cannot be mapped.
  const std::shared_ptr<std::uint8_t>& data() const { return data_; }

  // Seals what was written to data() and puts the file in its place. Afterwards data() is read-only. `source`
  // is the file that the weights came from.
  void keep(const gguf::FileIdentity& source, ThreadPool& pool);

 private:
  int descriptor_;
  std::filesystem::path temporary_, path_;
  WeightKey key_;
  std::shared_ptr<std::uint8_t> file_;  // the whole file
  std::shared_ptr<std::uint8_t> data_;  // behind the header
};

struct WeightCacheOptions {
  std::filesystem::path folder = {};                   // need not exist; empty: nothing is kept
  std::uint64_t budget = std::uint64_t{8} << 30;       // bytes of all files; the oldest used goes first
  std::uint64_t freeDisk = std::uint64_t{1} << 30;     // bytes of the disk that stay free
  std::uint64_t leastBytes = std::uint64_t{16} << 20;  // smaller models are packed in no time
};

class WeightCache {
 public:
  explicit WeightCache(WeightCacheOptions options) : options_(std::move(options)) {}

  // The fingerprint of a model file that is the same since its weights were kept.
  std::optional<std::string> fingerprintOf(const gguf::FileIdentity& file) const;

  // The weights kept under `key`, checked byte for byte and mapped read-only; null when there are none that
  // are whole. `source` is the model file, which is known by its identity from then on.
  std::shared_ptr<const std::uint8_t> find(const WeightKey& key, const gguf::FileIdentity& source,
                                           ThreadPool& pool,
                                           const std::function<void(double fraction)>& progress = {}) const;

  // A file to be filled, with its disk space reserved; null when the folder cannot take it. Clears away
  // left-over temporary files and what is beyond the budget.
  std::unique_ptr<NewWeightFile> create(const WeightKey& key) const;

 private:
  bool makeRoom(std::uint64_t bytes) const;

  WeightCacheOptions options_;
};

}  // namespace tandem
