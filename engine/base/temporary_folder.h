// A folder of its own below the system's for temporary files, gone with this object and all that is in it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace tandem {

struct TemporaryFolder {
  std::string path;  // empty when there can be none; TMPDIR names where

  // `name` begins its name.
  explicit TemporaryFolder(const std::string& name)
      : path((std::filesystem::temp_directory_path() / (name + "-XXXXXX")).string()) {
    if (!::mkdtemp(path.data())) path.clear();
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path.empty()) std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
};

}  // namespace tandem
