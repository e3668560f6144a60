#include "ui/markdown/markdown_message.h"

#include <QFontMetricsF>
#include <algorithm>
#include <utility>

namespace tandem::markdown {

namespace {

constexpr qsizetype kMeasured = 8 << 10;  // bytes looked at for the width of a bubble

std::string_view asView(const QByteArray& bytes) {
  return {bytes.constData(), static_cast<std::size_t>(bytes.size())};
}

}  // namespace

MarkdownMessage::MarkdownMessage(QObject* parent) : QObject(parent) {}

QString MarkdownMessage::text() const {
  return QString::fromStdString(splitter_.source());
}

void MarkdownMessage::setPlain(bool plain) {
  if (plain == plain_) return;
  plain_ = plain;
  const std::string source = splitter_.source();
  const bool wasFinished = splitter_.finished();
  blocks_.clear();
  splitter_ = BlockSplitter(plain_);
  splitter_.append(source);
  if (wasFinished) splitter_.finish();
  changeTo(0, wasFinished);
  emit plainChanged();
}

void MarkdownMessage::setSource(const QByteArray& utf8, const std::vector<OriginRun>& origins) {
  const bool wasFinished = splitter_.finished();
  blocks_.clear();
  origins_.clear();
  for (const OriginRun& run : origins)
    origins_.append(run.bytes, run.origin);
  splitter_ = BlockSplitter(plain_);
  splitter_.append(asView(utf8));
  splitter_.finish();
  changeTo(0, wasFinished);
}

void MarkdownMessage::append(const QByteArray& utf8, const std::vector<OriginRun>& origins) {
  const bool wasFinished = splitter_.finished();
  const auto size = static_cast<qsizetype>(splitter_.source().size());
  origins_.append(size - origins_.size(), 0);
  for (const OriginRun& run : origins)
    origins_.append(run.bytes, run.origin);
  changeTo(splitter_.append(asView(utf8)), wasFinished);
}

void MarkdownMessage::setOrigins(const std::vector<OriginRun>& origins) {
  origins_.clear();
  for (const OriginRun& run : origins)
    origins_.append(run.bytes, run.origin);
  emit originsChanged();
}

void MarkdownMessage::finish() {
  const bool wasFinished = splitter_.finished();
  changeTo(splitter_.finish(), wasFinished);
}

void MarkdownMessage::clear() {
  const bool wasFinished = splitter_.finished();
  blocks_.clear();
  origins_.clear();
  splitter_ = BlockSplitter(plain_);
  changeTo(0, wasFinished);
}

void MarkdownMessage::showMore() {
  changeTo(splitter_.showMore(), splitter_.finished());
}

void MarkdownMessage::changeTo(std::size_t first, bool wasFinished) {
  blocks_.sync(splitter_, first);
  emit changed();
  if (wasFinished != splitter_.finished()) emit finishedChanged();
}

QString MarkdownMessage::codeText(int row) const {
  if (row < 0 || static_cast<std::size_t>(row) >= splitter_.leaves().size()) return {};
  auto first = static_cast<std::size_t>(row);
  while (first > 0 && splitter_.leaves()[first].continues)
    --first;
  const auto endIn = [first](const BlockSplitter& splitter) {
    std::size_t end = first + 1;
    while (end < splitter.leaves().size() && splitter.leaves()[end].continues)
      ++end;
    return end;
  };
  // Code that goes on in the hidden part of a long message is copied whole all the same.
  BlockSplitter whole = splitter_;
  while (whole.hiddenBytes() > 0 && endIn(whole) == whole.leaves().size())
    whole.showMore();
  std::string code;
  for (std::size_t i = first; i < endIn(whole); ++i)
    code += leafBytes(whole.leaves()[i], whole.source());
  if (code.ends_with('\n')) code.pop_back();
  if (code.ends_with('\r')) code.pop_back();
  return QString::fromStdString(code);
}

qreal MarkdownMessage::naturalWidth(const QFont& font) const {
  const QFontMetricsF metrics(font);
  const auto length = std::min<qsizetype>(static_cast<qsizetype>(splitter_.source().size()), kMeasured);
  const QStringList lines = QString::fromUtf8(splitter_.source().data(), length).split(u'\n');
  qreal widest = 0;
  for (const QString& line : lines)
    widest = std::max(widest, metrics.horizontalAdvance(line));
  return widest;
}

}  // namespace tandem::markdown
