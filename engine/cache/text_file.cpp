#include "engine/cache/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <bit>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

namespace tandem {

using kernels::kTile;

namespace {

static_assert(std::endian::native == std::endian::little, "the files are written as they lie in memory");

constexpr std::array<char, 8> kMagic = {'T', 'A', 'N', 'D', 'E', 'M', 'T', '\n'};
constexpr std::uint32_t kFormat = 1;
constexpr std::size_t kPart = std::size_t{1} << 20;  // bytes of a mark's block, and of one write
constexpr std::uint32_t kMostOfShape = 1 << 20;      // of any number of a key that is multiplied
constexpr std::uint64_t kMostPayload = std::uint64_t{1} << 40;

struct Fixed {
  std::array<char, 8> magic = kMagic;
  std::uint32_t format = kFormat;
  std::uint32_t kind = 0;
  TextFileKey key;
  std::uint64_t start = 0, end = 0;
  std::int64_t conversation = 0;
  std::uint64_t payloadBytes = 0, blockBytes = 0, blocks = 0;
  std::uint32_t tier = 0, logits = 0;
  std::uint64_t fileBytes = 0;
  Hash128 hash = {};  // of all before, the tokens and the table
};
static_assert(sizeof(Fixed) == 184 && offsetof(Fixed, hash) == 168);

Hash128 hashOfHead(const Fixed& fixed, std::span<const TokenId> tokens, std::span<const Hash128> table) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), XXH3_freeState);
  XXH3_128bits_reset(state.get());
  XXH3_128bits_update(state.get(), &fixed, offsetof(Fixed, hash));
  XXH3_128bits_update(state.get(), tokens.data(), tokens.size_bytes());
  XXH3_128bits_update(state.get(), table.data(), table.size_bytes());
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return {hash.low64, hash.high64};
}

KvLayout kvOf(const TextFileKey& key) {
  return {static_cast<int>(key.layers), static_cast<int>(key.kvHeads), static_cast<int>(key.stride),
          static_cast<kernels::CacheType>(key.cacheType)};
}

RecurrentLayout stateOf(const TextFileKey& key) {
  return {static_cast<int>(key.stateLayers), static_cast<int>(key.channels), static_cast<int>(key.tail),
          static_cast<int>(key.valueHeads), static_cast<int>(key.headDim)};
}

// Whether the sizes that follow from the key can be computed in 64 bits and make sense at all.
bool isPlausible(const TextFileKey& key) {
  for (const std::uint32_t number : {key.layers, key.kvHeads, key.stride, key.stateLayers, key.channels,
                                     key.tail, key.valueHeads, key.headDim, key.hidden, key.vocabulary}) {
    if (number > kMostOfShape) return false;
  }
  // No factor is above 2^40, and none after the first above 2^20.
  const auto within = [](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    return a * b <= kMostPayload && a * b * c <= kMostPayload;
  };
  const std::uint64_t planes = std::uint64_t{key.layers} * key.kvHeads;
  const std::uint64_t matrices = std::uint64_t{key.headDim} * key.headDim * key.valueHeads;
  return key.cacheType < std::size(kernels::kCacheTypes) && planes > 0 && key.stride > 0 &&
         planes <= kMostOfShape && within(planes, key.stride, 8 * kPiece) &&
         within(key.tail, key.channels, 4) &&
         within(std::uint64_t{key.tail} * key.channels, key.stateLayers, 4) && within(matrices, 4, 1) &&
         within(matrices, key.stateLayers, 4);
}

Status readAll(int descriptor, void* out, std::size_t size, std::uint64_t offset) {
  auto* bytes = static_cast<std::byte*>(out);
  while (size > 0) {
    const ssize_t got = ::pread(descriptor, bytes, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{ErrorCode::kIo, std::string("it cannot be read: ") + std::strerror(errno)};
    if (got == 0) return Error{ErrorCode::kCorruptFile, "it ends early"};
    bytes += got;
    size -= static_cast<std::size_t>(got);
    offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

// Where each head's `rows` rows, `bytes` bytes, lie among so many of each, and in a page.
template <class Head>
void forHeads(const KvLayout& layout, int rows, Head head) {
  for (int layer = 0; layer < layout.layers; ++layer) {
    for (const KvPart part : {KvPart::kKey, KvPart::kValue}) {
      for (int h = 0; h < layout.kvHeads; ++h) {
        head(layout.offset(layer, part, h, 0, rows), layout.offset(layer, part, h, 0, kTile),
             layout.rowBytes(part) * static_cast<std::size_t>(rows));
      }
    }
  }
}

Error ioError(const char* what, int code) {
  return {
      ErrorCode::kIo, std::string(what) + ": " + std::strerror(code), {}, static_cast<std::uint64_t>(code)};
}

}  // namespace

TextFileKey TextFileKey::of(const std::string& fingerprint, const Sequence& empty, int vocabulary) {
  const KvLayout& kv = empty.kv.layout();
  const RecurrentLayout& state = empty.recurrent.layout();
  const auto number = [](auto value) { return static_cast<std::uint32_t>(value); };
  TextFileKey key;
  std::copy_n(fingerprint.begin(), std::min(fingerprint.size(), key.fingerprint.size()),
              key.fingerprint.begin());
  key.arithmetic = kernels::kArithmeticVersion;
  key.cacheType = number(kv.type);
  key.layers = number(kv.layers), key.kvHeads = number(kv.kvHeads), key.stride = number(kv.stride);
  key.stateLayers = number(state.layers), key.channels = number(state.channels),
  key.tail = number(state.tail);
  key.valueHeads = number(state.valueHeads), key.headDim = number(state.headDim);
  key.hidden = number(empty.hidden.size());
  key.vocabulary = number(vocabulary);
  return key;
}

std::string TextFileKey::name() const {
  return hexadecimal(hashOf(this, sizeof *this));
}

std::size_t TextFileHead::payloadBytes() const {
  if (kind == TextFileKind::kPages) return kvOf(key).tokenBytes() * static_cast<std::size_t>(end - start);
  return stateOf(key).bytes() + (key.hidden + (logits ? key.vocabulary : 0)) * sizeof(float);
}

std::size_t TextFileHead::blockBytes() const {
  return kind == TextFileKind::kPages ? kvOf(key).pageBytes() : kPart;
}

std::uint64_t TextFileHead::fileBytes() const {
  return sizeof(Fixed) + tokens.size() * sizeof(TokenId) + blocks() * sizeof(Hash128) + payloadBytes();
}

Status writeTextFile(FileOps& ops, const std::string& folder, const std::string& name,
                     const TextFileHead& head, std::span<const std::span<const std::byte>> blocks,
                     const std::function<bool()>& pause) {
  assert(static_cast<int>(blocks.size()) == head.blocks() &&
         static_cast<int>(head.tokens.size()) == head.end);
  Fixed fixed;
  fixed.kind = static_cast<std::uint32_t>(head.kind);
  fixed.key = head.key;
  fixed.start = static_cast<std::uint64_t>(head.start);
  fixed.end = static_cast<std::uint64_t>(head.end);
  fixed.conversation = head.conversation;
  fixed.payloadBytes = head.payloadBytes();
  fixed.blockBytes = head.blockBytes();
  fixed.blocks = blocks.size();
  fixed.tier = head.tier;
  fixed.logits = head.logits;
  fixed.fileBytes = head.fileBytes();
  const Error stopped{ErrorCode::kCancelled, "the writing was stopped"};
  std::vector<Hash128> table;
  for (const auto block : blocks) {
    if (!pause()) return stopped;
    table.push_back(hashOf(block.data(), block.size()));
  }
  fixed.hash = hashOfHead(fixed, head.tokens, table);

  const std::string path = folder + "/" + name, temporary = path + kTemporaryText;
  int descriptor = -1;
  if (const int code = ops.create(temporary, descriptor)) return ioError("a file cannot be made", code);
  const auto write = [&](const void* data, std::size_t size) { return ops.write(descriptor, data, size); };
  int code = write(&fixed, sizeof fixed);
  if (code == 0) code = write(head.tokens.data(), head.tokens.size() * sizeof(TokenId));
  if (code == 0) code = write(table.data(), table.size() * sizeof table[0]);
  bool goesOn = true;
  for (const auto block : blocks) {
    for (std::size_t at = 0; at < block.size() && code == 0 && (goesOn = goesOn && pause()); at += kPart)
      code = write(block.data() + at, std::min(kPart, block.size() - at));
  }
  if (code == 0 && goesOn) code = ops.sync(descriptor);
  if (code == 0 && goesOn) code = ops.rename(temporary, path);
  const bool renamed = code == 0 && goesOn;
  if (renamed) code = ops.syncFolder(folder);
  ::close(descriptor);
  if (code == 0 && renamed) return {};
  ops.remove(renamed ? path : temporary);
  if (code == 0) return stopped;
  return ioError("a file cannot be written", code);
}

Result<TextFileReader> TextFileReader::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) {
    return Error{errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
                 std::string("it cannot be opened: ") + std::strerror(errno)};
  }
  TextFileReader reader(descriptor);
  if (const Status status = reader.readHead(); !status) return status.error();
  return reader;
}

TextFileReader::TextFileReader(TextFileReader&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      payload_(other.payload_),
      head_(std::move(other.head_)),
      table_(std::move(other.table_)) {}

TextFileReader::~TextFileReader() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

// Sizes are compared with the file's before anything of such a size is made.
Status TextFileReader::readHead() {
  const auto corrupt = [](const char* reason) { return Error{ErrorCode::kCorruptFile, reason}; };
  struct stat info = {};
  if (::fstat(descriptor_, &info) != 0 || !S_ISREG(info.st_mode)) return corrupt("it is no file");
  const auto size = static_cast<std::uint64_t>(info.st_size);
  Fixed fixed;
  if (size < sizeof fixed) return corrupt("it ends early");
  if (Status s = readAll(descriptor_, &fixed, sizeof fixed, 0); !s) return s;
  if (fixed.magic != kMagic) return corrupt("it is not a file of this cache, or its beginning is damaged");
  if (fixed.format != kFormat) {
    return Error{ErrorCode::kUnsupported, "it has another format (" + std::to_string(fixed.format) + ")"};
  }
  if (fixed.fileBytes > size) return corrupt("it ends early");
  if (fixed.fileBytes < size) return corrupt("it is longer than it says");
  if (fixed.end == 0 || fixed.end > static_cast<std::uint64_t>(kMostTokens) || fixed.start >= fixed.end ||
      fixed.blocks > kMostPayload / kPart || fixed.kind > 1 || fixed.logits > 1 || !isPlausible(fixed.key))
    return corrupt("its beginning is damaged");
  head_.key = fixed.key;
  head_.kind = static_cast<TextFileKind>(fixed.kind);
  head_.tier = fixed.tier;
  head_.start = static_cast<int>(fixed.start);
  head_.end = static_cast<int>(fixed.end);
  head_.conversation = fixed.conversation;
  head_.logits = fixed.logits == 1;
  const std::uint64_t tokenBytes = fixed.end * sizeof(TokenId);
  if (head_.start != pieceStart(head_.end) || head_.payloadBytes() != fixed.payloadBytes ||
      head_.blockBytes() != fixed.blockBytes || static_cast<std::uint64_t>(head_.blocks()) != fixed.blocks ||
      sizeof fixed + tokenBytes + fixed.blocks * sizeof(Hash128) + fixed.payloadBytes != size)
    return corrupt("its beginning is damaged");
  head_.tokens.resize(fixed.end);
  table_.resize(fixed.blocks);
  if (Status s = readAll(descriptor_, head_.tokens.data(), tokenBytes, sizeof fixed); !s) return s;
  const std::uint64_t table = sizeof fixed + tokenBytes;
  if (Status s = readAll(descriptor_, table_.data(), table_.size() * sizeof table_[0], table); !s) return s;
  if (hashOfHead(fixed, head_.tokens, table_) != fixed.hash) return corrupt("its beginning is damaged");
  payload_ = table + table_.size() * sizeof table_[0];
  return {};
}

std::string TextFileReader::foreign(const TextFileKey& key) const {
  const TextFileKey& own = head_.key;
  if (own.fingerprint != key.fingerprint) return "it is of another model";
  if (own.arithmetic != key.arithmetic) return "it was computed by another version of the arithmetic";
  if (own != key) return "it is of another profile, cache type or shape";
  return {};
}

Status TextFileReader::readBlock(int i, std::span<std::byte> out, bool check) const {
  assert(out.size() == head_.sizeOf(i));
  const std::uint64_t offset = payload_ + static_cast<std::uint64_t>(i) * head_.blockBytes();
  if (Status s = readAll(descriptor_, out.data(), out.size(), offset); !s) return s;
  if (!check || hashOf(out.data(), out.size()) == table_[i]) return {};
  return Error{ErrorCode::kCorruptFile, "its contents are damaged", {}, offset};
}

std::vector<std::byte> packedPage(const KvLayout& layout, const std::byte* page, int rows) {
  std::vector<std::byte> packed(layout.tokenBytes() * static_cast<std::size_t>(rows));
  forHeads(layout, rows, [&](std::size_t at, std::size_t inPage, std::size_t bytes) {
    std::memcpy(packed.data() + at, page + inPage, bytes);
  });
  return packed;
}

void unpackPage(const KvLayout& layout, std::span<const std::byte> packed, int rows, std::byte* page) {
  forHeads(layout, rows, [&](std::size_t at, std::size_t inPage, std::size_t bytes) {
    std::memcpy(page + inPage, packed.data() + at, bytes);
  });
}

}  // namespace tandem
