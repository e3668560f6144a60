#include "ui/markdown/code_highlighter.h"

namespace tandem::markdown {

void CodeHighlighter::highlightBlock(const QString& text) {
  if (!language_ || colors_.size() < kCodeTokenCount) return;
  const int before = previousBlockState();
  spans_.clear();
  setCurrentBlockState(lexLine(*language_, text, before < 0 ? startState_ : before, spans_));
  for (const CodeSpan& span : spans_) {
    setFormat(span.start, span.length, colors_.at(static_cast<qsizetype>(span.token)));
  }
}

}  // namespace tandem::markdown
