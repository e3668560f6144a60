#include "tests/gguf/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace tandem::test {
namespace {

bool writeAll(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

MemoryFile::MemoryFile(std::string_view content, std::uint64_t size)
    : fd_(::memfd_create("gguf", MFD_CLOEXEC)) {
  const std::string_view kept = content.substr(0, std::min<std::uint64_t>(content.size(), size));
  ok_ = fd_ >= 0 && writeAll(fd_, kept) && ::ftruncate(fd_, static_cast<off_t>(size)) == 0;
}

MemoryFile::~MemoryFile() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace tandem::test
