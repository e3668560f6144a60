// The list of the files of the cache on disk, as the engine asks for it; storage/ keeps it in SQLite. One
// thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/cache/text_file.h"

namespace tandem {

// A file. What is said of its contents is a hint: the file itself is asked before it is used.
struct TextRow {
  std::int64_t id = 0;  // given by add()
  std::string file;     // its name in the folder
  std::string model;    // TextFileKey::name()
  TextFileKind kind = TextFileKind::kPages;
  std::uint32_t tier = 0;            // of a mark
  bool logits = false;               // of a mark
  int start = 0, end = 0;            // as TextFileHead
  Hash128 parent = {};               // of the model and the tokens before `start`
  std::vector<TokenId> tokens = {};  // from start to end
  std::uint64_t bytes = 0;           // of the file
  std::int64_t conversation = 0;     // that it was last used for
  std::int64_t usedUs = 0;           // when, microseconds since 1970
  std::int64_t hits = 0;             // times it was restored
};

// A file was used.
struct TextUse {
  std::int64_t id = 0, conversation = 0, usedUs = 0;
  bool restored = false;
};

class TextIndex {
 public:
  virtual ~TextIndex() = default;
  // All rows, of all models. Errors of all functions: kIo, with a sentence.
  virtual Result<std::vector<TextRow>> rows() = 0;
  virtual Result<std::int64_t> add(const TextRow& row) = 0;
  virtual Status remove(std::span<const std::int64_t> ids) = 0;
  virtual Status use(std::span<const TextUse> uses) = 0;
  // False when the index was deleted or replaced while it was open.
  virtual bool isCurrent() const = 0;
};

// Opens the index of a folder, and makes it where there is none or it cannot be read. Errors: kIo.
using OpenTextIndex = std::function<Result<std::unique_ptr<TextIndex>>(const std::string& folder)>;

}  // namespace tandem
