// Writes GGUF files of version 3.
//
// Collects metadata and tensor records, then writes the file in one go; tensor data is fetched one tensor at
// a time, so that a large model never lies in memory as a whole. Used by one thread. Whatever the reader
// would refuse is refused here before anything is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/gguf/encoded_value.h"
#include "engine/gguf/file.h"

namespace tandem::gguf {

// Gives the bytes of one tensor when its turn to be written has come. The span must stay valid until the
// source is called or destroyed next.
using TensorSource = std::function<Result<std::span<const std::byte>>()>;

class Writer {
 public:
  // Keys and tensors are written in the order in which they were added. The alignment of the data is the
  // value of general.alignment where that is added, else 32.
  void add(std::string key, EncodedValue value) { values_.emplace_back(std::move(key), std::move(value)); }
  // dims: fastest first.
  void addTensor(std::string name, TensorType type, std::vector<std::uint64_t> dims, TensorSource source);

  // Writes to "PATH.partial", flushes it to the disk and renames it to `path`; on failure nothing is left
  // behind and a file that was at `path` is unchanged. Errors: kInvalidArgument (what was added cannot be a
  // file), kIo, and whatever a source returns.
  Status write(const std::string& path) const;

 private:
  struct Tensor {
    std::string name;
    TensorType type;
    std::vector<std::uint64_t> dims;
    TensorSource source;
  };
  Result<std::uint32_t> alignment() const;
  Status check() const;
  std::string header(std::uint32_t alignment) const;

  std::vector<std::pair<std::string, EncodedValue>> values_;
  std::vector<Tensor> tensors_;
};

}  // namespace tandem::gguf
