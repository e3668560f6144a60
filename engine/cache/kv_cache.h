// Keys and values of a sequence, in pages of kTile positions that forks share.
//
// A KvSequence is a list of pages and a length. fork() copies the list, so both sequences share every page; a
// page that is shared is copied before the first write to it. Rows that a forward pass computes wait in a
// KvScratch, rounded to the cache type already; attention reads them there, and commit() copies the rows of
// the accepted path. So a drafted row that was rejected, or a pass that was cancelled, leaves no trace.
// Threads: a sequence belongs to one thread at a time; pages may be shared between sequences of different
// threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/status.h"
#include "engine/kernels/arithmetic.h"
#include "engine/kernels/kernel_set.h"

namespace tandem {

enum class KvPart : int { kKey = 0, kValue = 1 };

// Shape of the cache of one model. A key and a value may have different sizes.
struct KvLayout {
  int layers = 0;
  int kvHeads = 0;
  int stride = 0;  // elements of one head's row: the head size rounded up to kLanes, the rest zero
  kernels::CacheType type = kernels::CacheType::kF16;

  std::size_t rowBytes(KvPart part) const {
    return kernels::rowBytes(part == KvPart::kKey ? keyRows(type) : valueRows(type), stride);
  }
  // Bytes of one position over all layers, keys and values.
  std::size_t tokenBytes() const {
    return kernels::pairBytes(type, stride) * static_cast<std::size_t>(layers) * kvHeads;
  }
  std::size_t pageBytes() const { return tokenBytes() * kernels::kTile; }
  // Where row `row` lies in (layer, part, kvHead, rows, stride).
  std::size_t offset(int layer, KvPart part, int head, int row, int rows) const {
    const std::size_t before = kernels::pairBytes(type, stride) * layer * kvHeads +
                               (part == KvPart::kValue ? rowBytes(KvPart::kKey) * kvHeads : 0);
    const std::size_t bytes = rowBytes(part);
    return (before + bytes * head) * rows + bytes * row;
  }
  bool operator==(const KvLayout&) const = default;
};

// (layer, part, kvHead, row, stride) for up to `rows` rows of a batch.
class KvScratch {
 public:
  KvScratch(const KvLayout& layout, int rows);
  std::byte* row(int layer, KvPart part, int head, int row) {
    return data_.data() + offset(layer, part, head, row);
  }
  const std::byte* row(int layer, KvPart part, int head, int row) const {
    return data_.data() + offset(layer, part, head, row);
  }
  int rows() const { return rows_; }

 private:
  std::size_t offset(int layer, KvPart part, int head, int row) const {
    return layout_.offset(layer, part, head, row, rows_);
  }
  KvLayout layout_;
  int rows_;
  std::vector<std::byte> data_;
};

class KvSequence {
 public:
  using Page = std::shared_ptr<std::byte[]>;  // (layer, part, kvHead, kTile, stride)

  explicit KvSequence(const KvLayout& layout) : layout_(layout) {}
  // A sequence of pages that others may hold too. REQUIRES: every position below `length` has its row in
  // them, and there are no more pages than that takes.
  KvSequence(const KvLayout& layout, std::vector<Page> pages, int length)
      : layout_(layout), pages_(std::move(pages)), length_(length) {}

  int length() const { return length_; }  // committed positions
  const KvLayout& layout() const { return layout_; }
  // Page i holds the positions from i * kTile on; whoever keeps one makes it shared, and so read-only.
  std::span<const Page> pages() const { return pages_; }

  // The row of a committed position. REQUIRES: position < length().
  const std::byte* row(int layer, KvPart part, int head, int position) const {
    return pages_[position / kernels::kTile].get() + offset(layer, part, head, position % kernels::kTile);
  }

  // A sequence with the same rows; pages are shared until one of the two writes.
  KvSequence fork() const { return *this; }
  // Forgets the positions from `length` on. REQUIRES: length <= this->length().
  void truncate(int length);

  // Appends the given rows of the scratch, in order. Error: kOutOfMemory, with the sequence unchanged.
  Status commit(const KvScratch& scratch, std::span<const int> rows);

  // Whether both hold the same number of rows with the same bytes.
  bool sameBytes(const KvSequence& other) const;

 private:
  std::size_t offset(int layer, KvPart part, int head, int slot) const {
    return layout_.offset(layer, part, head, slot, kernels::kTile);
  }
  Result<Page> newPage() const;
  Status makeWritable(int positions);

  KvLayout layout_;
  std::vector<Page> pages_;
  int length_ = 0;
};

}  // namespace tandem
