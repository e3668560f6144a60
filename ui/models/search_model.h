// What the sidebar's search found, best first. Lives on the GUI thread; filled by Session.
#pragma once

#include <QtQml/qqmlregistration.h>

#include <QAbstractListModel>
#include <vector>

#include "storage/records.h"

namespace tandem::ui {

class SearchModel : public QAbstractListModel {
  Q_OBJECT
  QML_ELEMENT
  QML_UNCREATABLE("Owned by Session")
  Q_PROPERTY(int count READ count NOTIFY changed)
  Q_PROPERTY(QString query READ query NOTIFY changed)
  // The hits shown belong to `query`; false while the answer is awaited.
  Q_PROPERTY(bool settled READ settled NOTIFY changed)

 public:
  enum Role {
    ConversationIdRole = Qt::UserRole + 1,
    MessageIdRole,  // 0: the title matched
    TitleRole,
    SnippetRole,
    WhenRole,
  };

  using QAbstractListModel::QAbstractListModel;

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

  int count() const { return static_cast<int>(hits_.size()); }
  QString query() const { return query_; }
  bool settled() const { return settled_; }

  void setQuery(const QString& query);
  void setHits(const QString& query, std::vector<storage::SearchHit> hits);

 signals:
  void changed();

 private:
  QString query_;
  bool settled_ = true;
  std::vector<storage::SearchHit> hits_;
};

}  // namespace tandem::ui
