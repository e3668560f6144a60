#include "ui/markdown/code_lexer.h"

#include <unordered_map>
#include <unordered_set>

#include "ui/markdown/code_languages.h"

namespace tandem::markdown {

namespace {

using Words = std::unordered_set<std::u16string_view>;

// States between lines: in the middle of a block comment, of a tag, or of the string with that index.
constexpr int kStart = 0;
constexpr int kInComment = 1;
constexpr int kInTag = 2;
constexpr int kFirstString = 3;

struct WordTables {
  Words keywords;
  Words types;
};

Words splitWords(std::u16string_view text) {
  Words words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(u' '), text.size());
    if (end > 0) words.insert(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

const WordTables& wordTables(const CodeLanguage& language) {
  static const auto tables = [] {
    std::unordered_map<const CodeLanguage*, WordTables> all;
    for (const CodeLanguage& one : codeLanguages()) {
      all[&one] = {splitWords(one.keywords), splitWords(one.types)};
    }
    return all;
  }();
  return tables.at(&language);
}

class Lexer {
 public:
  Lexer(const CodeLanguage& language, QStringView line, std::vector<CodeSpan>& spans)
      : language_(language),
        line_(line),
        text_(line.utf16(), static_cast<std::size_t>(line.size())),
        spans_(spans) {}

  int run(int state) {
    inTag_ = state == kInTag;
    if (state == kInComment && !finish(language_.blockComment, 0, 0, CodeToken::kComment)) return kInComment;
    if (state >= kFirstString) {
      const auto index = static_cast<std::size_t>(state - kFirstString);
      if (index < language_.strings.size() && !finish(language_.strings[index], 0, 0, CodeToken::kString)) {
        return state;
      }
    }
    while (at_ < text_.size()) {
      const int open = step();
      if (open != kStart) return open;
    }
    return inTag_ ? kInTag : kStart;
  }

 private:
  bool startsWith(std::u16string_view mark) const {
    return !mark.empty() && text_.substr(at_).starts_with(mark);
  }

  void add(std::size_t begin, std::size_t end, CodeToken token) {
    if (end > begin) spans_.push_back({static_cast<int>(begin), static_cast<int>(end - begin), token});
  }

  bool isWordPart(char16_t c) const {
    return c == u'_' || QChar(c).isLetterOrNumber() ||
           language_.wordCharacters.find(c) != std::u16string_view::npos;
  }

  // Scans from `from` to the closing mark of a quote that began at `begin`; false: the line ended before.
  bool finish(const CodeQuote& quote, std::size_t begin, std::size_t from, CodeToken token) {
    std::size_t i = from;
    while (i < text_.size()) {
      if (quote.escapes && text_[i] == u'\\') {
        i += 2;
      } else if (text_.substr(i).starts_with(quote.close)) {
        at_ = i + quote.close.size();
        add(begin, at_, token);
        return true;
      } else {
        ++i;
      }
    }
    at_ = text_.size();
    add(begin, at_, token);
    return false;
  }

  // Reads one thing at at_; returns the state the line ends in when it is not closed, else kStart.
  int step() {
    const char16_t c = text_[at_];
    if (startsWith(language_.blockComment.open)) {
      const std::size_t begin = at_;
      const std::size_t from = begin + language_.blockComment.open.size();
      return finish(language_.blockComment, begin, from, CodeToken::kComment) ? kStart : kInComment;
    }
    if (isLineComment()) {
      add(at_, text_.size(), CodeToken::kComment);
      at_ = text_.size();
      return kStart;
    }
    if (language_.grammar == CodeGrammar::kMarkup && !markup(c)) return kStart;
    for (std::size_t i = 0; i < language_.strings.size(); ++i) {
      if (startsWith(language_.strings[i].open)) return quoted(i);
    }
    if (QChar(c).isDigit()) {
      number();
    } else if (isWordPart(c)) {
      word();
    } else {
      ++at_;
    }
    return kStart;
  }

  bool isLineComment() const {
    if (startsWith(language_.otherLineComment)) return true;
    if (!startsWith(language_.lineComment)) return false;
    // "#" within a word is none: ${#list}, a#b.
    return language_.lineComment != u"#" || at_ == 0 || QChar(text_[at_ - 1]).isSpace();
  }

  // Text between tags is left alone: returns false when `c` was dealt with.
  bool markup(char16_t c) {
    if (c == u'<' && !inTag_) {
      inTag_ = true;
      ++at_;
      if (at_ < text_.size() && (text_[at_] == u'/' || text_[at_] == u'!' || text_[at_] == u'?')) ++at_;
      const std::size_t begin = at_;
      while (at_ < text_.size() && isWordPart(text_[at_]))
        ++at_;
      add(begin, at_, CodeToken::kKeyword);
      return false;
    }
    if (c == u'>' || !inTag_) {
      inTag_ = inTag_ && c != u'>';
      ++at_;
      return false;
    }
    return true;
  }

  int quoted(std::size_t index) {
    const CodeQuote& quote = language_.strings[index];
    const std::size_t begin = at_;
    const bool closed = finish(quote, begin, begin + quote.open.size(), CodeToken::kString);
    if (closed && language_.keysBeforeColon && colonFollows()) spans_.back().token = CodeToken::kType;
    return closed || !quote.multiLine ? kStart : kFirstString + static_cast<int>(index);
  }

  void number() {
    const std::size_t begin = at_;
    while (at_ < text_.size()) {
      const char16_t c = text_[at_];
      const bool exponent = (c == u'+' || c == u'-') && at_ > begin &&
                            (text_[at_ - 1] == u'e' || text_[at_ - 1] == u'E') &&
                            !text_.substr(begin).starts_with(u"0x");
      const bool fraction = c == u'.' && at_ + 1 < text_.size() && QChar(text_[at_ + 1]).isDigit();
      const bool separator = c == u'\'' && at_ + 1 < text_.size() && QChar(text_[at_ + 1]).isDigit();
      if (c != u'_' && !QChar(c).isLetterOrNumber() && !exponent && !fraction && !separator) break;
      ++at_;
    }
    add(begin, at_, CodeToken::kNumber);
  }

  void word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && isWordPart(text_[at_]))
      ++at_;
    const std::u16string_view found = text_.substr(begin, at_ - begin);
    const WordTables& tables = wordTables(language_);
    const QString folded =
        language_.ignoreCase ? line_.mid(static_cast<qsizetype>(begin), static_cast<qsizetype>(found.size()))
                                   .toString()
                                   .toLower()
                             : QString();
    const std::u16string_view key =
        language_.ignoreCase
            ? std::u16string_view(reinterpret_cast<const char16_t*>(folded.utf16()), found.size())
            : found;
    if (language_.grammar == CodeGrammar::kMarkup) {
      add(begin, at_, CodeToken::kType);
    } else if (language_.keysBeforeColon && colonFollows()) {
      add(begin, at_, CodeToken::kType);
    } else if (tables.keywords.contains(key)) {
      add(begin, at_, CodeToken::kKeyword);
    } else if (tables.types.contains(key)) {
      add(begin, at_, CodeToken::kType);
    } else if (at_ < text_.size() && text_[at_] == u'(') {
      add(begin, at_, CodeToken::kFunction);
    }
  }

  bool colonFollows() const {
    std::size_t i = at_;
    while (i < text_.size() && (text_[i] == u' ' || text_[i] == u'\t'))
      ++i;
    return i < text_.size() && (text_[i] == u':' || text_[i] == u'=');
  }

  const CodeLanguage& language_;
  QStringView line_;
  std::u16string_view text_;
  std::vector<CodeSpan>& spans_;
  std::size_t at_ = 0;
  bool inTag_ = false;
};

}  // namespace

const CodeLanguage* findLanguage(QStringView name) {
  if (name.isEmpty() || name.size() > 20) return nullptr;
  const QString lower = name.toString().toLower();
  const std::u16string_view wanted(reinterpret_cast<const char16_t*>(lower.utf16()),
                                   static_cast<std::size_t>(lower.size()));
  for (const CodeLanguage& language : codeLanguages()) {
    if (splitWords(language.names).contains(wanted)) return &language;
  }
  return nullptr;
}

int lexLine(const CodeLanguage& language, QStringView line, int state, std::vector<CodeSpan>& spans) {
  return Lexer(language, line, spans).run(state);
}

}  // namespace tandem::markdown
