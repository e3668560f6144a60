#include "ui/models/conversation_list_model.h"

#include <QDateTime>
#include <QLocale>
#include <algorithm>
#include <utility>

#include "ui/models/when.h"

namespace tandem::ui {

int ConversationListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(list_.size());
}

QHash<int, QByteArray> ConversationListModel::roleNames() const {
  return {{ConversationIdRole, "conversationId"},
          {TitleRole, "title"},
          {PinnedRole, "pinned"},
          {SectionRole, "section"},
          {SubtitleRole, "subtitle"},
          {AnsweringRole, "answering"}};
}

QVariant ConversationListModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) {
    return {};
  }
  const storage::ConversationRecord& record = list_[static_cast<std::size_t>(index.row())];
  const QDateTime time = QDateTime::fromMSecsSinceEpoch(record.updatedMs);
  switch (role) {
    case ConversationIdRole:
      return QVariant::fromValue<qint64>(record.id);
    case Qt::DisplayRole:
    case TitleRole:
      return QString::fromStdString(record.title);
    case PinnedRole:
      return record.pinned;
    case SectionRole:
      return sectionFor(record.pinned, time, QDateTime::currentDateTime());
    case SubtitleRole: {
      const QString when = whenText(time, QDateTime::currentDateTime());
      return record.tokens > 0 ? tr("%1 · %2 tokens").arg(when, QLocale().toString(qint64{record.tokens}))
                               : when;
    }
    case AnsweringRole:
      return answering_.contains(record.id);
    default:
      return {};
  }
}

void ConversationListModel::setList(std::vector<storage::ConversationRecord> list) {
  const bool sameRows =
      std::equal(list.begin(), list.end(), list_.begin(), list_.end(),
                 [](const auto& a, const auto& b) { return a.id == b.id && a.pinned == b.pinned; });
  if (sameRows) {
    list_ = std::move(list);
    refreshTimes();
    return;
  }
  const bool countDiffers = list.size() != list_.size();
  beginResetModel();
  list_ = std::move(list);
  endResetModel();
  if (countDiffers) {
    emit countChanged();
  }
}

void ConversationListModel::setAnswering(storage::ConversationId id, bool answering) {
  if (answering == answering_.contains(id)) {
    return;
  }
  if (answering) {
    answering_.insert(id);
  } else {
    answering_.remove(id);
  }
  if (const int row = rowOf(id); row >= 0) {
    emit dataChanged(index(row), index(row), {AnsweringRole});
  }
}

void ConversationListModel::refreshTimes() {
  if (!list_.empty()) {
    emit dataChanged(index(0), index(count() - 1));
  }
}

const storage::ConversationRecord* ConversationListModel::find(qint64 id) const {
  const int row = rowOf(id);
  return row < 0 ? nullptr : &list_[static_cast<std::size_t>(row)];
}

int ConversationListModel::rowOf(qint64 conversationId) const {
  const auto found = std::find_if(list_.begin(), list_.end(), [conversationId](const auto& record) {
    return record.id == conversationId;
  });
  return found == list_.end() ? -1 : static_cast<int>(found - list_.begin());
}

qint64 ConversationListModel::idAt(int row) const {
  return row >= 0 && row < count() ? list_[static_cast<std::size_t>(row)].id : 0;
}

QString ConversationListModel::titleOf(qint64 conversationId) const {
  const storage::ConversationRecord* record = find(conversationId);
  return record == nullptr ? QString() : QString::fromStdString(record->title);
}

}  // namespace tandem::ui
