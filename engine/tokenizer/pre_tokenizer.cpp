#include "engine/tokenizer/pre_tokenizer.h"

#include <utf8proc.h>

#include <cassert>
#include <limits>

#include "engine/tokenizer/utf8.h"

namespace tandem {

namespace {

using Piece = PreTokenizerPiece;

// The characters with Unicode's White_Space property.
bool isWhiteSpace(char32_t code) {
  return (code >= 0x09 && code <= 0x0D) || code == 0x20 || code == 0x85 || code == 0xA0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F ||
         code == 0x205F || code == 0x3000;
}

CharClass classify(char32_t code) {
  if (isWhiteSpace(code)) return CharClass::kSpace;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return CharClass::kLetter;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return CharClass::kMark;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return CharClass::kNumber;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return CharClass::kPunctuation;
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
      return CharClass::kSymbol;
    default:
      return CharClass::kOther;
  }
}

std::vector<PreTokenizerChar> readChars(std::string_view text) {
  std::vector<PreTokenizerChar> chars;
  chars.reserve(text.size());
  for (std::size_t position = 0; position < text.size();) {
    const auto offset = static_cast<std::uint32_t>(position);
    const Utf8Char c = readUtf8(text, position);
    if (c.status == Utf8Status::kValid) {
      chars.push_back({c.code, offset, classify(c.code)});
      position += c.length;
    } else {
      chars.push_back({c.code, offset, CharClass::kOther});
      position += 1;
    }
  }
  return chars;
}

// What is neither white space, letter nor number: [^\s\p{L}\p{N}].
bool isOther(CharClass c) {
  return c == CharClass::kMark || c == CharClass::kPunctuation || c == CharClass::kSymbol ||
         c == CharClass::kOther;
}

template <class Predicate>
std::size_t skipWhile(const Piece& piece, std::size_t i, Predicate predicate) {
  while (i < piece.size() && predicate(i))
    ++i;
  return i;
}

std::size_t skipClass(const Piece& piece, std::size_t i, CharClass c) {
  return skipWhile(piece, i, [&](std::size_t k) { return piece.classAt(k) == c; });
}

char32_t lowerAscii(char32_t code) {
  return code >= 'A' && code <= 'Z' ? code + 32 : code;
}

// 's|'t|'m|'d|'re|'ve|'ll at `i`: its length, or 0.
std::size_t contractionLength(const Piece& piece, std::size_t i, bool anyCase) {
  if (piece.codeAt(i) != '\'') return 0;
  const auto letter = [&](std::size_t k) { return anyCase ? lowerAscii(piece.codeAt(k)) : piece.codeAt(k); };
  const char32_t a = letter(i + 1);
  if (a == 's' || a == 't' || a == 'm' || a == 'd') return 2;
  const char32_t b = letter(i + 2);
  if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l')) return 3;
  return 0;
}

// \s+(?!\S)|\s+ where white space begins at `i`: all of it, but its last character stays with a word that
// follows.
std::size_t spaceEnd(const Piece& piece, std::size_t i) {
  const std::size_t end = skipClass(piece, i, CharClass::kSpace);
  return end < piece.size() && end - i > 1 ? end - 1 : end;
}

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
std::size_t gpt2Words(const Piece& piece, std::size_t begin) {
  if (const std::size_t length = contractionLength(piece, begin, false)) return begin + length;
  const std::size_t word = piece.codeAt(begin) == ' ' ? begin + 1 : begin;
  const CharClass c = piece.classAt(word);
  if (c == CharClass::kLetter || c == CharClass::kNumber) return skipClass(piece, word, c);
  if (isOther(c)) return skipWhile(piece, word, [&](std::size_t k) { return isOther(piece.classAt(k)); });
  return spaceEnd(piece, begin);
}

// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,digits}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|
// \s+(?!\S)|\s+   where `marks` puts \p{M} to the letters.
template <std::size_t digits, bool marks>
std::size_t clWords(const Piece& piece, std::size_t begin) {
  const auto isNewline = [&](std::size_t k) { return piece.codeAt(k) == '\r' || piece.codeAt(k) == '\n'; };
  const auto isLetter = [&](std::size_t k) {
    return piece.classAt(k) == CharClass::kLetter || (marks && piece.classAt(k) == CharClass::kMark);
  };
  const auto isPlainOther = [&](std::size_t k) { return isOther(piece.classAt(k)) && !isLetter(k); };

  if (const std::size_t length = contractionLength(piece, begin, true)) return begin + length;
  const bool number = piece.classAt(begin) == CharClass::kNumber;
  if (isLetter(begin) || (!number && !isNewline(begin) && isLetter(begin + 1))) {
    return skipWhile(piece, begin + 1, isLetter);
  }
  if (number) {
    return skipWhile(piece, begin, [&](std::size_t k) {
      return k - begin < digits && piece.classAt(k) == CharClass::kNumber;
    });
  }
  const std::size_t word = piece.codeAt(begin) == ' ' ? begin + 1 : begin;
  if (isPlainOther(word)) return skipWhile(piece, skipWhile(piece, word, isPlainOther), isNewline);

  std::size_t end = skipClass(piece, begin, CharClass::kSpace);
  while (end > begin && !isNewline(end - 1))
    --end;
  return end > begin ? end : spaceEnd(piece, begin);
}

// Cuts out every character (or, with `runs`, every run of them) that satisfies `matches`; what is between
// stays whole.
template <bool runs, class Predicate>
std::size_t isolate(const Piece& piece, std::size_t begin, Predicate matches) {
  if (!matches(begin)) return skipWhile(piece, begin, [&](std::size_t k) { return !matches(k); });
  return runs ? skipWhile(piece, begin, matches) : begin + 1;
}

// \p{N}
std::size_t singleNumbers(const Piece& piece, std::size_t begin) {
  return isolate<false>(piece, begin, [&](std::size_t k) { return piece.classAt(k) == CharClass::kNumber; });
}

// \p{N}+
std::size_t numberRuns(const Piece& piece, std::size_t begin) {
  return isolate<true>(piece, begin, [&](std::size_t k) { return piece.classAt(k) == CharClass::kNumber; });
}

// [0-9][0-9][0-9]
std::size_t digitTriples(const Piece& piece, std::size_t begin) {
  const auto isTriple = [&](std::size_t k) {
    const auto isDigit = [&](std::size_t j) { return piece.codeAt(j) >= '0' && piece.codeAt(j) <= '9'; };
    return isDigit(k) && isDigit(k + 1) && isDigit(k + 2);
  };
  if (isTriple(begin)) return begin + 3;
  return skipWhile(piece, begin, [&](std::size_t k) { return !isTriple(k); });
}

// [\p{P}\$\+<=>\^~\|]+   where `backquote` adds ` to it
template <bool backquote>
std::size_t punctuationRuns(const Piece& piece, std::size_t begin) {
  return isolate<true>(piece, begin, [&](std::size_t k) {
    const char32_t code = piece.codeAt(k);
    return piece.classAt(k) == CharClass::kPunctuation || code == '$' || code == '+' || code == '<' ||
           code == '=' || code == '>' || code == '^' || code == '~' || code == '|' ||
           (backquote && code == '`');
  });
}

constexpr PreTokenizer kPreTokenizers[] = {
    {"smollm", {singleNumbers, gpt2Words}, false, false},
    {"starcoder", {singleNumbers, gpt2Words}, false, false},
    {"refact", {singleNumbers, gpt2Words}, false, false},
    {"command-r", {singleNumbers, gpt2Words}, false, false},
    {"gpt-2", {gpt2Words}, false, false},
    {"mpt", {gpt2Words}, false, false},
    {"falcon", {punctuationRuns<true>, gpt2Words, digitTriples}, false, false},
    {"default", {punctuationRuns<false>, gpt2Words, numberRuns, digitTriples}, false, false},
    {"llama-bpe", {clWords<3, false>}, true, true},
    {"qwen2", {clWords<1, false>}, false, false},
    {"qwen35", {clWords<1, true>}, false, false},
};

}  // namespace

std::vector<std::uint32_t> PreTokenizer::pieceEnds(std::string_view text) const {
  assert(text.size() <= std::numeric_limits<std::uint32_t>::max());
  const std::vector<PreTokenizerChar> chars = readChars(text);
  // Ends in characters while cutting, in bytes at last.
  std::vector<std::uint32_t> ends;
  if (!chars.empty()) ends.push_back(static_cast<std::uint32_t>(chars.size()));
  std::vector<std::uint32_t> finer;
  for (const PreTokenizerScanner scanner : scanners) {
    if (scanner == nullptr) break;
    finer.clear();
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      const Piece piece{std::span<const PreTokenizerChar>(chars).subspan(begin, end - begin)};
      for (std::size_t i = 0; i < piece.size();) {
        i = scanner(piece, i);
        finer.push_back(static_cast<std::uint32_t>(begin + i));
      }
      begin = end;
    }
    ends.swap(finer);
  }
  for (std::uint32_t& end : ends) {
    end = end < chars.size() ? chars[end].offset : static_cast<std::uint32_t>(text.size());
  }
  return ends;
}

const PreTokenizer* findPreTokenizer(std::string_view name) {
  for (const PreTokenizer& row : kPreTokenizers) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::string preTokenizerNames() {
  std::string names;
  for (const PreTokenizer& row : kPreTokenizers) {
    if (!names.empty()) names += ", ";
    names += row.name;
  }
  return names;
}

}  // namespace tandem
