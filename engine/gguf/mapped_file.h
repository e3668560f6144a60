// A regular file mapped read-only into memory. Owns the mapping; movable, not copyable; may be read by any
// thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "engine/base/status.h"

namespace tandem::gguf {

class MappedFile {
 public:
  // Errors: kNotFound, kIo. An empty file maps to an empty span.
  static Result<MappedFile> open(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  std::span<const std::byte> bytes() const { return bytes_; }

  // Gives back the pages that lie wholly inside `part`, a part of bytes(); they are read again when touched.
  void release(std::span<const std::byte> part) const;

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace tandem::gguf
