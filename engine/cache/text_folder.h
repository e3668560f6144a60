// The folder of the cache on disk: the files, their index, what goes when there is no room, what cannot be
// used and why. docs/cache-format.md tells the rules. One thread at a time, but for the catalogue.
//
// Errors are kIo with the errno in `offset`; whatever goes wrong, what was there before stays usable. After
// an error the index is opened anew.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/cache/file_ops.h"
#include "engine/cache/prefix_cache.h"
#include "engine/cache/text_catalogue.h"

namespace tandem {

struct TextFolderOptions {
  std::string path = {};                            // made when something is written
  std::uint64_t budget = std::uint64_t{4} << 30;    // bytes of all files; the least recently used goes first
  std::uint64_t freeDisk = std::uint64_t{1} << 30;  // bytes of the disk that stay free
  OpenTextIndex openIndex = {};
  FileOps* ops = nullptr;  // null: the system's
  DiskFaults faults = {};
};

// A text with what a model remembers of it.
struct KeptText {
  std::vector<TokenId> tokens;          // (length)
  std::vector<KvSequence::Page> pages;  // of all of them
  std::vector<CacheMark> marks;         // on its way; only where a state is needed
  std::int64_t conversation = 0;
};

// A file that could not be used, and is gone.
struct UnusableText {
  std::string file, reason;
  std::uint64_t bytes = 0;
};

class TextFolder {
 public:
  TextFolder(TextFolderOptions options, bool stateful);
  ~TextFolder();

  const TextFolderOptions& options() const { return options_; }
  const TextCatalogue& catalogue() const { return catalogue_; }
  std::string pathOf(const TextRow& row) const { return options_.path + "/" + row.file; }

  // Opens the index and reads it; does nothing while it is open and still the one in the folder.
  Status open();
  // Removes temporary files and whole ones that no index lists, rows without a file, and what cannot be used
  // by its head, or with `whole` by any of its bytes; tells what it was. Does nothing while another program
  // writes; with `whole` that is the error kBusy.
  Status sweep(bool whole, std::vector<UnusableText>& unusable);

  // Writes what is not there yet of a text of this key's model, as `pause` lets it (writeTextFile). Error
  // kBusy: another program sweeps; nothing was done.
  Status keep(const TextFileKey& key, const KvLayout& layout, const KeptText& text,
              const std::function<bool()>& pause);
  // Notes the use of rows.
  Status use(std::span<const TextUse> uses);
  Status remove(std::span<const std::int64_t> ids);
  Status removeConversation(std::int64_t conversation);
  Status removeAll();
  // Of all files from now on; what no longer fits goes.
  Status setBudget(std::uint64_t bytes);

 private:
  class Lock;
  struct Piece;

  Status write(const TextFileHead& head, const Hash128& parent,
               std::span<const std::span<const std::byte>> blocks, const std::function<bool()>& pause);
  Status keepPages(const TextFileKey& key, const KvLayout& layout, const KeptText& text, const Piece& piece,
                   const std::function<bool()>& pause);
  Status keepMark(const TextFileKey& key, const CacheMark& mark, const KeptText& text, const Piece& piece,
                  const std::function<bool()>& pause);
  Result<bool> makeRoom(std::uint64_t bytes);
  Status reload();
  FileOps& ops() const { return options_.ops ? *options_.ops : FileOps::system(); }

  TextFolderOptions options_;
  TextCatalogue catalogue_;
  std::unique_ptr<TextIndex> index_;
  std::vector<TextUse> uses_;  // of the text that is being kept
};

// Microseconds since 1970.
std::int64_t nowUs();

}  // namespace tandem
