// The index of the cache on disk in SQLite: the file `index.db` beside the files that it lists
// (docs/cache-format.md). It holds nothing that cannot be made again: one that is damaged or of another
// version is replaced by an empty one. Several processes may have it open; each object belongs to one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/cache/text_index.h"
#include "storage/sqlite.h"

namespace tandem::storage {

class CacheIndex : public TextIndex {
 public:
  // REQUIRES: the folder exists. vfs: empty for the system's own.
  static Result<std::unique_ptr<TextIndex>> open(const std::string& folder, const std::string& vfs = {});

  Result<std::vector<TextRow>> rows() override;
  Result<std::int64_t> add(const TextRow& row) override;
  Status remove(std::span<const std::int64_t> ids) override;
  Status use(std::span<const TextUse> uses) override;
  bool isCurrent() const override;

 private:
  CacheIndex(std::string path, std::unique_ptr<Database> db);

  const std::string path_;
  const std::unique_ptr<Database> db_;
  const std::optional<std::pair<std::uint64_t, std::uint64_t>> identity_;
};

}  // namespace tandem::storage
