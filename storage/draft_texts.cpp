#include "storage/draft_texts.h"

#include <algorithm>
#include <array>

#include "storage/blobs.h"
#include "storage/disk.h"

namespace tandem::storage {
namespace {

constexpr int kGrid = 1024;                  // tokens of a part
constexpr int kBefore = 8, kAfter = 32;      // tokens of the neighbours that a part repeats
constexpr std::array kOrders = {6, 3};       // lengths of the suffixes that are looked up, longest first
constexpr std::int64_t kBytesPerToken = 48;  // four of the token, the rest of its two entries in the index
constexpr std::int64_t kBytesPerPart = 128;
constexpr int kPlacesLooked = 24;
constexpr std::size_t kTextsKept = 256;
constexpr std::chrono::seconds kTryAgain{5};

// 62 bits of FNV-1a over the last `order` tokens; the order is mixed in.
std::int64_t hashOf(std::span<const TokenId> end, int order) {
  std::uint64_t hash = 0xCBF29CE484222325u + static_cast<unsigned>(order);
  for (const TokenId token : end.last(static_cast<std::size_t>(order)))
    hash = (hash ^ static_cast<std::uint32_t>(token)) * 0x100000001B3u;
  return static_cast<std::int64_t>(hash >> 2);
}

std::string blobOf(std::span<const TokenId> tokens) {
  return intsBlob(std::vector<TokenId>(tokens.begin(), tokens.end()));
}

// Runs `sql` for every indexed place of a part. The first kBefore tokens of a later part are the former's.
Status forPlaces(Database& db, const char* sql, std::int64_t text, std::int64_t part,
                 std::span<const TokenId> tokens) {
  const int first = part == 0 ? 0 : kBefore;
  const int last = std::min<int>(static_cast<int>(tokens.size()), first + kGrid);
  for (int place = first; place < last; ++place) {
    for (const int order : kOrders) {
      if (place < order) continue;
      Statement s = db.prepare(sql);
      s.bind(hashOf(tokens.first(static_cast<std::size_t>(place)), order))
          .bind(text)
          .bind(std::int64_t{place});
      if (const Status status = s.run(); !status) return status;
    }
  }
  return {};
}

Status removePart(Database& db, std::int64_t id) {
  std::int64_t part = 0;
  std::vector<TokenId> tokens;
  {
    Statement s = db.prepare("SELECT part, tokens FROM draft_texts WHERE id = ?");
    s.bind(id);
    if (!s.row()) return s.status();
    part = s.integer(0);
    appendInts(s.bytes(1), tokens);
  }
  const Status status =
      forPlaces(db, "DELETE FROM draft_places WHERE hash = ? AND text = ? AND place = ?", id, part, tokens);
  if (!status) return status;
  Statement s = db.prepare("DELETE FROM draft_texts WHERE id = ?");
  return s.bind(id).run();
}

Status removeAll(Database& db, Statement& ids) {
  std::vector<std::int64_t> found;
  while (ids.row())
    found.push_back(ids.integer(0));
  if (!ids.status()) return ids.status();
  for (const std::int64_t id : found) {
    if (const Status status = removePart(db, id); !status) return status;
  }
  return {};
}

// Adds a part unless it is there; one that this one goes on from is removed.
Status addPart(Database& db, ConversationId conversation, const std::string& vocabulary, std::int64_t part,
               std::span<const TokenId> tokens) {
  const std::string blob = blobOf(tokens);
  std::vector<std::int64_t> replaced;
  {
    Statement s = db.prepare(
        "SELECT id, tokens FROM draft_texts WHERE conversation = ? AND vocabulary = ? AND part = ?");
    s.bind(conversation).bindText(vocabulary).bind(part);
    while (s.row()) {
      const std::string known = s.bytes(1);
      if (known.starts_with(blob)) return {};
      if (blob.starts_with(known)) replaced.push_back(s.integer(0));
    }
    if (!s.status()) return s.status();
  }
  for (const std::int64_t id : replaced) {
    if (const Status status = removePart(db, id); !status) return status;
  }
  const auto bytes = kBytesPerPart + kBytesPerToken * static_cast<std::int64_t>(tokens.size());
  {
    Statement s = db.prepare(
        "INSERT INTO draft_texts (conversation, vocabulary, part, tokens, bytes) VALUES (?, ?, ?, ?, ?)");
    s.bind(conversation).bindText(vocabulary).bind(part).bindBlob(blob).bind(bytes);
    if (const Status status = s.run(); !status) return status;
  }
  return forPlaces(db, "INSERT INTO draft_places (hash, text, place) VALUES (?, ?, ?)", db.lastInsertId(),
                   part, tokens);
}

}  // namespace

Result<std::int64_t> draftTextBytes(Database& db) {
  return db.integer("SELECT coalesce(sum(bytes), 0) FROM draft_texts");
}

Status addDraftText(Database& db, ConversationId conversation, const std::string& vocabulary,
                    std::span<const TokenId> text, std::int64_t mostBytes) {
  for (std::size_t begin = 0; begin < text.size(); begin += kGrid) {
    const std::size_t from = begin == 0 ? 0 : begin - kBefore;
    const std::size_t to = std::min(text.size(), begin + kGrid + kAfter);
    const auto part = static_cast<std::int64_t>(begin / kGrid);
    const Status status = addPart(db, conversation, vocabulary, part, text.subspan(from, to - from));
    if (!status) return status;
  }
  Result<std::int64_t> bytes = draftTextBytes(db);
  while (bytes && *bytes > mostBytes) {
    const Result<std::int64_t> oldest = db.integer("SELECT min(id) FROM draft_texts");
    if (!oldest) return oldest.error();
    if (const Status status = removePart(db, *oldest); !status) return status;
    bytes = draftTextBytes(db);
  }
  return bytes.status();
}

Status removeDraftTexts(Database& db, ConversationId conversation) {
  Statement s = db.prepare("SELECT id FROM draft_texts WHERE conversation = ?");
  s.bind(conversation);
  return removeAll(db, s);
}

Status sweepDraftTexts(Database& db) {
  Statement s =
      db.prepare("SELECT id FROM draft_texts WHERE conversation NOT IN (SELECT id FROM conversations)");
  return removeAll(db, s);
}

bool DraftTexts::open() {
  if (db_) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now < nextTry_) return false;
  nextTry_ = now + kTryAgain;
  auto opened = openForReading(path_, {});
  if (!opened) return false;
  db_ = std::move(*opened);
  return true;
}

std::vector<Continuation> DraftTexts::find(std::span<const TokenId> context, int length, int most) {
  if (!open()) return {};
  db_->clearFailure();
  std::vector<Continuation> found = search(context, length, most);
  if (db_->failure() == SQLITE_OK) return found;
  db_.reset();
  kept_.clear();
  return {};
}

std::vector<Continuation> DraftTexts::search(std::span<const TokenId> context, int length, int most) {
  struct Place {
    std::int64_t text;
    std::size_t at;
    int match;
  };
  std::vector<Place> places;
  for (const int order : kOrders) {
    if (static_cast<int>(context.size()) < order) continue;
    Statement s = db_->prepare(
        "SELECT text, place FROM draft_places WHERE hash = ? ORDER BY text DESC, place DESC LIMIT ?");
    s.bind(hashOf(context, order)).bind(std::int64_t{kPlacesLooked});
    std::vector<std::pair<std::int64_t, std::size_t>> rows;
    while (s.row())
      rows.emplace_back(s.integer(0), static_cast<std::size_t>(s.integer(1)));
    for (const auto& [id, at] : rows) {
      const bool known = std::any_of(places.begin(), places.end(), [id = id, at = at](const Place& place) {
        return place.text == id && place.at == at;
      });
      if (known) continue;
      const Tokens& text = textOf(id);
      if (at >= text.size()) continue;
      int match = 0;
      const std::size_t bound = std::min({at, context.size(), static_cast<std::size_t>(kMatchMost)});
      while (match < static_cast<int>(bound) && text[at - 1 - match] == context[context.size() - 1 - match])
        ++match;
      if (match >= order) places.push_back({id, at, match});
    }
    if (static_cast<int>(places.size()) >= most) break;
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.match > b.match; });
  std::vector<Continuation> found;
  for (const Place& place : places) {
    if (static_cast<int>(found.size()) == most) break;
    const Tokens& text = textOf(place.text);
    const std::size_t end = std::min(text.size(), place.at + static_cast<std::size_t>(length));
    found.push_back({Tokens(text.begin() + static_cast<std::ptrdiff_t>(place.at),
                            text.begin() + static_cast<std::ptrdiff_t>(end)),
                     place.match});
  }
  return found;
}

const DraftTexts::Tokens& DraftTexts::textOf(std::int64_t id) {
  if (const auto kept = kept_.find(id); kept != kept_.end()) return kept->second;
  // A search asks for fewer texts than are kept, so what it has asked for stays while it runs.
  if (kept_.size() >= kTextsKept) kept_.clear();
  Tokens tokens;
  Statement s = db_->prepare("SELECT tokens FROM draft_texts WHERE id = ? AND vocabulary = ?");
  s.bind(id).bindText(vocabulary_);
  if (s.row()) appendInts(s.bytes(0), tokens);
  return kept_.emplace(id, std::move(tokens)).first->second;
}

}  // namespace tandem::storage
