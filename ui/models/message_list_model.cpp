#include "ui/models/message_list_model.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ui/models/answer_statistics.h"

namespace tandem::ui {
namespace {

using storage::MessageRecord;
using storage::MessageState;

QString noteFor(const MessageRecord& record) {
  switch (record.state) {
    case MessageState::kStopped:
      return MessageListModel::tr("Stopped.");
    case MessageState::kLength:
      return MessageListModel::tr("Cut: the limit of tokens or the context's end was reached.");
    case MessageState::kInterrupted:
      return MessageListModel::tr("Interrupted: the program ended while this was being written.");
    case MessageState::kComplete:
    case MessageState::kStreaming:
    case MessageState::kFailed:
      return {};
  }
  return {};
}

bool canContinue(const MessageRecord& record) {
  return record.role == storage::Role::kAssistant &&
         (record.state == MessageState::kStopped || record.state == MessageState::kLength ||
          record.state == MessageState::kInterrupted);
}

QVariantList legendOf(const MessageRecord& record) {
  std::array<int, kTokenOriginCount> counts{};
  for (const std::uint8_t origin : record.origins) {
    if (origin < counts.size()) {
      ++counts[origin];
    }
  }
  QVariantList legend;
  for (int origin = 0; origin < kTokenOriginCount; ++origin) {
    if (counts[origin] > 0) {
      legend.append(QVariantMap{
          {"origin", origin}, {"name", originName(TokenOrigin(origin))}, {"count", counts[origin]}});
    }
  }
  return legend;
}

void addRun(std::vector<markdown::OriginRun>& runs, qsizetype bytes, int origin) {
  if (runs.empty() || runs.back().origin != origin) {
    runs.push_back({0, origin});
  }
  runs.back().bytes += bytes;
}

// The origins of the record's text from byte `from` on.
std::vector<markdown::OriginRun> originRuns(const MessageRecord& record, std::size_t from) {
  std::vector<markdown::OriginRun> runs;
  std::size_t at = 0;
  for (std::size_t i = 0; i < std::min(record.origins.size(), record.textBytes.size()); ++i) {
    const std::size_t end = at + record.textBytes[i];
    if (end > from) {
      addRun(runs, static_cast<qsizetype>(end - std::max(at, from)), record.origins[i]);
    }
    at = end;
  }
  return runs;
}

std::vector<markdown::OriginRun> originRuns(const TextPiece& piece) {
  std::vector<markdown::OriginRun> runs;
  for (const PieceToken& token : piece.tokens) {
    addRun(runs, token.textBytes, static_cast<int>(token.origin));
  }
  return runs;
}

// Brings the body from the record's first `from` bytes to all of it.
void show(const MessageRecord& record, markdown::MarkdownMessage& body, std::size_t from) {
  const QByteArray rest(record.content.data() + from, static_cast<qsizetype>(record.content.size() - from));
  if (record.state != MessageState::kStreaming && from == 0) {
    body.setSource(rest, originRuns(record, 0));
    return;
  }
  if (!rest.isEmpty()) {
    body.append(rest, originRuns(record, from));
  }
  if (record.state != MessageState::kStreaming) {
    body.finish();
  }
}

// The same message, or another version of it: then its row stays, and with it the focus and the reader's
// place.
bool samePlace(const MessageRecord& a, const MessageRecord& b) {
  return a.conversation == b.conversation && a.parent == b.parent && a.role == b.role;
}

bool sameMessage(const MessageRecord& a, const MessageRecord& b) {
  return a.id == b.id && a.state == b.state && a.version == b.version && a.versionCount == b.versionCount &&
         a.content == b.content && a.error == b.error && a.statsJson == b.statsJson && a.parent == b.parent &&
         a.origins == b.origins;
}

}  // namespace

int MessageListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QHash<int, QByteArray> MessageListModel::roleNames() const {
  return {{MessageIdRole, "messageId"},
          {FromPersonRole, "fromPerson"},
          {BodyRole, "body"},
          {StreamingRole, "streaming"},
          {ProblemRole, "problem"},
          {NoteRole, "note"},
          {VersionRole, "version"},
          {VersionCountRole, "versionCount"},
          {CanContinueRole, "canContinue"},
          {StatisticsRole, "statistics"},
          {LegendRole, "legend"}};
}

QVariant MessageListModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) {
    return {};
  }
  const Row& row = rows_[static_cast<std::size_t>(index.row())];
  const MessageRecord& record = row.record;
  switch (role) {
    case MessageIdRole:
      return QVariant::fromValue<qint64>(record.id);
    case FromPersonRole:
      return record.role == storage::Role::kUser;
    case Qt::DisplayRole:
      return QString::fromStdString(record.content);
    case BodyRole:
      return QVariant::fromValue(row.body);
    case StreamingRole:
      return record.state == MessageState::kStreaming;
    case ProblemRole:
      return QString::fromStdString(record.error);
    case NoteRole:
      return noteFor(record);
    case VersionRole:
      return record.version;
    case VersionCountRole:
      return record.versionCount;
    case CanContinueRole:
      return canContinue(record);
    case StatisticsRole:
      return statisticsLine(record);
    case LegendRole:
      return legendOf(record);
    default:
      return {};
  }
}

MessageListModel::Row MessageListModel::makeRow(MessageRecord record) {
  auto* body = new markdown::MarkdownMessage(this);
  body->setPlain(record.role == storage::Role::kUser);
  Row row{std::move(record), body};
  show(row.record, *body, 0);
  return row;
}

void MessageListModel::replace(Row& row, MessageRecord record) {
  const std::string& shown = row.record.content;
  const bool goesOn = record.content.compare(0, shown.size(), shown) == 0;
  const std::size_t from = goesOn ? shown.size() : 0;
  row.record = std::move(record);
  if (!goesOn) {
    row.body->clear();
  }
  show(row.record, *row.body, from);
}

void MessageListModel::dropRows(std::size_t first) {
  for (std::size_t i = first; i < rows_.size(); ++i) {
    rows_[i].body->deleteLater();  // a delegate on its way out may still look at it
  }
  rows_.resize(first);
}

void MessageListModel::setPath(std::vector<MessageRecord> path) {
  for (MessageRecord& record : path) {
    if (record.state != MessageState::kStreaming) {
      live_.erase(record.id);
      continue;
    }
    const auto [gathered, isNew] = live_.try_emplace(record.id, record);
    if (!isNew && gathered->second.content.size() > record.content.size()) {
      record.content = gathered->second.content;
      record.tokenIds = gathered->second.tokenIds;
      record.origins = gathered->second.origins;
      record.textBytes = gathered->second.textBytes;
    } else {
      gathered->second = record;
    }
  }
  const std::size_t before = rows_.size();
  std::size_t kept = 0;
  while (kept < rows_.size() && kept < path.size() && samePlace(rows_[kept].record, path[kept])) {
    if (!sameMessage(rows_[kept].record, path[kept])) {
      replace(rows_[kept], std::move(path[kept]));
      const QModelIndex changed = index(static_cast<int>(kept));
      emit dataChanged(changed, changed);
    }
    ++kept;
  }
  if (kept < rows_.size()) {
    beginRemoveRows({}, static_cast<int>(kept), static_cast<int>(rows_.size()) - 1);
    dropRows(kept);
    endRemoveRows();
  }
  if (kept < path.size()) {
    beginInsertRows({}, static_cast<int>(kept), static_cast<int>(path.size()) - 1);
    for (std::size_t i = kept; i < path.size(); ++i) {
      rows_.push_back(makeRow(std::move(path[i])));
    }
    endInsertRows();
  }
  if (before != rows_.size()) {
    emit countChanged();
  }
}

void MessageListModel::clear() {
  if (rows_.empty()) {
    return;
  }
  beginResetModel();
  dropRows(0);
  endResetModel();
  emit countChanged();
}

void MessageListModel::append(MessageId answer, const TextPiece& piece) {
  const auto extend = [&piece](MessageRecord& record) {
    record.content += piece.text;
    for (const PieceToken& token : piece.tokens) {
      record.tokenIds.push_back(token.id);
      record.origins.push_back(static_cast<std::uint8_t>(token.origin));
      record.textBytes.push_back(token.textBytes);
    }
  };
  if (const auto gathered = live_.find(answer); gathered != live_.end()) {
    extend(gathered->second);
  }
  const int row = rowOf(answer);
  if (row < 0) {
    return;
  }
  MessageRecord& record = rows_[static_cast<std::size_t>(row)].record;
  extend(record);
  rows_[static_cast<std::size_t>(row)].body->append(
      QByteArray(piece.text.data(), static_cast<qsizetype>(piece.text.size())), originRuns(piece));
}

void MessageListModel::finish(MessageId answer) {
  live_.erase(answer);
}

const MessageRecord* MessageListModel::message(MessageId id) const {
  const int row = rowOf(id);
  return row < 0 ? nullptr : &rows_[static_cast<std::size_t>(row)].record;
}

int MessageListModel::rowOf(qint64 messageId) const {
  // The newest message is the one most often asked for.
  for (int row = count() - 1; row >= 0; --row) {
    if (rows_[static_cast<std::size_t>(row)].record.id == messageId) {
      return row;
    }
  }
  return -1;
}

qint64 MessageListModel::idAt(int row) const {
  return row >= 0 && row < count() ? rows_[static_cast<std::size_t>(row)].record.id : 0;
}

QString MessageListModel::contentOf(qint64 messageId) const {
  const MessageRecord* record = message(messageId);
  return record == nullptr ? QString() : QString::fromStdString(record->content);
}

}  // namespace tandem::ui
