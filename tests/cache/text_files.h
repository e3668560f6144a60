// What the tests of the cache on disk share: sequences whose bytes follow from their tokens, so that a wrong
// one is seen without a model.
#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "engine/cache/prefix_cache.h"
#include "engine/cache/text_file.h"

namespace tandem::test {

inline constexpr KvLayout kSmallLayout{2, 1, 8, kernels::CacheType::kF16};  // 64 bytes a position
inline constexpr RecurrentLayout kSmallState{1, 8, 3, 2, 4};
inline constexpr const char* kFingerprint = "0123456789abcdef0123456789abcdef";

// splitmix64
inline std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// A text of `length` tokens that is another one for every number.
inline std::vector<TokenId> numberedText(std::uint64_t number, int length) {
  std::vector<TokenId> text(static_cast<std::size_t>(length));
  for (std::size_t i = 0; i < text.size(); ++i)
    text[i] = static_cast<TokenId>(mixed(number * 1000003 + i) % 50000);
  return text;
}

// Of all tokens up to each position, as what a model computes is.
inline std::vector<std::uint64_t> pasts(std::span<const TokenId> text) {
  std::vector<std::uint64_t> result;
  std::uint64_t past = 1;
  for (const TokenId token : text)
    result.push_back(past = mixed(past ^ static_cast<std::uint64_t>(token)));
  return result;
}

inline Sequence smallEmpty(bool stateful) {
  Sequence empty{KvSequence(kSmallLayout), {}, {}};
  if (stateful) {
    empty.recurrent = *RecurrentState::initial(kSmallState);
    empty.hidden.assign(5, 0.0f);
  }
  return empty;
}

// What a model of this shape would remember of the text.
inline Sequence sequenceFor(std::span<const TokenId> text, const KvLayout& layout = kSmallLayout) {
  const std::vector<std::uint64_t> past = pasts(text);
  std::vector<KvSequence::Page> pages;
  for (std::size_t position = 0; position < text.size(); ++position) {
    const int slot = static_cast<int>(position % kernels::kTile);
    if (slot == 0) pages.emplace_back(new std::byte[layout.pageBytes()]());
    for (int plane = 0; plane < layout.layers * layout.kvHeads * 2; ++plane) {
      const int head = plane % layout.kvHeads, ofLayer = plane / layout.kvHeads;
      const KvPart part = ofLayer % 2 == 0 ? KvPart::kKey : KvPart::kValue;
      std::byte* out = pages.back().get() + layout.offset(ofLayer / 2, part, head, slot, kernels::kTile);
      const std::size_t row = layout.rowBytes(part);
      for (std::size_t i = 0; i < row; i += sizeof(std::uint64_t)) {
        const std::uint64_t value = mixed(past[position] + static_cast<std::uint64_t>(plane) * 4096 + i);
        std::memcpy(out + i, &value, std::min(sizeof value, row - i));
      }
    }
  }
  return {KvSequence(layout, std::move(pages), static_cast<int>(text.size())), {}, {}};
}

// The mark behind all of the text.
inline CacheMark markFor(std::span<const TokenId> text, CacheTier tier, bool logits) {
  std::uint64_t past = pasts(text).back();
  const auto next = [&past] { return static_cast<float>(static_cast<std::int32_t>(past = mixed(past))); };
  CacheMark mark{tier, static_cast<int>(text.size()), *RecurrentState::initial(kSmallState), {}, {}};
  std::vector<float> state(kSmallState.bytes() / sizeof(float));
  std::ranges::generate(state, next);
  if (!mark.recurrent.restore(std::as_bytes(std::span(state)))) std::abort();
  for (int i = 0; i < 5; ++i)
    mark.hidden.push_back(next());
  if (!logits) return mark;
  std::vector<float> row(20);
  std::ranges::generate(row, next);
  mark.logits = std::make_shared<const std::vector<float>>(std::move(row));
  return mark;
}

inline std::string bytesOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void writeBytes(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::remove(path);  // a file that is cut and written again may be flushed to the disk
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace tandem::test
