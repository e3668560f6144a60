// The bytes of a file of interleaved weights: a header, the hashes of the data's blocks, the data at a page's
// boundary. Numbers are little endian. docs/model-loading.md describes it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/thread_pool.h"
#include "engine/gguf/mapped_file.h"
#include "engine/model/weight_cache.h"

namespace tandem::weight_file {

inline constexpr std::uint64_t kPage = 4096;
inline constexpr std::uint64_t kBlock = std::uint64_t{1} << 20;  // bytes of data that one hash covers

// The model file that the weights are known to belong to. Written anew, in place, when the same contents are
// met in another file, so it has a hash of its own: when it is torn, the model file is hashed again.
struct Source {
  gguf::FileIdentity file;
  std::uint64_t hash = 0;
};

struct Header {
  std::array<char, 8> magic = {};
  std::uint32_t formatVersion = 0;
  std::uint32_t packingVersion = 0;
  std::array<char, 32> fingerprint = {};
  std::array<std::uint64_t, 2> layout = {};
  std::uint64_t dataBytes = 0;
  std::uint64_t tableHash = 0;  // of the hashes of the blocks
  std::uint64_t hash = 0;       // of all above
  Source source;
};
static_assert(sizeof(Header) == 136);

constexpr std::uint64_t blocksOf(std::uint64_t dataBytes) {
  return (dataBytes + kBlock - 1) / kBlock;
}
// Where the data begin.
constexpr std::uint64_t dataOffset(std::uint64_t dataBytes) {
  return (sizeof(Header) + blocksOf(dataBytes) * sizeof(std::uint64_t) + kPage - 1) / kPage * kPage;
}

// The header for weights whose blocks have these hashes; its source is unknown.
Header makeHeader(const WeightKey& key, std::span<const std::uint64_t> table);

// Whether it is a whole header, of whatever model and version.
bool isWhole(const Header& header);
// Whether it is the header of these weights, as this program packs them. REQUIRES: isWhole(header)
bool matches(const Header& header, const WeightKey& key);

// What to write as header.source. A file that was changed within the last two seconds stays unknown, because
// a further change could go unseen.
Source sourceOf(const Header& header, const gguf::FileIdentity& file);
bool isFrom(const Header& header, const gguf::FileIdentity& file);

std::uint64_t hashOfTable(std::span<const std::uint64_t> table);

// The header at the beginning of a file, when it is whole.
std::optional<Header> readHeader(int descriptor);
// The hashes of the blocks, when they are those that the header was written with.
std::optional<std::vector<std::uint64_t>> readTable(int descriptor, const Header& header);

// The hash of block `index` of the data.
std::uint64_t hashOfBlock(std::span<const std::uint8_t> data, std::uint64_t index);

}  // namespace tandem::weight_file
