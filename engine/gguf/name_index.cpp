#include "engine/gguf/name_index.h"

#include <array>
#include <bit>
#include <cstring>
#include <random>

namespace tandem::gguf {
namespace {

struct SipState {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }

  void absorb(std::uint64_t word) {
    v3 ^= word;
    round();
    v0 ^= word;
  }
};

std::array<std::uint64_t, 2> processKey() {
  std::random_device device;
  const auto word = [&device] { return (std::uint64_t{device()} << 32) | device(); };
  return {word(), word()};
}

}  // namespace

std::uint64_t sipHash13(std::string_view text, std::uint64_t key0, std::uint64_t key1) {
  SipState state{key0 ^ 0x736F6D6570736575, key1 ^ 0x646F72616E646F6D, key0 ^ 0x6C7967656E657261,
                 key1 ^ 0x7465646279746573};
  std::size_t i = 0;
  for (; text.size() - i >= 8; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    state.absorb(word);
  }
  std::uint64_t last = std::uint64_t{text.size()} << 56;
  for (std::size_t shift = 0; i < text.size(); ++i, shift += 8) {
    last |= std::uint64_t{static_cast<unsigned char>(text[i])} << shift;
  }
  state.absorb(last);
  state.v2 ^= 0xFF;
  for (int k = 0; k < 3; ++k)
    state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

std::optional<std::uint32_t> NameIndex::find(std::string_view name) const {
  const auto found = positions_.find(name);
  if (found == positions_.end()) return std::nullopt;
  return found->second;
}

std::size_t NameIndex::Hash::operator()(std::string_view name) const {
  static const std::array<std::uint64_t, 2> key = processKey();
  return sipHash13(name, key[0], key[1]);
}

}  // namespace tandem::gguf
