#include "ui/markdown/block_document.h"

#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextLayout>
#include <algorithm>

#include "ui/markdown/inline_parser.h"

namespace tandem::markdown {

namespace {

constexpr qreal kCodeScale = 0.9;  // of the text around it
constexpr qreal kCellPadding = 6;

// How much of the next rendering the document already shows, in UTF-16 units.
int unchangedLength(const RenderedBlock& shown, const RenderedBlock& next) {
  const std::size_t both = std::min(shown.runs.size(), next.runs.size());
  for (std::size_t i = 0; i < both; ++i) {
    const TextRun& old = shown.runs[i];
    const TextRun& now = next.runs[i];
    const bool sameStyle = old.start == now.start && old.style == now.style && old.link == now.link &&
                           (now.link < 0 || shown.links.at(old.link) == next.links.at(now.link));
    if (!sameStyle) return now.start;
    const int length = std::min(old.length, now.length);
    const auto* a = shown.text.constData() + old.start;
    const auto* b = next.text.constData() + now.start;
    const int same = static_cast<int>(std::mismatch(a, a + length, b).first - a);
    if (same < length || old.length != now.length) return now.start + same;
  }
  return both < next.runs.size() ? next.runs[both].start : static_cast<int>(next.text.size());
}

Qt::Alignment alignmentOf(char align) {
  if (align == 'c') return Qt::AlignHCenter;
  if (align == 'r') return Qt::AlignRight;
  return Qt::AlignLeft;
}

}  // namespace

BlockDocument::BlockDocument(QObject* parent) : QObject(parent) {
  connect(this, &BlockDocument::inputChanged, this, &BlockDocument::update);
  connect(this, &BlockDocument::styleChanged, this, &BlockDocument::refill);
}

void BlockDocument::componentComplete() {
  complete_ = true;
  refill();
}

void BlockDocument::setMessage(MarkdownMessage* message) {
  if (message == message_) return;
  if (message_) message_->disconnect(this);
  message_ = message;
  if (message_) {
    connect(message_, &MarkdownMessage::originsChanged, this, &BlockDocument::tintsChanged);
    connect(message_, &MarkdownMessage::changed, this, &BlockDocument::noteSpokenText);
  }
  refill();
  emit inputChanged();
}

QTextDocument* BlockDocument::textDocument() const {
  return quickDocument_ ? quickDocument_->textDocument() : nullptr;
}

void BlockDocument::refill() {
  QTextDocument* document = textDocument();
  if (!complete_ || !document) return;
  delete highlighter_;
  highlighter_ = nullptr;
  table_ = nullptr;
  shown_ = {};
  document->setUndoRedoEnabled(false);
  document->clear();
  update();
}

void BlockDocument::update() {
  QTextDocument* document = textDocument();
  if (!complete_ || !document || !message_ || !message_->blocks()->hasRow(row_)) return;
  const RenderedBlock& next = message_->blocks()->rendered(row_);
  const Leaf& leaf = message_->blocks()->leaf(row_);
  if (leaf.kind != shownKind_) {
    shownKind_ = leaf.kind;
    refill();
    return;
  }
  switch (leaf.kind) {
    case LeafKind::kTable:
      fillTable(next, leaf.aligns);
      break;
    case LeafKind::kCode:
      fillCode(next);
      break;
    default:
      fillText(next);
  }
  shown_ = next;
  noteLinks();
  spokenStale_ = true;
  noteSpokenText();
  emit filled();
}

void BlockDocument::fillText(const RenderedBlock& next) {
  const bool turned = next.rightToLeft != shown_.rightToLeft;
  shown_.rightToLeft = next.rightToLeft;
  if (turned || shown_.text.isEmpty()) setBlockFormat();
  replaceFrom(unchangedLength(shown_, next), next);
}

void BlockDocument::fillCode(const RenderedBlock& next) {
  const CodeLanguage* language = findLanguage(language_);
  if (!highlighter_ && language) {
    highlighter_ = new CodeHighlighter(this);
    highlighter_->setColors(syntaxColors_);
    highlighter_->setLanguage(language);
    highlighter_->setStartState(message_->blocks()->lexStateBefore(row_));
    highlighter_->setDocument(textDocument());
  }
  const bool first = shown_.text.isEmpty();
  if (first) setBlockFormat();
  replaceFrom(unchangedLength(shown_, next), next);
  if (first && highlighter_) highlighter_->rehighlight();
}

// Replaces what the document holds from `position` on.
void BlockDocument::replaceFrom(int position, const RenderedBlock& next) {
  QTextCursor cursor(textDocument());
  cursor.beginEditBlock();
  cursor.setPosition(std::min(position, textDocument()->characterCount() - 1));
  cursor.movePosition(QTextCursor::End, QTextCursor::KeepAnchor);
  if (cursor.hasSelection()) cursor.removeSelectedText();
  insertRuns(cursor, next, position, static_cast<int>(next.text.size()));
  keepGlyphs(position);
  cursor.endEditBlock();
}

// Of what is laid out from `position` on: tints and painting would find the same again at once.
void BlockDocument::keepGlyphs(int position) {
  for (QTextBlock block = textDocument()->findBlock(position); block.isValid(); block = block.next())
    block.layout()->setCacheEnabled(true);
}

// Inserts the units [from, to) of the text with their formats.
void BlockDocument::insertRuns(QTextCursor& cursor, const RenderedBlock& next, int from, int to) const {
  const bool verbatim = shownKind_ == LeafKind::kCode || shownKind_ == LeafKind::kPlain;
  if (verbatim) {
    if (from < to) cursor.insertText(next.text.mid(from, to - from));
    return;
  }
  const auto behind = [](int at, const TextRun& run) { return at < run.start + run.length; };
  for (auto run = std::upper_bound(next.runs.begin(), next.runs.end(), from, behind);
       run != next.runs.end() && run->start < to; ++run) {
    const int begin = std::max(run->start, from);
    const int end = std::min(run->start + run->length, to);
    cursor.insertText(next.text.mid(begin, end - begin), formatOf(*run, next));
  }
}

QTextCharFormat BlockDocument::formatOf(const TextRun& run, const RenderedBlock& block) const {
  QTextCharFormat format;
  if (run.style & kStyleBold) format.setFontWeight(QFont::DemiBold);
  if (run.style & kStyleItalic) format.setFontItalic(true);
  if (run.style & kStyleStrike) format.setFontStrikeOut(true);
  if (run.style & (kStyleCode | kStyleMath)) {
    format.setFontFamilies({codeFamily_});
    format.setProperty(QTextFormat::FontPixelSize, qRound(textSize_ * kCodeScale));
    format.setFontStyleStrategy(QFont::PreferNoShaping);
  }
  if (run.style & kStyleImage) format.setForeground(mutedColor_);
  if (run.link >= 0) {
    format.setAnchor(true);
    format.setAnchorHref(block.links.at(run.link));
    format.setForeground(linkColor_);
    format.setFontUnderline(true);
  }
  return format;
}

void BlockDocument::setBlockFormat() {
  QTextBlockFormat format;
  format.setLineHeight(lineHeight_ * 100, QTextBlockFormat::ProportionalHeight);
  const bool code = shownKind_ == LeafKind::kCode;
  format.setLayoutDirection(shown_.rightToLeft && !code ? Qt::RightToLeft : Qt::LeftToRight);
  format.setAlignment(shown_.rightToLeft && !code ? Qt::AlignRight | Qt::AlignAbsolute : Qt::AlignLeft);
  QTextCursor cursor(textDocument());
  cursor.select(QTextCursor::Document);
  cursor.setBlockFormat(format);
}

void BlockDocument::fillTable(const RenderedBlock& next, const std::string& aligns) {
  const int rows = static_cast<int>(next.cells.size()) / std::max(next.columns, 1);
  const bool remake = !table_ || table_->columns() != next.columns || table_->rows() > rows;
  QTextCursor edit(textDocument());
  edit.beginEditBlock();
  if (remake) makeTable(next);
  if (table_->rows() < rows) table_->appendRows(rows - table_->rows());
  for (std::size_t i = 0; i < next.cells.size(); ++i) {
    const TableCell& cell = next.cells[i];
    const bool known = !remake && i < shown_.cells.size();
    const bool same = known && shown_.cells[i].length == cell.length &&
                      QStringView(shown_.text).mid(shown_.cells[i].start, cell.length) ==
                          QStringView(next.text).mid(cell.start, cell.length);
    // A cell that only changes its style at equal text is the one being written: it is filled anew.
    if (!same || i + 1 == next.cells.size()) fillCell(next, i, aligns[i % aligns.size()]);
  }
  keepGlyphs(0);
  edit.endEditBlock();
}

void BlockDocument::makeTable(const RenderedBlock& next) {
  textDocument()->clear();
  QTextTableFormat format;
  format.setCellPadding(kCellPadding);
  format.setCellSpacing(0);
  format.setBorder(1);
  format.setBorderCollapse(true);
  format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
  format.setBorderBrush(borderColor_);
  format.setHeaderRowCount(1);
  QTextCursor cursor(textDocument());
  // A document always has a line before and after a table: both are made as good as invisible.
  QTextBlockFormat thin;
  thin.setLineHeight(1, QTextBlockFormat::FixedHeight);
  cursor.setBlockFormat(thin);
  table_ = cursor.insertTable(1, next.columns, format);
  cursor.movePosition(QTextCursor::End);
  cursor.setBlockFormat(thin);
}

void BlockDocument::fillCell(const RenderedBlock& next, std::size_t cell, char align) {
  const int row = static_cast<int>(cell) / next.columns;
  QTextTableCell target = table_->cellAt(row, static_cast<int>(cell) % next.columns);
  QTextCursor cursor = target.firstCursorPosition();
  cursor.setPosition(target.lastPosition(), QTextCursor::KeepAnchor);
  cursor.removeSelectedText();
  QTextBlockFormat format;
  format.setAlignment(alignmentOf(align));
  cursor.setBlockFormat(format);
  const int start = next.cells[cell].start;
  insertRuns(cursor, next, start, start + next.cells[cell].length);
  if (row == 0) {
    cursor.setPosition(target.firstPosition());
    cursor.setPosition(target.lastPosition(), QTextCursor::KeepAnchor);
    QTextCharFormat bold;
    bold.setFontWeight(QFont::DemiBold);
    cursor.mergeCharFormat(bold);
  }
}

BlockDocument::Span BlockDocument::documentSpan(int start, int length, int origin) const {
  if (!table_ || shown_.cells.empty()) return {start, length, origin};
  const auto behind = [](int at, const TableCell& cell) { return at < cell.start; };
  auto cell = std::upper_bound(shown_.cells.begin(), shown_.cells.end(), start, behind);
  if (cell != shown_.cells.begin()) --cell;
  const int index = static_cast<int>(cell - shown_.cells.begin());
  const QTextTableCell found = table_->cellAt(index / shown_.columns, index % shown_.columns);
  return {found.firstPosition() + start - cell->start, length, origin};
}

std::vector<BlockDocument::Span> BlockDocument::tints() const {
  std::vector<Span> spans;
  if (!message_) return spans;
  for (const TintSpan& span : tintSpans(shown_, message_->source(), message_->origins())) {
    spans.push_back(documentSpan(span.start, span.length, span.origin));
  }
  return spans;
}

std::vector<BlockDocument::Span> BlockDocument::plates() const {
  std::vector<Span> spans;
  for (const TextRun& run : shown_.runs) {
    if (run.style & kStyleCode) spans.push_back(documentSpan(run.start, run.length, 0));
  }
  return spans;
}

qreal BlockDocument::idealWidth() const {
  const QTextDocument* document = textDocument();
  return document ? document->idealWidth() : 0;
}

void BlockDocument::noteLinks() {
  linkSpans_.clear();
  int before = -1;
  for (const TextRun& run : shown_.runs) {
    if (run.link >= 0 && run.link == before) {
      linkSpans_.back().length += run.length;
    } else if (run.link >= 0) {
      linkSpans_.push_back(documentSpan(run.start, run.length, run.link));
    }
    before = run.link;
  }
}

int BlockDocument::linkStart(int link) const {
  return link >= 0 && link < linkCount() ? linkSpans_[static_cast<std::size_t>(link)].start : 0;
}

int BlockDocument::linkEnd(int link) const {
  return link >= 0 && link < linkCount() ? linkStart(link) + linkSpans_[static_cast<std::size_t>(link)].length
                                         : 0;
}

QString BlockDocument::linkAddress(int link) const {
  return link >= 0 && link < linkCount() ? shown_.links.at(linkSpans_[static_cast<std::size_t>(link)].origin)
                                         : QString();
}

bool BlockDocument::isOpenEnd() const {
  return !message_->isFinished() && row_ + 1 >= message_->blocks()->blockCount();
}

void BlockDocument::noteSpokenText() {
  if (!spokenStale_ || isOpenEnd()) return;
  spokenStale_ = false;
  spokenText_ = shown_.text;
  spokenText_.replace(QChar::LineSeparator, u' ').replace(u'\t', QLatin1String(", "));
  emit spokenTextChanged();
}

}  // namespace tandem::markdown
