// Earlier texts for drafting (docs/storage.md, "Draft texts"): what the store keeps of them, and the lookup
// that the engine's store drafter asks. Text is kept as token ids of one vocabulary, cut on a grid, with an
// index of the 6 and of the 3 tokens before each place.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "engine/speculation/text_store.h"
#include "storage/records.h"
#include "storage/sqlite.h"

namespace tandem::storage {

inline constexpr std::int64_t kDraftTextsBytes = std::int64_t{192} << 20;

// Adds a conversation's text; parts that are there already are not written again, and a part that the text
// goes on from is replaced. The oldest parts are dropped until all take at most `mostBytes`. Inside a
// transaction, on the writer thread.
Status addDraftText(Database& db, ConversationId conversation, const std::string& vocabulary,
                    std::span<const TokenId> text, std::int64_t mostBytes = kDraftTextsBytes);
Status removeDraftTexts(Database& db, ConversationId conversation);
// Removes what belongs to no conversation any more.
Status sweepDraftTexts(Database& db);
Result<std::int64_t> draftTextBytes(Database& db);

// The lookup over one file and vocabulary, on a connection of its own that only reads. It sees what was
// committed before the call. A file that is not there, or cannot be read, holds nothing; it is tried again
// after some seconds. Used by one thread.
class DraftTexts : public TextStore {
 public:
  DraftTexts(std::string path, std::string vocabulary)
      : path_(std::move(path)), vocabulary_(std::move(vocabulary)) {}

  std::vector<Continuation> find(std::span<const TokenId> context, int length, int most) override;

 private:
  using Tokens = std::vector<TokenId>;

  bool open();
  std::vector<Continuation> search(std::span<const TokenId> context, int length, int most);
  const Tokens& textOf(std::int64_t id);

  const std::string path_, vocabulary_;
  std::unique_ptr<Database> db_;
  std::chrono::steady_clock::time_point nextTry_;
  std::unordered_map<std::int64_t, Tokens> kept_;  // texts that were read; empty: of another vocabulary
};

}  // namespace tandem::storage
