// The system calls by which the cache on disk changes files, so that tests can make any of them fail. Each
// gives 0, or the errno of what went wrong. Any thread may call.
#pragma once

#include <cstddef>
#include <string>

namespace tandem {

class FileOps {
 public:
  virtual ~FileOps() = default;
  // Makes a new file for its owner alone, locked, so that others see that it is being written.
  virtual int create(const std::string& path, int& descriptor);
  virtual int write(int descriptor, const void* data, std::size_t size);  // all of it
  virtual int sync(int descriptor);
  virtual int rename(const std::string& from, const std::string& to);
  virtual int remove(const std::string& path);
  virtual int syncFolder(const std::string& path);  // so that new names in it last

  static FileOps& system();
};

}  // namespace tandem
