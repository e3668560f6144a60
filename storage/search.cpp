// Reader::search: the trigram index for words of three characters and more, LIKE for shorter ones.
#include <algorithm>
#include <string>
#include <vector>

#include "storage/reader.h"
#include "storage/search_text.h"

namespace tandem::storage {

namespace {

// A query is searched for by its first words; more would only make the statement long.
constexpr int kMaxWords = 16;

struct Words {
  std::string match;               // the long words as an FTS5 expression: each a phrase, all wanted
  std::vector<std::string> likes;  // the short ones as LIKE patterns
  std::string firstShort;
};

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string quoted(const std::string& word) {
  std::string phrase = "\"";
  for (const char c : word)
    phrase += c == '"' ? std::string("\"\"") : std::string(1, c);
  return phrase + "\"";
}

std::string likePattern(const std::string& word) {
  std::string pattern = "%";
  for (const char c : word) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern + "%";
}

Words wordsOf(const std::string& query) {
  const std::string text = searchText(query);
  constexpr const char* kSpace = " \t\r\n";
  Words words;
  std::size_t at = text.find_first_not_of(kSpace);
  for (int count = 0; count < kMaxWords && at != std::string::npos; ++count) {
    const std::size_t end = std::min(text.find_first_of(kSpace, at), text.size());
    const std::string word = text.substr(at, end - at);
    if (characters(word) >= 3) {
      words.match += (words.match.empty() ? "" : " AND ") + quoted(word);
    } else {
      words.likes.push_back(likePattern(word));
      if (words.firstShort.empty()) words.firstShort = word;
    }
    at = text.find_first_not_of(kSpace, end);
  }
  return words;
}

// Text around the hit in the row: FTS5's own snippet, or for short words the surroundings of the first one.
std::string snippetOf(Database& db, std::int64_t row, const Words& words) {
  if (!words.match.empty()) {
    Statement s = db.prepare(
        "SELECT snippet(search, 0, '', '', '…', 60) FROM search WHERE search MATCH ? AND rowid = ?");
    s.bindText(words.match).bind(row);
    return s.row() ? s.bytes(0) : std::string();
  }
  Statement s = db.prepare(
      "SELECT CASE WHEN at > 24 THEN '…' ELSE '' END || substr(body, max(1, at - 20), 60) || "
      "CASE WHEN length(body) > max(1, at - 20) + 60 THEN '…' ELSE '' END "
      "FROM (SELECT body, instr(lower(body), lower(?)) AS at FROM search WHERE rowid = ?)");
  s.bindText(words.firstShort).bind(row);
  return s.row() ? s.bytes(0) : std::string();
}

}  // namespace

Result<std::vector<SearchHit>> Reader::search(const std::string& query, int limit) {
  const Words words = wordsOf(query);
  if (words.match.empty() && words.likes.empty()) return std::vector<SearchHit>();

  std::string sql =
      "SELECT s.rowid, c.id, c.title, c.updated_ms FROM search s LEFT JOIN messages m ON m.id = s.rowid "
      "JOIN conversations c ON c.id = coalesce(m.conversation, -s.rowid) WHERE c.deleted_ms IS NULL ";
  if (!words.match.empty()) sql += "AND s.body MATCH ? ";
  for (std::size_t i = 0; i < words.likes.size(); ++i)
    sql += "AND s.body LIKE ? ESCAPE '\\' ";
  sql += "ORDER BY c.updated_ms DESC, c.id DESC, s.rowid > 0, s.rowid DESC LIMIT ?";

  std::vector<SearchHit> hits;
  std::vector<std::int64_t> rows;
  {
    Statement s = db_.prepare(sql);
    if (!words.match.empty()) s.bindText(words.match);
    for (const std::string& like : words.likes)
      s.bindText(like);
    s.bind(std::int64_t{limit});
    while (s.row()) {
      SearchHit hit;
      rows.push_back(s.integer(0));
      hit.message = std::max<std::int64_t>(s.integer(0), 0);
      hit.conversation = s.integer(1);
      hit.title = s.bytes(2);
      hit.updatedMs = s.integer(3);
      hits.push_back(std::move(hit));
    }
    if (!s.status()) return s.status().error();
  }
  for (std::size_t i = 0; i < hits.size(); ++i)
    hits[i].snippet = snippetOf(db_, rows[i], words);
  return hits;
}

}  // namespace tandem::storage
