// Reads and checks the whole header of a GGUF file: metadata, tensor records, and that every tensor's data
// lies inside the file. Works on the bytes alone, so that tests can hand it any prefix of a file; File::open
// is its only other caller. What is checked and in which order: docs/gguf.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/gguf/cursor.h"
#include "engine/gguf/file.h"
#include "engine/gguf/name_index.h"

namespace tandem::gguf {

// Limits of the reader (docs/gguf.md).
constexpr std::uint64_t kMaxNameBytes = 65535;       // of a metadata key or tensor name
constexpr std::uint64_t kIndexBudget = 48ull << 20;  // bytes of memory for everything that is kept per record
constexpr std::uint32_t kMinAlignment = 8;           // the format asks for a multiple of 8
constexpr std::uint32_t kMaxAlignment = 1u << 24;
constexpr std::uint32_t kMaxArrayDepth = 4;  // arrays inside arrays

// What a good header says. The views point into the bytes that were parsed.
struct Contents {
  std::uint32_t version = 0;
  std::uint32_t alignment = kDefaultAlignment;
  std::vector<MetadataEntry> metadata;
  std::vector<TensorInfo> tensors;
  NameIndex keys;
  NameIndex tensorNames;
  std::uint64_t dataStart = 0;    // where the tensors' data begins in the file
  std::uint64_t packedBytes = 0;  // what the tensors take, each padded to the alignment, without gaps
  std::vector<std::uint64_t> offsetFields;  // where the file states each tensor's offset
};

// `file` is the whole file. Errors: kCorruptFile, kUnsupported, with field and offset.
Result<Contents> parse(std::span<const std::byte> file);

// The memory that a header may still take for its index. Charged before anything is reserved, so that a file
// made to look big is refused instead of served.
class IndexBudget {
 public:
  bool charge(std::uint64_t count, std::uint64_t bytesEach) {
    if (count > left_ / bytesEach) return false;
    left_ -= count * bytesEach;
    return true;
  }

 private:
  std::uint64_t left_ = kIndexBudget;
};

// The tensor records, and that their data lies side by side (tensor_table.cpp). `cursor` stands at the first
// record, contents holds the metadata already.
Status readTensorTable(Cursor& cursor, std::uint64_t tensorCount, IndexBudget& budget, Contents& contents);

// Whether a file of this size has all the data that its header speaks of. parse() has asked this already.
Status checkComplete(const Contents& contents, std::uint64_t fileSize);

// Reads a key or tensor name, called `what` in messages ("the key of metadata entry 3"). Refuses what is
// empty, too long or not UTF-8.
Status readName(Cursor& cursor, const std::string& what, std::string& name);

// `what` should take `needed` bytes from `offset` on, but only `left` are there.
Error endsEarly(const std::string& what, const std::string& field, std::uint64_t offset, std::uint64_t needed,
                std::uint64_t left);
// The index budget does not suffice for `what`.
Error tooLarge(const std::string& what, const std::string& field, std::uint64_t offset);
Error corrupt(const std::string& sentence, const std::string& field, std::uint64_t offset);

}  // namespace tandem::gguf
