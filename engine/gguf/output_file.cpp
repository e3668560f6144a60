#include "engine/gguf/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "engine/gguf/text.h"

namespace tandem::gguf {

Result<OutputFile> OutputFile::create(const std::string& path) {
  OutputFile file(path, -1);
  file.fd_ = ::open(file.partialPath().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file.fd_ < 0) return file.failure(errno);
  return file;
}

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(partialPath().c_str());
}

Status OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failure(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    position_ += static_cast<std::uint64_t>(written);
  }
  return {};
}

Status OutputFile::commit() {
  if (::fsync(fd_) != 0) return failure(errno);
  if (::rename(partialPath().c_str(), path_.c_str()) != 0) return failure(errno);
  ::close(std::exchange(fd_, -1));
  return {};
}

Error OutputFile::failure(int number) const {
  const std::string reason = number == ENOSPC ? "the disk is full; free some space and try again"
                                              : std::generic_category().message(number);
  return {ErrorCode::kIo, "The file " + shown(path_) + " cannot be written: " + reason + "."};
}

}  // namespace tandem::gguf
