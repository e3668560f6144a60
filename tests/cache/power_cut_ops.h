// System calls of the cache on disk that remember what a power cut may still take back: all that was written
// to a file and not synced, and all names that were made, changed or removed since the folder was synced.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/cache/file_ops.h"

namespace tandem::test {

class PowerCutOps : public FileOps {
 public:
  // `before`: called before each call. A disk that lies syncs nothing and
  // says it did.
  explicit PowerCutOps(std::function<void()> before, bool lies = false)
      : before_(std::move(before)), lies_(lies) {}

  int create(const std::string& path, int& descriptor) override;
  int write(int descriptor, const void* data, std::size_t size) override;
  int sync(int descriptor) override;
  int rename(const std::string& from, const std::string& to) override;
  int remove(const std::string& path) override;
  int syncFolder(const std::string& path) override;

  // Writes the files into `folder` as a power cut now could leave them: of the writes of each file since its
  // sync any, also torn at a sector's edge, and of the names since the folder's sync any.
  void powerCut(const std::string& folder, std::mt19937& random) const;

 private:
  struct Write {
    std::size_t offset;
    std::string data;
  };
  struct File {
    std::string synced;
    std::size_t size = 0;
    std::vector<Write> pending;
  };
  using Names = std::map<std::string, std::shared_ptr<File>>;
  struct NameChange {
    std::string from, to;  // no `from`: made; no `to`: removed
    std::shared_ptr<File> file;
  };

  static void apply(const NameChange& change, Names& names);
  static std::string left(const File& file, std::mt19937& random);
  void change(const NameChange& change);
  void called() { before_(); }

  const std::function<void()> before_;
  const bool lies_;
  Names now_, synced_;
  std::vector<NameChange> pending_;
  std::map<int, std::shared_ptr<File>> open_;
};

}  // namespace tandem::test
