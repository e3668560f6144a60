// A regular file mapped read-only into memory. Owns the mapping; movable, not copyable; may be read by any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "engine/base/status.h"

namespace tandem::gguf {

// Tells whether a file is still the one it was: the system sets the time of change whenever the contents, the
// name or the times themselves are changed.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0;
  std::uint64_t size = 0;       // bytes
  std::int64_t modifiedNs = 0;  // of the contents, since 1970
  std::int64_t changedNs = 0;   // of anything, since 1970
  bool operator==(const FileIdentity&) const = default;
};

class MappedFile {
 public:
  // Errors: kNotFound, kIo. An empty file maps to an empty span.
  static Result<MappedFile> open(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept
      : bytes_(std::exchange(other.bytes_, {})), identity_(other.identity_) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(identity_, other.identity_);
    return *this;
  }

  std::span<const std::byte> bytes() const { return bytes_; }
  const FileIdentity& identity() const { return identity_; }  // when it was opened

  // Gives back the pages that hold `part`, a part of bytes(), and those around it, until they are touched.
  void release(std::span<const std::byte> part) const;

 private:
  MappedFile(std::span<const std::byte> bytes, const FileIdentity& identity)
      : bytes_(bytes), identity_(identity) {}
  std::span<const std::byte> bytes_;
  FileIdentity identity_;
};

}  // namespace tandem::gguf
