#include "ui/markdown/block_model.h"

#include <algorithm>

#include "ui/markdown/code_lexer.h"

namespace tandem::markdown {

namespace {

// Rows are handed to the view in portions of about this weight, so that no frame builds too many delegates.
constexpr std::size_t kPortion = 30;
constexpr std::size_t kBytesPerWeight = 500;
constexpr std::size_t kLinesPerWeight = 8;
constexpr int kFrameMs = 16;

std::size_t weight(const Leaf& leaf) {
  return 1 + leaf.bytes / kBytesPerWeight + leaf.lines.size() / kLinesPerWeight;
}

bool isVerbatim(const Leaf& leaf) {
  return leaf.kind == LeafKind::kCode || leaf.kind == LeafKind::kPlain;
}

}  // namespace

BlockModel::BlockModel(QObject* parent) : QAbstractListModel(parent) {
  timer_.setSingleShot(true);
  timer_.setInterval(kFrameMs);
  connect(&timer_, &QTimer::timeout, this, &BlockModel::exposeMore);
}

int BlockModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(exposed_);
}

QHash<int, QByteArray> BlockModel::roleNames() const {
  return {{kKind, "kind"},         {kLevel, "level"},         {kContainers, "containers"},
          {kShared, "shared"},     {kMarker, "marker"},       {kTask, "task"},
          {kLanguage, "language"}, {kContinues, "continues"}, {kContinued, "continued"},
          {kTight, "tight"},       {kWrap, "wrap"},           {kRevision, "revision"}};
}

QVariant BlockModel::data(const QModelIndex& index, int role) const {
  if (!hasRow(index.row())) return {};
  const auto row = static_cast<std::size_t>(index.row());
  const Leaf& leaf = entries_[row].leaf;
  switch (role) {
    case kKind:
      return static_cast<int>(leaf.kind);
    case kLevel:
      return static_cast<int>(leaf.level);
    case kContainers:
      return QString::fromStdString(leaf.containers);
    case kShared: {
      if (row == 0) return 0;
      const std::string& before = entries_[row - 1].leaf.containers;
      const std::size_t shortest = std::min(before.size(), leaf.containers.size());
      std::size_t shared = 0;
      while (shared < shortest && before[shared] == leaf.containers[shared])
        ++shared;
      return static_cast<int>(shared);
    }
    case kMarker:
      return QString::fromStdString(leaf.marker);
    case kTask:
      return static_cast<int>(leaf.task);
    case kLanguage:
      return QString::fromUtf8(splitter_->source().data() + leaf.info.begin, leaf.info.size());
    case kContinues:
      return leaf.continues;
    case kContinued:
      return continued(row);
    case kTight:
      return leaf.tight;
    case kWrap:
      return leaf.wrap;
    case kRevision:
      return entries_[row].revision;
    default:
      return {};
  }
}

bool BlockModel::continued(std::size_t row) const {
  return row + 1 < entries_.size() && entries_[row + 1].leaf.continues;
}

void BlockModel::clear() {
  timer_.stop();
  beginResetModel();
  entries_.clear();
  exposed_ = 0;
  endResetModel();
}

void BlockModel::sync(const BlockSplitter& splitter, std::size_t first) {
  splitter_ = &splitter;
  const std::vector<Leaf>& leaves = splitter.leaves();
  if (leaves.size() < entries_.size()) {
    const bool visible = leaves.size() < exposed_;
    if (visible) {
      beginRemoveRows({}, static_cast<int>(leaves.size()), static_cast<int>(exposed_) - 1);
      exposed_ = leaves.size();
    }
    entries_.resize(leaves.size());
    if (visible) endRemoveRows();
  }
  const std::size_t known = entries_.size();
  entries_.resize(leaves.size());
  for (std::size_t i = first; i < leaves.size(); ++i) {
    Entry& entry = entries_[i];
    if (i >= known) {
      entry.leaf = leaves[i];
      continue;
    }
    if (entry.leaf == leaves[i]) continue;
    QList<int> roles{kRevision};
    if (entry.leaf.kind != leaves[i].kind) roles << kKind << kLevel << kTight;
    if (entry.leaf.wrap != leaves[i].wrap) roles << kWrap;
    if (entry.leaf.info != leaves[i].info) roles << kLanguage;
    if (entry.leaf.marker != leaves[i].marker) roles << kMarker << kTask;
    if (entry.leaf.level != leaves[i].level) roles << kLevel;
    if (entry.leaf.task != leaves[i].task) roles << kTask;
    if (entry.leaf.containers != leaves[i].containers) roles << kContainers << kShared;
    if (entry.leaf.continues != leaves[i].continues) roles << kContinues;
    update(entry, leaves[i]);
    if (i < exposed_) emit dataChanged(index(static_cast<int>(i)), index(static_cast<int>(i)), roles);
  }
  // A new row can make the one before a continued one.
  if (known != leaves.size() && first < exposed_) {
    emit dataChanged(index(static_cast<int>(first)), index(static_cast<int>(exposed_) - 1), {kContinued});
  }
  if (exposed_ < entries_.size() && !timer_.isActive()) exposeMore();
}

// Code and plain text only grow at their end: what is rendered of the lines before is kept.
void BlockModel::update(Entry& entry, const Leaf& leaf) {
  const bool grows = entry.rendered && isVerbatim(leaf) && entry.leaf.kind == leaf.kind &&
                     entry.leaf.lines.size() <= leaf.lines.size() && !entry.leaf.lines.empty() &&
                     std::equal(entry.leaf.lines.begin(), entry.leaf.lines.end() - 1, leaf.lines.begin());
  if (grows) {
    renderMore(*entry.rendered, leaf, splitter_->source(), entry.leaf.lines.size() - 1);
  } else {
    entry.rendered.reset();
  }
  entry.lexStateAfter.reset();
  entry.leaf = leaf;
  ++entry.revision;
}

void BlockModel::exposeMore() {
  std::size_t end = exposed_;
  for (std::size_t sum = 0; end < entries_.size() && sum < kPortion; ++end)
    sum += weight(entries_[end].leaf);
  if (end > exposed_) {
    beginInsertRows({}, static_cast<int>(exposed_), static_cast<int>(end) - 1);
    exposed_ = end;
    endInsertRows();
  }
  if (exposed_ < entries_.size()) timer_.start();
}

const RenderedBlock& BlockModel::rendered(int row) {
  static const RenderedBlock kNothing;
  if (!hasRow(row)) return kNothing;
  Entry& entry = entries_[static_cast<std::size_t>(row)];
  if (!entry.rendered) entry.rendered = renderLeaf(entry.leaf, splitter_->source());
  return *entry.rendered;
}

int BlockModel::lexStateBefore(int row) {
  if (!hasRow(row) || !leaf(row).continues || row == 0 || leaf(row - 1).kind != LeafKind::kCode) return 0;
  Entry& before = entries_[static_cast<std::size_t>(row) - 1];
  if (!before.lexStateAfter) {
    int state = lexStateBefore(row - 1);
    const QString name = data(index(row), kLanguage).toString();
    if (const CodeLanguage* language = findLanguage(name)) {
      std::vector<CodeSpan> spans;
      for (const QStringView line : QStringView(rendered(row - 1).text).split(u'\n')) {
        spans.clear();
        state = lexLine(*language, line, state, spans);
      }
    }
    before.lexStateAfter = state;
  }
  return *before.lexStateAfter;
}

}  // namespace tandem::markdown
