// Colours the document of a code block with the code scanner, line by line as the text grows. Owned by its
// BlockDocument; GUI thread only.
#pragma once

#include <QColor>
#include <QList>
#include <QSyntaxHighlighter>
#include <vector>

#include "ui/markdown/code_lexer.h"

namespace tandem::markdown {

class CodeHighlighter : public QSyntaxHighlighter {
  Q_OBJECT

 public:
  explicit CodeHighlighter(QObject* parent) : QSyntaxHighlighter(parent) {}

  // Colours in the order of CodeToken. Each of these takes effect at the next rehighlight().
  void setColors(const QList<QColor>& colors) { colors_ = colors; }
  void setLanguage(const CodeLanguage* language) { language_ = language; }
  // The state the first line begins in, for a piece of code that goes on from another.
  void setStartState(int state) { startState_ = state; }
  const CodeLanguage* language() const { return language_; }
  int startState() const { return startState_; }

 protected:
  void highlightBlock(const QString& text) override;

 private:
  QList<QColor> colors_;
  const CodeLanguage* language_ = nullptr;
  int startState_ = 0;
  std::vector<CodeSpan> spans_;
};

}  // namespace tandem::markdown
