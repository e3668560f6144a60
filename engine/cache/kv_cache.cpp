#include "engine/cache/kv_cache.h"

#include <cassert>
#include <cstring>
#include <new>

namespace tandem {

using kernels::kTile;

KvScratch::KvScratch(const KvLayout& layout, int rows)
    : layout_(layout), rows_(rows), data_(layout.tokenBytes() * static_cast<std::size_t>(rows)) {}

void KvSequence::truncate(int length) {
  assert(length >= 0 && length <= length_);
  length_ = length;
  pages_.resize((length + kTile - 1) / kTile);
}

Result<KvSequence::Page> KvSequence::newPage() const {
  auto* memory = new (std::nothrow) std::byte[layout_.pageBytes()];
  if (!memory) {
    return Error{ErrorCode::kOutOfMemory, "there is not enough memory to make the conversation any longer (" +
                                              std::to_string(length_) + " tokens are held)"};
  }
  return Page(memory);
}

// Makes room for `positions` more rows: new pages at the end, and an own copy of a shared last page.
Status KvSequence::makeWritable(int positions) {
  const std::size_t needed = static_cast<std::size_t>((length_ + positions + kTile - 1) / kTile);
  const std::size_t before = pages_.size();
  if (length_ % kTile != 0 && pages_.back().use_count() > 1) {
    auto copy = newPage();
    if (!copy.ok()) return copy.error();
    std::memcpy(copy->get(), pages_.back().get(), layout_.pageBytes());
    pages_.back() = std::move(*copy);
  }
  while (pages_.size() < needed) {
    auto page = newPage();
    if (!page.ok()) {
      pages_.resize(before);
      return page.error();
    }
    pages_.push_back(std::move(*page));
  }
  return {};
}

Status KvSequence::commit(const KvScratch& scratch, std::span<const int> rows) {
  if (Status status = makeWritable(static_cast<int>(rows.size())); !status.ok()) return status;
  for (int layer = 0; layer < layout_.layers; ++layer) {
    for (const KvPart part : {KvPart::kKey, KvPart::kValue}) {
      for (int head = 0; head < layout_.kvHeads; ++head) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
          const int position = length_ + static_cast<int>(i);
          std::memcpy(pages_[position / kTile].get() + offset(layer, part, head, position % kTile),
                      scratch.row(layer, part, head, rows[i]), layout_.rowBytes(part));
        }
      }
    }
  }
  length_ += static_cast<int>(rows.size());
  return {};
}

bool KvSequence::sameBytes(const KvSequence& other) const {
  if (length_ != other.length_ || !(layout_ == other.layout_)) return false;
  for (int layer = 0; layer < layout_.layers; ++layer) {
    for (const KvPart part : {KvPart::kKey, KvPart::kValue}) {
      for (int head = 0; head < layout_.kvHeads; ++head) {
        for (int p = 0; p < length_; ++p) {
          if (std::memcmp(row(layer, part, head, p), other.row(layer, part, head, p),
                          layout_.rowBytes(part)) != 0) {
            return false;
          }
        }
      }
    }
  }
  return true;
}

}  // namespace tandem
