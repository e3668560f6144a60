// The chosen path of the open conversation, one row a message. Lives and changes on the GUI thread only.
//
// While an answer streams, its row grows by append(); only the roles that changed are announced. A new view
// of the conversation keeps the rows whose message is unchanged, so delegates and the reader's place survive
// it.
#pragma once

#include <QtQml/qqmlregistration.h>

#include <QAbstractListModel>
#include <unordered_map>
#include <vector>

#include "app/conversation/conversation_service.h"
#include "ui/markdown/markdown_message.h"

namespace tandem::ui {

class MessageListModel : public QAbstractListModel {
  Q_OBJECT
  QML_ELEMENT
  QML_UNCREATABLE("Owned by Session")
  Q_PROPERTY(int count READ count NOTIFY countChanged)

 public:
  enum Role {
    MessageIdRole = Qt::UserRole + 1,
    FromPersonRole,    // bool: written by the person, not the model
    BodyRole,          // markdown::MarkdownMessage*, what is drawn; owned by this model
    StreamingRole,     // bool
    ProblemRole,       // QString: the sentence shown in a failed answer
    NoteRole,          // QString: "Stopped", "Cut at the end of the context", ... or empty
    VersionRole,       // int, 1-based
    VersionCountRole,  // int
    CanContinueRole,   // bool
    StatisticsRole,    // QString: the grey line under an answer
    LegendRole,        // list of {origin: int, name: string, count: int}, origins that occur only
  };
  Q_ENUM(Role)

  using QAbstractListModel::QAbstractListModel;

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;
  int count() const { return static_cast<int>(rows_.size()); }

  // Replaces the path; a message that streams keeps the text gathered by append() where that is longer.
  void setPath(std::vector<storage::MessageRecord> path);
  void clear();
  // Adds a piece to a streaming answer, whether it is on the shown path or not.
  void append(MessageId answer, const TextPiece& piece);
  // Forgets the text gathered for an answer that has ended.
  void finish(MessageId answer);

  const storage::MessageRecord* message(MessageId id) const;
  Q_INVOKABLE int rowOf(qint64 messageId) const;
  Q_INVOKABLE qint64 idAt(int row) const;
  Q_INVOKABLE QString contentOf(qint64 messageId) const;

 signals:
  void countChanged();

 private:
  struct Row {
    storage::MessageRecord record;
    markdown::MarkdownMessage* body;  // a child of the model
  };
  Row makeRow(storage::MessageRecord record);
  void replace(Row& row, storage::MessageRecord record);
  void dropRows(std::size_t first);

  std::vector<Row> rows_;
  std::unordered_map<MessageId, storage::MessageRecord> live_;  // answers being written, as far as they came
};

}  // namespace tandem::ui
