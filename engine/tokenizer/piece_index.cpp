#include "engine/tokenizer/piece_index.h"

#include <bit>
#include <functional>

namespace tandem {

PieceIndex::PieceIndex(std::size_t count) : slots_(std::bit_ceil(2 * count + (count == 0))) {}

std::size_t PieceIndex::slotOf(std::string_view text) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = std::hash<std::string_view>()(text) & mask;
  while (slots_[slot].id != kNoToken && slots_[slot].text != text)
    slot = (slot + 1) & mask;
  return slot;
}

void PieceIndex::insert(std::string_view text, TokenId id) {
  Slot& slot = slots_[slotOf(text)];
  if (slot.id == kNoToken) slot = {text, id};
}

TokenId PieceIndex::find(std::string_view text) const {
  return slots_[slotOf(text)].id;
}

}  // namespace tandem
