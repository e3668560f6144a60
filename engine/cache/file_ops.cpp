#include "engine/cache/file_ops.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace tandem {

int FileOps::create(const std::string& path, int& descriptor) {
  descriptor = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  if (descriptor < 0) return errno;
  ::flock(descriptor, LOCK_EX | LOCK_NB);
  return 0;
}

int FileOps::write(int descriptor, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  while (size > 0) {
    const ssize_t done = ::write(descriptor, bytes, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    if (done == 0) return ENOSPC;
    bytes += done;
    size -= static_cast<std::size_t>(done);
  }
  return 0;
}

int FileOps::sync(int descriptor) {
  return ::fdatasync(descriptor) == 0 ? 0 : errno;
}

int FileOps::rename(const std::string& from, const std::string& to) {
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

int FileOps::remove(const std::string& path) {
  return ::unlink(path.c_str()) == 0 ? 0 : errno;
}

int FileOps::syncFolder(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  const int code = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  return code;
}

FileOps& FileOps::system() {
  static FileOps ops;
  return ops;
}

}  // namespace tandem
