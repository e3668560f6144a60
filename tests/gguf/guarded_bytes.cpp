#include "tests/gguf/guarded_bytes.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace tandem::test {
namespace {

std::size_t pageBytes() {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

GuardedBytes::GuardedBytes(std::size_t capacity)
    : capacity_((capacity + pageBytes() - 1) / pageBytes() * pageBytes()), pages_(nullptr) {
  void* memory = ::mmap(nullptr, capacity_ + pageBytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  if (::mprotect(memory, capacity_, PROT_READ | PROT_WRITE) == 0) pages_ = static_cast<std::byte*>(memory);
}

GuardedBytes::~GuardedBytes() {
  if (pages_ != nullptr) ::munmap(pages_, capacity_ + pageBytes());
}

std::span<const std::byte> GuardedBytes::hold(std::span<const std::byte> content) {
  std::byte* start = pages_ + capacity_ - content.size();
  if (!content.empty()) std::memcpy(start, content.data(), content.size());
  return {start, content.size()};
}

}  // namespace tandem::test
