// The sidebar's list: every conversation, pinned ones first, then newest first, with the heading it stands
// under. Lives and changes on the GUI thread only.
#pragma once

#include <QtQml/qqmlregistration.h>

#include <QAbstractListModel>
#include <QSet>
#include <vector>

#include "storage/records.h"

namespace tandem::ui {

class ConversationListModel : public QAbstractListModel {
  Q_OBJECT
  QML_ELEMENT
  QML_UNCREATABLE("Owned by Session")
  Q_PROPERTY(int count READ count NOTIFY countChanged)

 public:
  enum Role {
    ConversationIdRole = Qt::UserRole + 1,
    TitleRole,
    PinnedRole,
    SectionRole,    // QString, the heading
    SubtitleRole,   // "now · 1,241 tokens"
    AnsweringRole,  // bool: an answer of it is being written
  };

  using QAbstractListModel::QAbstractListModel;

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;
  int count() const { return static_cast<int>(list_.size()); }

  // The new list, in the order to show. Rows that stay in place are only updated.
  void setList(std::vector<storage::ConversationRecord> list);
  void setAnswering(storage::ConversationId id, bool answering);
  // Times have moved on: "now" becomes "14:02".
  void refreshTimes();

  const storage::ConversationRecord* find(qint64 id) const;
  Q_INVOKABLE int rowOf(qint64 conversationId) const;
  Q_INVOKABLE qint64 idAt(int row) const;
  Q_INVOKABLE QString titleOf(qint64 conversationId) const;

 signals:
  void countChanged();

 private:
  std::vector<storage::ConversationRecord> list_;
  QSet<qint64> answering_;
};

}  // namespace tandem::ui
