// A file that appears under its name only when it is complete: written as "PATH.partial", then renamed. Owned
// by one thread; if it goes away without commit(), the partial file is removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "engine/base/status.h"

namespace tandem::gguf {

class OutputFile {
 public:
  // Errors of all functions: kIo, naming the file and the reason.
  static Result<OutputFile> create(const std::string& path);
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept
      : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), position_(other.position_) {}
  OutputFile& operator=(OutputFile&&) = delete;

  std::uint64_t position() const { return position_; }  // bytes written so far
  Status write(std::span<const std::byte> bytes);
  // Flushes to the disk and gives the file its name. Called once, last.
  Status commit();

 private:
  OutputFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  std::string partialPath() const { return path_ + ".partial"; }
  Error failure(int number) const;

  std::string path_;
  int fd_;
  std::uint64_t position_ = 0;
};

}  // namespace tandem::gguf
