#include "engine/gguf/foreign_format.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "engine/gguf/text.h"

namespace tandem::gguf {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kSniffedBytes = 1024;

struct Signature {
  std::string_view start;
  const char* sentence;
};

// Whole files of other formats, by their first bytes.
constexpr Signature kSignatures[] = {
    {"\x1f\x8b"sv, "This is a gzip archive, not a GGUF model; unpack it first."},
    {"PK\x03\x04"sv,
     "This is a zip archive (or a PyTorch checkpoint), not a GGUF model; unpack or convert it first."},
    {"\xfd"
     "7zXZ\0"sv,
     "This is an xz archive, not a GGUF model; unpack it first."},
    {"\x28\xb5\x2f\xfd"sv, "This is a Zstandard archive, not a GGUF model; unpack it first."},
    {"BZh"sv, "This is a bzip2 archive, not a GGUF model; unpack it first."},
    {"lmgg"sv,
     "This is a GGML file, which is older than GGUF; convert the model to GGUF or get a newer file."},
    {"fmgg"sv,
     "This is a GGMF file, which is older than GGUF; convert the model to GGUF or get a newer file."},
    {"tjgg"sv,
     "This is a GGJT file, which is older than GGUF; convert the model to GGUF or get a newer file."},
};

std::string lowerCased(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string_view withoutLeadingSpace(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf"sv)) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

Error formatError(ErrorCode code, std::string message) {
  return {code, std::move(message), "magic", 0};
}

// A pointer file holds a line "size 98362432": the bytes that the model itself has.
Error lfsPointer(std::string_view head, std::uint64_t found) {
  std::string needed;
  const std::size_t line = head.find("\nsize ");
  if (line != std::string_view::npos) {
    std::string_view digits = head.substr(line + 6);
    digits = digits.substr(0, std::min(digits.find_first_not_of("0123456789"), std::size_t{18}));
    if (!digits.empty()) needed = " of " + bytesText(std::stoull(std::string(digits)));
  }
  return formatError(ErrorCode::kCorruptFile,
                     "This is a Git LFS pointer of " + bytesText(found) + ", not the model" + needed +
                         " it stands for; run \"git lfs pull\" or download the model itself.");
}

Error notGguf(std::string_view head, std::uint64_t size) {
  if (head.starts_with("version https://git-lfs"sv)) return lfsPointer(head, size);
  for (const Signature& signature : kSignatures) {
    if (head.starts_with(signature.start)) return formatError(ErrorCode::kUnsupported, signature.sentence);
  }
  const std::string text = lowerCased(withoutLeadingSpace(head));
  if (text.starts_with("<!doctype"sv) || text.starts_with("<html"sv) || text.starts_with("<?xml"sv)) {
    return formatError(
        ErrorCode::kCorruptFile,
        "This is a web page of " + bytesText(size) +
            ", not a model: the server answered with a page instead of the file. Check the address "
            "(and whether it asks for a login), then download it again.");
  }
  if (head.size() > 8 && head.substr(8).starts_with("{\""sv)) {
    return formatError(
        ErrorCode::kUnsupported,
        "This looks like a safetensors file, not a GGUF model; convert the model to GGUF first.");
  }
  if (head.find_first_not_of('\0') == std::string_view::npos) {
    return formatError(
        ErrorCode::kCorruptFile,
        "This file of " + bytesText(size) +
            " starts with nothing but zero bytes: its space was reserved, but the download never "
            "wrote it. Download it again.");
  }
  std::string start;
  for (const char c : head.substr(0, 4)) {
    char hex[8];
    std::snprintf(hex, sizeof hex, " %02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    start += hex;
  }
  return formatError(ErrorCode::kUnsupported, "This is not a GGUF model: it starts with the bytes" + start +
                                                  " instead of 47 47 55 46 (\"GGUF\"). Choose a .gguf file.");
}

}  // namespace

Status checkFormat(std::span<const std::byte> file) {
  const std::string_view head(reinterpret_cast<const char*>(file.data()),
                              std::min(file.size(), kSniffedBytes));
  if (head.empty()) {
    return formatError(ErrorCode::kCorruptFile,
                       "The file is empty: its download never began. Download it again.");
  }
  constexpr std::string_view kMagic = "GGUF"sv;
  if (head.substr(0, 4) != kMagic.substr(0, head.size())) return notGguf(head, file.size());
  std::uint32_t version = 0;
  if (head.size() < 4 + sizeof version) {
    return Error{ErrorCode::kCorruptFile,
                 "The file ends after " + bytesText(file.size()) +
                     ", inside its first line: its download stopped at once. Download it again.",
                 "version", file.size()};
  }
  std::memcpy(&version, head.data() + 4, sizeof version);
  const auto refuse = [](ErrorCode code, const std::string& message) {
    return Error{code, message, "version", 4};
  };
  if (version == 2 || version == 3) return {};
  if (version == 1) {
    return refuse(
        ErrorCode::kUnsupported,
        "This is a GGUF file of the old version 1; this program reads versions 2 and 3. Convert the model "
        "again or get a newer file.");
  }
  if (version != 0 && (version & 0xFFFF) == 0) {
    return refuse(
        ErrorCode::kUnsupported,
        "This is a big-endian GGUF file, made for another kind of processor; get the little-endian file of "
        "this model.");
  }
  if (version == 0) {
    return refuse(ErrorCode::kCorruptFile,
                  "The file says GGUF version 0, which does not exist: it is damaged. "
                  "Download it again.");
  }
  return refuse(ErrorCode::kUnsupported,
                "This is a GGUF file of version " + grouped(version) +
                    "; this program reads versions 2 and 3. A newer program may read it.");
}

}  // namespace tandem::gguf
