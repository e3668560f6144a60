// From the text of a vocabulary's piece to its id: an open-addressing hash table over texts that others own.
//
// The texts must outlive the index. Immutable once filled; then any thread may call find.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/tokenizer/token_id.h"

namespace tandem {

class PieceIndex {
 public:
  // Makes room for `count` pieces; insert may be called that many times.
  explicit PieceIndex(std::size_t count = 0);

  // Of two pieces with the same text the one inserted first is kept.
  void insert(std::string_view text, TokenId id);

  // kNoToken when there is none.
  TokenId find(std::string_view text) const;

 private:
  struct Slot {
    std::string_view text;
    TokenId id = kNoToken;
  };
  // The slot that holds `text`, or the empty one where it belongs.
  std::size_t slotOf(std::string_view text) const;

  std::vector<Slot> slots_;  // a power of two of them, at most half of them used
};

}  // namespace tandem
