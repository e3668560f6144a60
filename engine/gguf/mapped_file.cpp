#include "engine/gguf/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "engine/gguf/text.h"

namespace tandem::gguf {
namespace {

// Closes the descriptor when the scope ends; a mapping outlives it.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

FileIdentity identityOf(const struct stat& info) {
  const auto nanoseconds = [](const timespec& t) {
    return std::int64_t{t.tv_sec} * 1'000'000'000 + std::int64_t{t.tv_nsec};
  };
  return {.device = info.st_dev,
          .inode = info.st_ino,
          .size = static_cast<std::uint64_t>(info.st_size),
          .modifiedNs = nanoseconds(info.st_mtim),
          .changedNs = nanoseconds(info.st_ctim)};
}

Error ioError(const std::string& path, int number) {
  const std::string reason = std::generic_category().message(number);
  if (number == ENOENT || number == ENOTDIR) {
    return {ErrorCode::kNotFound, "There is no file at " + shown(path) + "; check the path."};
  }
  return {ErrorCode::kIo, "The file " + shown(path) + " cannot be read: " + reason + "."};
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  // O_NONBLOCK: opening a pipe must fail the check below instead of waiting for a writer.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) return ioError(path, errno);
  struct stat info = {};
  if (::fstat(file.fd, &info) != 0) return ioError(path, errno);
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorCode::kIo, shown(path) + " is not a file but a " +
                                     (S_ISDIR(info.st_mode) ? "folder" : "device or pipe") +
                                     "; give the path of a model file."};
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size == 0) return MappedFile({}, identityOf(info));
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (address == MAP_FAILED) return ioError(path, errno);
  return MappedFile({static_cast<const std::byte*>(address), size}, identityOf(info));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::release(std::span<const std::byte> part) const {
  // A touch of one byte may map this much around it.
  constexpr std::uintptr_t kMapped = std::uintptr_t{2} << 20;
  const auto file = reinterpret_cast<std::uintptr_t>(bytes_.data());
  const auto begin = reinterpret_cast<std::uintptr_t>(part.data());
  const std::uintptr_t first = std::max(begin / kMapped * kMapped, file);
  const std::uintptr_t last = (begin + part.size() + kMapped - 1) / kMapped * kMapped;
  const std::uintptr_t end = std::min(last, file + bytes_.size());
  // Only advice: when the kernel declines, the pages simply stay.
  if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

}  // namespace tandem::gguf
