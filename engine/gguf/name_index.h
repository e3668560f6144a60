// Name to position in O(1), for metadata keys and tensor names that come from a file.
//
// The hash is SipHash-1-3 under a key drawn once per process, so that a file cannot be made whose names all
// collide and which would then take minutes to open. Built by one thread; afterwards any thread may look up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace tandem::gguf {

// J.-P. Aumasson, D. J. Bernstein: "SipHash: a fast short-input PRF" (2012), with 1 and 3 rounds.
std::uint64_t sipHash13(std::string_view text, std::uint64_t key0, std::uint64_t key1);

class NameIndex {
 public:
  // What one name costs in memory at most, in bytes (node, bucket, allocator overhead).
  static constexpr std::uint64_t kBytesPerName = 64;

  void reserve(std::size_t count) { positions_.reserve(count); }
  // False when the name is there already. The text of `name` must outlive the index.
  bool insert(std::string_view name, std::uint32_t position) {
    return positions_.emplace(name, position).second;
  }
  std::optional<std::uint32_t> find(std::string_view name) const;

 private:
  struct Hash {
    std::size_t operator()(std::string_view name) const;
  };
  std::unordered_map<std::string_view, std::uint32_t, Hash> positions_;
};

}  // namespace tandem::gguf
