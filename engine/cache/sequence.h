// What a model remembers of the tokens it has read: the keys and values of attention layers and the state of
// recurrent ones. Filled by Decoder::commit. A fork shares everything with its origin until one of the two is
// committed to.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "engine/cache/kv_cache.h"
#include "engine/cache/recurrent_state.h"

namespace tandem {

struct Sequence {
  KvSequence kv;
  RecurrentState recurrent;
  std::vector<float>
      hidden;  // (dim) of the last position, where the model predicts several tokens; else empty

  int length() const { return kv.length(); }  // committed positions
  Sequence fork() const { return *this; }
  // Whether both remember the same, byte for byte.
  bool sameBytes(const Sequence& other) const {
    return kv.sameBytes(other.kv) && std::ranges::equal(recurrent.bytes(), other.recurrent.bytes()) &&
           std::ranges::equal(std::as_bytes(std::span(hidden)), std::as_bytes(std::span(other.hidden)));
  }
};

}  // namespace tandem
