// Rows read straight from the pages of a SQLite file, without the trees that lead to them: what is left to
// read when a page of a tree itself is damaged. Follows the published file format
// (https://www.sqlite.org/fileformat2.html), sections 1.5 to 1.6 and 2.1. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tandem::storage {

struct ScannedBlob {
  std::string bytes;
};
// NULL, integer, real, text, blob.
using ScannedValue = std::variant<std::monostate, std::int64_t, double, std::string, ScannedBlob>;

// Calls `sink` with the row id and the values of every whole row on a leaf page of a table, page by page.
// Which table a row belongs to is not known here. Rows that contradict themselves are passed over; nothing in
// `file` (the bytes of the whole file) makes it fail or read beyond the end.
void scanRows(std::string_view file,
              const std::function<void(std::int64_t, const std::vector<ScannedValue>&)>& sink);

}  // namespace tandem::storage
