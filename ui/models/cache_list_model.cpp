#include "ui/models/cache_list_model.h"

#include <QLocale>
#include <QSet>
#include <algorithm>
#include <tuple>
#include <utility>

#include "ui/models/conversation_list_model.h"
#include "ui/models/when.h"

namespace tandem::ui {
namespace {

using service::CachedText;
using service::CachePlace;
using service::TextState;

static_assert(static_cast<int>(TextState::kUnusable) == CacheListModel::Unusable);

constexpr int kRefreshMs = 1000;
constexpr int kMostMoves = 200;  // beyond them the whole list is new

QString keyOf(const CachedText& text) {
  return QString::fromStdString(text.key);
}

QString bytesText(std::uint64_t bytes) {
  return QLocale().formattedDataSize(static_cast<qint64>(bytes), 1, QLocale::DataSizeIecFormat);
}

double shareOf(std::uint64_t bytes, std::uint64_t budget) {
  return budget == 0 ? 0 : std::min(1.0, static_cast<double>(bytes) / static_cast<double>(budget));
}

QString oneLine(const std::string& words) {
  return QString::fromStdString(words).simplified();
}

}  // namespace

CacheListModel::CacheListModel(service::EngineBackend& backend, const ConversationListModel& conversations,
                               QObject* parent)
    : QAbstractListModel(parent), backend_(backend), conversations_(conversations), post_(this) {
  timer_.setSingleShot(true);
  timer_.setInterval(kRefreshMs);
  connect(&timer_, &QTimer::timeout, this, &CacheListModel::ask);
}

CacheListModel::~CacheListModel() {
  for (const Proof& proof : std::as_const(proofs_)) {
    if (proof.handle) proof.handle->cancel();
  }
}

int CacheListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : count();
}

QHash<int, QByteArray> CacheListModel::roleNames() const {
  return {{KeyRole, "key"},           {HeadingRole, "heading"},
          {WordsRole, "words"},       {PlaceRole, "place"},
          {KindRole, "kind"},         {TokensRole, "tokens"},
          {SizeRole, "size"},         {HitsRole, "hits"},
          {AgeRole, "age"},           {FingerprintRole, "fingerprint"},
          {StateRole, "textState"},   {StateTextRole, "stateText"},
          {DetailRole, "detail"},     {ProvingRole, "proving"},
          {ProvableRole, "provable"}, {DroppableRole, "droppable"}};
}

QVariant CacheListModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) {
    return {};
  }
  const CachedText& text = rows_[static_cast<std::size_t>(index.row())];
  const QString key = keyOf(text);
  const QLocale locale;
  const bool gone = text.state == TextState::kUnusable;
  switch (role) {
    case KeyRole:
      return key;
    case Qt::DisplayRole:
    case HeadingRole:
      return titleOf(text);
    case WordsRole:
      return oneLine(text.words);
    case PlaceRole:
      return text.place == CachePlace::kMemory ? tr("Memory") : tr("Disk");
    case KindRole:
      switch (text.tier) {
        case CacheTier::kPages:
          return gone ? tr("File") : tr("Pages");
        case CacheTier::kGrid:
          return tr("Snapshot");
        case CacheTier::kPromptEnd:
          return tr("Prompt end");
        case CacheTier::kEndAnchor:
          return tr("End anchor");
      }
      return {};
    case TokensRole:
      if (gone) return QString();
      return text.start == 0 || text.tier != CacheTier::kPages
                 ? locale.toString(text.tokens)
                 : tr("%1 – %2").arg(locale.toString(text.start), locale.toString(text.tokens));
    case SizeRole:
      return bytesText(text.bytes);
    case HitsRole:
      return gone ? QString() : locale.toString(static_cast<qulonglong>(text.hits));
    case AgeRole:
      return gone ? QString() : ageText(text.ageSeconds);
    case FingerprintRole:
      return QString::fromStdString(text.fingerprint);
    case StateRole:
      return static_cast<int>(text.state);
    case StateTextRole:
      return stateText(text, key);
    case DetailRole:
      return detailOf(text, key);
    case ProvingRole:
      return proofs_.contains(key);
    case ProvableRole:
      return !gone && text.state != TextState::kForeign && text.state != TextState::kProofFailed;
    case DroppableRole:
      return !gone;
    default:
      return {};
  }
}

QString CacheListModel::titleOf(const CachedText& text) const {
  const QString title = text.conversation == 0 ? QString() : conversations_.titleOf(text.conversation);
  if (!title.isEmpty()) return title;
  if (!text.words.empty()) return oneLine(text.words);
  return text.state == TextState::kUnusable ? keyOf(text).section('/', 1) : tr("A text of another model");
}

QString CacheListModel::stateText(const CachedText& text, const QString& key) const {
  if (const auto proof = proofs_.constFind(key); proof != proofs_.constEnd()) {
    return proof->total == 0 ? tr("Waits for its proof")
                             : tr("Proving… %1 %").arg(100 * qint64{proof->done} / proof->total);
  }
  switch (text.state) {
    case TextState::kUsable:
      return tr("Usable");
    case TextState::kPinned:
      return tr("Pinned");
    case TextState::kProven:
      return tr("Proven");
    case TextState::kProofFailed:
      return tr("Proof failed");
    case TextState::kForeign:
      return tr("Other model");
    case TextState::kUnusable:
      return tr("Cannot be used");
  }
  return {};
}

QString CacheListModel::detailOf(const CachedText& text, const QString& key) const {
  const QLocale locale;
  if (const auto note = notes_.constFind(key); note != notes_.constEnd() && !proofs_.contains(key)) {
    return *note;
  }
  switch (text.state) {
    case TextState::kProven:
      return tr("All %1 bytes are those of a cold read.")
          .arg(locale.toString(static_cast<qulonglong>(text.proof.bytes)));
    case TextState::kProofFailed:
      return tr("%1 of %2 bytes differ from a cold read. All caches were emptied.")
          .arg(locale.toString(static_cast<qulonglong>(text.proof.differing)),
               locale.toString(static_cast<qulonglong>(text.proof.bytes)));
    case TextState::kUnusable:
      return tr("Removed: %1").arg(QString::fromStdString(text.reason));
    default:
      return {};
  }
}

QString CacheListModel::memoryText() const {
  return tr("%1 of %2").arg(bytesText(totals_.memoryBytes), bytesText(totals_.memoryBudget));
}

QString CacheListModel::diskText() const {
  return tr("%1 of %2").arg(bytesText(totals_.diskBytes), bytesText(totals_.diskBudget));
}

double CacheListModel::memoryShare() const {
  return shareOf(totals_.memoryBytes, totals_.memoryBudget);
}

double CacheListModel::diskShare() const {
  return shareOf(totals_.diskBytes, totals_.diskBudget);
}

int CacheListModel::files() const {
  return static_cast<int>(std::ranges::count_if(rows_, [](const CachedText& text) {
    return text.place == CachePlace::kDisk && text.state != TextState::kUnusable &&
           text.state != TextState::kProofFailed;
  }));
}

void CacheListModel::setShown(bool shown) {
  if (std::exchange(shown_, shown) == shown) return;
  emit shownChanged();
  if (shown_) {
    ask();
  } else {
    timer_.stop();
  }
}

// One question at a time; the next a second after its answer.
void CacheListModel::ask() {
  timer_.stop();
  if (std::exchange(asked_, true)) return;
  backend_.listCaches([this, sender = post_.sender()](service::CacheListing listing) {
    sender([this, listing = std::move(listing)] {
      asked_ = false;
      setListing(listing);
      if (shown_) timer_.start();
    });
  });
}

bool CacheListModel::before(const CachedText& a, const CachedText& b) const {
  const auto value = [this](const CachedText& text) {
    switch (column_) {
      case Tokens:
        return static_cast<double>(text.tokens);
      case Size:
        return static_cast<double>(text.bytes);
      case Hits:
        return static_cast<double>(text.hits);
      case Age:
        return text.ageSeconds;
    }
    return 0.0;
  };
  // What needs attention comes first; what can't be used any more last.
  const auto rank = [](const CachedText& text) {
    return text.state == TextState::kProofFailed ? 0 : text.state == TextState::kUnusable ? 2 : 1;
  };
  const double one = descending_ ? -value(a) : value(a), other = descending_ ? -value(b) : value(b);
  using Place = std::tuple<int, double, const std::string&>;
  return Place(rank(a), one, a.key) < Place(rank(b), other, b.key);
}

// Rows that stay keep their place in the view, with its focus.
void CacheListModel::setListing(service::CacheListing listing) {
  std::vector<CachedText> next = std::exchange(listing.texts, {});
  totals_ = std::move(listing);
  known_ = true;
  std::ranges::sort(next, [this](const CachedText& a, const CachedText& b) { return before(a, b); });
  QSet<QString> keys;
  for (const CachedText& text : next)
    keys.insert(keyOf(text));
  for (int row = count() - 1; row >= 0; --row) {
    const QString key = keyOf(rows_[static_cast<std::size_t>(row)]);
    if (keys.contains(key)) continue;
    beginRemoveRows({}, row, row);
    rows_.erase(rows_.begin() + row);
    endRemoveRows();
    notes_.remove(key);
  }
  int moves = 0;
  for (std::size_t i = 0; i < next.size(); ++i) {
    const int row = static_cast<int>(i);
    if (i < rows_.size() && rows_[i].key == next[i].key) {
      rows_[i] = std::move(next[i]);
      continue;
    }
    if (++moves > kMostMoves) {
      beginResetModel();
      rows_.erase(rows_.begin() + row, rows_.end());
      std::move(next.begin() + row, next.end(), std::back_inserter(rows_));
      endResetModel();
      break;
    }
    const auto from = std::find_if(rows_.begin() + row, rows_.end(),
                                   [&](const CachedText& text) { return text.key == next[i].key; });
    if (from == rows_.end()) {
      beginInsertRows({}, row, row);
      rows_.insert(rows_.begin() + row, std::move(next[i]));
      endInsertRows();
    } else {
      const int place = static_cast<int>(from - rows_.begin());
      beginMoveRows({}, place, place, {}, row);
      std::rotate(rows_.begin() + row, from, from + 1);
      rows_[i] = std::move(next[i]);
      endMoveRows();
    }
  }
  if (!rows_.empty()) {
    emit dataChanged(index(0), index(count() - 1),
                     {HeadingRole, TokensRole, SizeRole, HitsRole, AgeRole, FingerprintRole, StateRole,
                      StateTextRole, DetailRole, ProvableRole});
  }
  emit changed();
}

void CacheListModel::sortBy(Column column) {
  descending_ = column == column_ ? !descending_ : true;
  column_ = column;
  emit layoutAboutToBeChanged();
  const QModelIndexList old = persistentIndexList();
  QStringList keys;
  for (const QModelIndex& one : old)
    keys << keyAt(one.row());
  std::ranges::sort(rows_, [this](const CachedText& a, const CachedText& b) { return before(a, b); });
  for (qsizetype i = 0; i < old.size(); ++i)
    changePersistentIndex(old[i], index(rowOf(keys[i])));
  emit layoutChanged();
  emit changed();
}

void CacheListModel::prove(const QString& key) {
  if (const auto known = proofs_.constFind(key); known != proofs_.constEnd()) {
    const std::shared_ptr<service::RequestHandle> handle = known->handle;
    if (handle) handle->cancel();
    return;
  }
  const int row = rowOf(key);
  if (row < 0 || !data(index(row), ProvableRole).toBool()) return;
  const quint64 number = ++proofNumbers_;
  notes_.remove(key);
  proofs_[key].number = number;
  proofs_[key].handle = backend_.proveText(
      key.toStdString(), [this, key, number, sender = post_.sender()](service::ProofEvent event) {
        sender([this, key, number, event = std::move(event)] { onProof(key, number, event); });
      });
  rowChanged(key, {StateTextRole, DetailRole, ProvingRole});
}

void CacheListModel::onProof(const QString& key, quint64 number, const service::ProofEvent& event) {
  const auto proof = proofs_.find(key);
  if (proof == proofs_.end() || proof->number != number) return;
  if (const auto* progress = std::get_if<service::ProofProgressEvent>(&event)) {
    proof->done = progress->done;
    proof->total = progress->total;
    rowChanged(key, {StateTextRole});
    return;
  }
  proofs_.erase(proof);
  if (const auto* error = std::get_if<Error>(&event); error && error->code != ErrorCode::kCancelled) {
    notes_[key] = tr("Not proved: %1").arg(QString::fromStdString(error->message));
  }
  rowChanged(key, {StateTextRole, DetailRole, ProvingRole});
  ask();  // the result is part of the list
}

void CacheListModel::drop(const QString& key) {
  const int row = rowOf(key);
  if (row < 0 || !data(index(row), DroppableRole).toBool()) return;
  backend_.dropText(key.toStdString());
  ask();
}

void CacheListModel::clearDisk() {
  backend_.clearDiskCache();
  ask();
}

QString CacheListModel::keyAt(int row) const {
  return row >= 0 && row < count() ? keyOf(rows_[static_cast<std::size_t>(row)]) : QString();
}

int CacheListModel::rowOf(const QString& key) const {
  const std::string wanted = key.toStdString();
  const auto found = std::ranges::find(rows_, wanted, &CachedText::key);
  return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
}

void CacheListModel::rowChanged(const QString& key, const QList<int>& roles) {
  if (const int row = rowOf(key); row >= 0) emit dataChanged(index(row), index(row), roles);
}

}  // namespace tandem::ui
