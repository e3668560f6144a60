// A file that exists in memory only and goes away with this object; File::open can open its path like any
// other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tandem::test {

class MemoryFile {
 public:
  // Holds `content`, continued with zeros (which take no memory) or cut to `size` bytes.
  MemoryFile(std::string_view content, std::uint64_t size);
  explicit MemoryFile(std::string_view content) : MemoryFile(content, content.size()) {}
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // False when the system could not make the file.
  bool ok() const { return ok_; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
  bool ok_;
};

}  // namespace tandem::test
