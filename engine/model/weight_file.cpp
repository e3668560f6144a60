#include "engine/model/weight_file.h"

#include <unistd.h>
#include <xxhash.h>

#include <chrono>
#include <cstring>
#include <string_view>

#include "engine/kernels/packed_matrix.h"

namespace tandem::weight_file {
namespace {

constexpr std::array<char, 8> kMagic = {'T', 'A', 'N', 'D', 'E', 'M', 'W', '\n'};
constexpr std::uint32_t kFormatVersion = 1;
constexpr std::int64_t kSettledNs = 2'000'000'000;

std::uint64_t hashOfHeader(const Header& header) {
  return XXH3_64bits(&header, offsetof(Header, hash));
}

// Bound to the header, so that it cannot be taken for that of another file.
std::uint64_t hashOfSource(const Header& header, const gguf::FileIdentity& file) {
  return XXH3_64bits_withSeed(&file, sizeof file, header.hash);
}

bool readAll(int descriptor, void* out, std::size_t size, std::uint64_t offset) {
  auto* bytes = static_cast<std::uint8_t*>(out);
  while (size > 0) {
    const ssize_t got = ::pread(descriptor, bytes, size, static_cast<off_t>(offset));
    if (got <= 0) return false;
    bytes += got;
    size -= static_cast<std::size_t>(got);
    offset += static_cast<std::uint64_t>(got);
  }
  return true;
}

}  // namespace

Header makeHeader(const WeightKey& key, std::span<const std::uint64_t> table) {
  Header header;
  header.magic = kMagic;
  header.formatVersion = kFormatVersion;
  header.packingVersion = kernels::kPackingVersion;
  std::copy_n(key.fingerprint.begin(), std::min(key.fingerprint.size(), header.fingerprint.size()),
              header.fingerprint.begin());
  header.layout = key.layout.key;
  header.dataBytes = key.layout.bytes;
  header.tableHash = hashOfTable(table);
  header.hash = hashOfHeader(header);
  return header;
}

bool isWhole(const Header& header) {
  return header.magic == kMagic && header.formatVersion == kFormatVersion &&
         header.hash == hashOfHeader(header);
}

bool matches(const Header& header, const WeightKey& key) {
  return header.packingVersion == kernels::kPackingVersion && header.layout == key.layout.key &&
         header.dataBytes == key.layout.bytes &&
         std::string_view(header.fingerprint.data(), header.fingerprint.size()) == key.fingerprint;
}

Source sourceOf(const Header& header, const gguf::FileIdentity& file) {
  using namespace std::chrono;
  const std::int64_t now = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
  if (now - std::max(file.modifiedNs, file.changedNs) < kSettledNs) return {};
  return {file, hashOfSource(header, file)};
}

bool isFrom(const Header& header, const gguf::FileIdentity& file) {
  return header.source.file == file && header.source.hash == hashOfSource(header, file);
}

std::uint64_t hashOfTable(std::span<const std::uint64_t> table) {
  return XXH3_64bits(table.data(), table.size_bytes());
}

std::optional<Header> readHeader(int descriptor) {
  Header header;
  if (!readAll(descriptor, &header, sizeof header, 0) || !isWhole(header)) return std::nullopt;
  return header;
}

std::optional<std::vector<std::uint64_t>> readTable(int descriptor, const Header& header) {
  std::vector<std::uint64_t> table(blocksOf(header.dataBytes));
  if (!readAll(descriptor, table.data(), table.size() * sizeof table[0], sizeof header)) return std::nullopt;
  if (hashOfTable(table) != header.tableHash) return std::nullopt;
  return table;
}

std::uint64_t hashOfBlock(std::span<const std::uint8_t> data, std::uint64_t index) {
  const std::uint64_t begin = index * kBlock;
  return XXH3_64bits(data.data() + begin, std::min(kBlock, data.size() - begin));
}

}  // namespace tandem::weight_file
