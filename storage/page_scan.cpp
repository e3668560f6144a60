#include "storage/page_scan.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>

namespace tandem::storage {

namespace {

constexpr std::size_t kMagicSize = 16;
constexpr std::size_t kFileHeader = 100;
constexpr std::uint8_t kTableLeaf = 0x0D;

std::uint64_t bigEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes)
    value = value << 8 | static_cast<std::uint8_t>(c);
  return value;
}

// Takes a varint (one to nine bytes, seven bits each, the ninth all eight) off the front; nullopt: cut short.
std::optional<std::uint64_t> takeVarint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(bytes.size(), 9); ++i) {
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    value = i == 8 ? value << 8 | byte : value << 7 | (byte & 0x7F);
    if (i == 8 || byte < 0x80) {
      bytes.remove_prefix(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

// Takes the value of this serial type off the front; nullopt: cut short, or no type of the format.
std::optional<ScannedValue> takeValue(std::uint64_t type, std::string_view& bytes) {
  constexpr std::size_t kIntegerSizes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
  if (type == 10 || type == 11) return std::nullopt;
  const std::uint64_t size = type >= 12 ? (type - 12) / 2 : kIntegerSizes[type];
  if (size > bytes.size()) return std::nullopt;
  const std::string_view field = bytes.substr(0, static_cast<std::size_t>(size));
  bytes.remove_prefix(field.size());
  if (type == 0) return ScannedValue();
  if (type == 8 || type == 9) return ScannedValue(static_cast<std::int64_t>(type - 8));
  if (type == 7) return ScannedValue(std::bit_cast<double>(bigEndian(field)));
  if (type >= 12 && type % 2 == 0) return ScannedValue(ScannedBlob{std::string(field)});
  if (type >= 13) return ScannedValue(std::string(field));
  const unsigned unused = 64 - 8 * static_cast<unsigned>(size);  // sign extension
  return ScannedValue(static_cast<std::int64_t>(bigEndian(field) << unused) >> unused);
}

std::optional<std::vector<ScannedValue>> decodeRecord(std::string_view record) {
  std::string_view header = record;
  const auto headerSize = takeVarint(header);
  if (!headerSize || *headerSize > record.size() || *headerSize < record.size() - header.size())
    return std::nullopt;
  header = header.substr(0, static_cast<std::size_t>(*headerSize) - (record.size() - header.size()));
  std::string_view body = record.substr(static_cast<std::size_t>(*headerSize));
  std::vector<ScannedValue> values;
  while (!header.empty()) {
    const auto type = takeVarint(header);
    auto value = type ? takeValue(*type, body) : std::nullopt;
    if (!value) return std::nullopt;
    values.push_back(std::move(*value));
  }
  return values;
}

class Scanner {
 public:
  explicit Scanner(std::string_view file) : file_(file), budget_(file.size()) {
    if (file.size() < kFileHeader) return;
    const std::uint64_t size = bigEndian(file.substr(kMagicSize, 2));
    const std::size_t wanted = size == 1 ? 65536 : static_cast<std::size_t>(size);
    // A damaged header says nothing; then SQLite's usual size is the best guess.
    pageSize_ = std::has_single_bit(wanted) && wanted >= 512 ? wanted : 4096;
    const std::size_t reserved = static_cast<std::uint8_t>(file[20]);
    usable_ = pageSize_ - (reserved <= 32 ? reserved : 0);
  }

  std::size_t pages() const { return pageSize_ == 0 ? 0 : file_.size() / pageSize_; }
  std::string_view page(std::size_t index) const { return file_.substr(index * pageSize_, usable_); }

  // The record of the cell at the start of `cell`, its overflow pages joined.
  std::optional<std::string> record(std::string_view cell, std::int64_t& rowId) {
    const auto size = takeVarint(cell);
    const auto id = takeVarint(cell);
    if (!size || !id || *size > budget_) return std::nullopt;
    rowId = static_cast<std::int64_t>(*id);
    const std::uint64_t local = localSize(*size);
    if (local > cell.size()) return std::nullopt;
    std::string bytes(cell.substr(0, static_cast<std::size_t>(local)));
    cell.remove_prefix(static_cast<std::size_t>(local));
    std::uint64_t next = local < *size && cell.size() >= 4 ? bigEndian(cell.substr(0, 4)) : 0;
    while (bytes.size() < *size) {
      if (next == 0 || next > pages()) return std::nullopt;
      const std::string_view overflow = page(static_cast<std::size_t>(next) - 1);
      next = bigEndian(overflow.substr(0, 4));
      bytes += overflow.substr(4, static_cast<std::size_t>(*size) - bytes.size());
    }
    budget_ -= *size;
    return bytes;
  }

 private:
  // Bytes of a payload that lie on the leaf itself.
  std::uint64_t localSize(std::uint64_t size) const {
    const std::uint64_t most = usable_ - 35;
    if (size <= most) return size;
    const std::uint64_t least = (usable_ - 12) * 32 / 255 - 23;
    const std::uint64_t fitting = least + (size - least) % (usable_ - 4);
    return fitting <= most ? fitting : least;
  }

  std::string_view file_;
  std::uint64_t budget_;  // whole rows together are no longer than the file
  std::size_t pageSize_ = 0;
  std::size_t usable_ = 0;
};

}  // namespace

void scanRows(std::string_view file,
              const std::function<void(std::int64_t, const std::vector<ScannedValue>&)>& sink) {
  Scanner scanner(file);
  for (std::size_t index = 0; index < scanner.pages(); ++index) {
    const std::string_view page = scanner.page(index);
    const std::size_t header = index == 0 ? kFileHeader : 0;
    if (static_cast<std::uint8_t>(page[header]) != kTableLeaf) continue;
    const std::size_t cells = static_cast<std::size_t>(bigEndian(page.substr(header + 3, 2)));
    const std::size_t pointers = header + 8;
    for (std::size_t i = 0; i < cells && pointers + 2 * i + 2 <= page.size(); ++i) {
      const auto offset = static_cast<std::size_t>(bigEndian(page.substr(pointers + 2 * i, 2)));
      if (offset >= page.size()) continue;
      std::int64_t rowId = 0;
      const auto record = scanner.record(page.substr(offset), rowId);
      const auto values = record ? decodeRecord(*record) : std::nullopt;
      if (values) sink(rowId, *values);
    }
  }
}

}  // namespace tandem::storage
