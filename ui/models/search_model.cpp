#include "ui/models/search_model.h"

#include <QDateTime>
#include <utility>

#include "ui/models/when.h"

namespace tandem::ui {

int SearchModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(hits_.size());
}

QHash<int, QByteArray> SearchModel::roleNames() const {
  return {{ConversationIdRole, "conversationId"},
          {MessageIdRole, "messageId"},
          {TitleRole, "title"},
          {SnippetRole, "snippet"},
          {WhenRole, "when"}};
}

QVariant SearchModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) {
    return {};
  }
  const storage::SearchHit& hit = hits_[static_cast<std::size_t>(index.row())];
  switch (role) {
    case ConversationIdRole:
      return QVariant::fromValue<qint64>(hit.conversation);
    case MessageIdRole:
      return QVariant::fromValue<qint64>(hit.message);
    case Qt::DisplayRole:
    case TitleRole:
      return QString::fromStdString(hit.title);
    case SnippetRole:
      return QString::fromStdString(hit.snippet).simplified();
    case WhenRole:
      return whenText(QDateTime::fromMSecsSinceEpoch(hit.updatedMs), QDateTime::currentDateTime());
    default:
      return {};
  }
}

void SearchModel::setQuery(const QString& query) {
  query_ = query;
  settled_ = query.isEmpty();
  if (query.isEmpty() && !hits_.empty()) {
    beginResetModel();
    hits_.clear();
    endResetModel();
  }
  emit changed();
}

void SearchModel::setHits(const QString& query, std::vector<storage::SearchHit> hits) {
  if (query != query_) {
    return;  // the person has typed on
  }
  beginResetModel();
  hits_ = std::move(hits);
  endResetModel();
  settled_ = true;
  emit changed();
}

}  // namespace tandem::ui
