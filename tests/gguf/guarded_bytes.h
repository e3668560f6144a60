// Memory that ends at a page nobody may touch: reading one byte past the content ends the test program.
#pragma once

#include <cstddef>
#include <span>

namespace tandem::test {

class GuardedBytes {
 public:
  explicit GuardedBytes(std::size_t capacity);
  ~GuardedBytes();
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  // False when the system gave no memory.
  bool ok() const { return pages_ != nullptr; }
  // Copies `content` so that its end is the end of the memory. REQUIRES: ok(), content.size() <= capacity
  std::span<const std::byte> hold(std::span<const std::byte> content);

 private:
  std::size_t capacity_;  // whole pages; the guard page follows them
  std::byte* pages_;
};

}  // namespace tandem::test
