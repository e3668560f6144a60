// The tables of the code scanner. Internal to it.
#pragma once

#include <span>
#include <string_view>

namespace tandem::markdown {

enum class CodeGrammar { kPlain, kMarkup };

// A pair of marks with everything between them one string or comment.
struct CodeQuote {
  std::u16string_view open;
  std::u16string_view close;
  bool multiLine = false;
  bool escapes = true;  // a backslash takes the next character along
};

struct CodeLanguage {
  std::u16string_view names;  // of info strings, lower case, split by one space
  std::u16string_view keywords;
  std::u16string_view types;
  std::u16string_view lineComment;       // empty: none
  std::u16string_view otherLineComment;  // empty: none
  CodeQuote blockComment;                // empty: none
  std::span<const CodeQuote> strings;    // longer marks before shorter ones
  std::u16string_view wordCharacters;    // that belong to words beside letters, digits and "_"
  bool ignoreCase = false;
  bool keysBeforeColon = false;  // a word or string followed by ":" names a member
  CodeGrammar grammar = CodeGrammar::kPlain;
};

std::span<const CodeLanguage> codeLanguages();

}  // namespace tandem::markdown
