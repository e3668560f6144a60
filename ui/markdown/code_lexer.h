// Colours for code, one line at a time: a small table-driven scanner that knows keywords, types, strings,
// comments, numbers and calls of the languages models write most. It only ever colours: no text is changed,
// and a wrong guess costs a colour. Pure functions over static tables, any thread.
#pragma once

#include <QString>
#include <QStringView>
#include <vector>

namespace tandem::markdown {

enum class CodeToken : quint8 { kKeyword, kType, kString, kNumber, kComment, kFunction };
inline constexpr int kCodeTokenCount = 6;

struct CodeSpan {
  int start = 0;  // UTF-16 units in the line
  int length = 0;
  CodeToken token = CodeToken::kKeyword;

  bool operator==(const CodeSpan&) const = default;
};

struct CodeLanguage;

// The language behind the info string of a fence ("c++", "py", "TypeScript"); null when it is not known.
const CodeLanguage* findLanguage(QStringView name);

// Appends the coloured spans of one line and returns the state the next line begins in. The first line begins
// in state 0.
int lexLine(const CodeLanguage& language, QStringView line, int state, std::vector<CodeSpan>& spans);

}  // namespace tandem::markdown
