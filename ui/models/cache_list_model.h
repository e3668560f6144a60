// The Caches view's list: every entry of the caches in memory and on disk, and what is done with one. While
// it is shown it asks the backend for a new list a second after the last one came; the GUI thread never
// waits. Lives and changes on the GUI thread only.
#pragma once

#include <QtQml/qqmlregistration.h>

#include <QAbstractListModel>
#include <QHash>
#include <QTimer>
#include <memory>
#include <vector>

#include "app/service/engine_backend.h"
#include "ui/models/gui_post.h"

namespace tandem::ui {

class ConversationListModel;

class CacheListModel : public QAbstractListModel {
  Q_OBJECT
  QML_ELEMENT
  QML_UNCREATABLE("Owned by Session")
  Q_PROPERTY(int count READ count NOTIFY changed)
  Q_PROPERTY(bool known READ known NOTIFY changed)  // a list has come
  Q_PROPERTY(bool shown READ shown WRITE setShown NOTIFY shownChanged)
  Q_PROPERTY(Column sortColumn READ sortColumn NOTIFY changed)
  Q_PROPERTY(bool descending READ descending NOTIFY changed)
  Q_PROPERTY(bool hasMemory READ hasMemory NOTIFY changed)  // there is a cache in memory
  Q_PROPERTY(bool diskEnabled READ diskEnabled NOTIFY changed)
  Q_PROPERTY(QString memoryText READ memoryText NOTIFY changed)  // "12.4 MB of 1 GB"
  Q_PROPERTY(QString diskText READ diskText NOTIFY changed)
  Q_PROPERTY(double memoryShare READ memoryShare NOTIFY changed)  // 0 to 1
  Q_PROPERTY(double diskShare READ diskShare NOTIFY changed)
  Q_PROPERTY(int files READ files NOTIFY changed)  // on disk
  Q_PROPERTY(QString trouble READ trouble NOTIFY changed)

 public:
  enum Role {
    KeyRole = Qt::UserRole + 1,
    HeadingRole,      // the conversation's title, or the first words
    WordsRole,        // the first words, in one line
    PlaceRole,        // "Memory", "Disk"
    KindRole,         // "Pages", "Snapshot", "Prompt end", "End anchor"
    TokensRole,       // "1,241", of a later file "1,024 – 1,241"
    SizeRole,         // "1.4 MB"
    HitsRole,         // "3"
    AgeRole,          // "2 min"
    FingerprintRole,  // 32 digits, or empty
    StateRole,        // State
    StateTextRole,    // "Proven", "Cannot be used"
    DetailRole,       // what there is to say of the state, or empty
    ProvingRole,      // bool: its proof waits or runs
    ProvableRole,     // bool
    DroppableRole,    // bool
  };
  enum Column { Tokens, Size, Hits, Age };
  Q_ENUM(Column)
  enum State { Usable, Pinned, Proven, ProofFailed, Foreign, Unusable };
  Q_ENUM(State)

  // Titles are taken from the list of conversations. REQUIRES: both outlive the model.
  CacheListModel(service::EngineBackend& backend, const ConversationListModel& conversations,
                 QObject* parent = nullptr);
  ~CacheListModel() override;

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

  int count() const { return static_cast<int>(rows_.size()); }
  bool known() const { return known_; }
  bool shown() const { return shown_; }
  void setShown(bool shown);
  Column sortColumn() const { return column_; }
  bool descending() const { return descending_; }
  bool hasMemory() const { return totals_.memoryBudget > 0; }
  bool diskEnabled() const { return totals_.diskEnabled; }
  QString memoryText() const;
  QString diskText() const;
  double memoryShare() const;
  double diskShare() const;
  int files() const;
  QString trouble() const { return QString::fromStdString(totals_.diskTrouble); }

  // Another column is sorted by its largest first; the same one the other way round.
  Q_INVOKABLE void sortBy(tandem::ui::CacheListModel::Column column);
  Q_INVOKABLE void prove(const QString& key);  // or stops its proof
  Q_INVOKABLE void drop(const QString& key);
  Q_INVOKABLE void clearDisk();
  Q_INVOKABLE QString keyAt(int row) const;
  // A list came from the backend.
  void setListing(service::CacheListing listing);

 signals:
  void changed();
  void shownChanged();

 private:
  struct Proof {
    std::shared_ptr<service::RequestHandle> handle;
    quint64 number = 0;
    int done = 0, total = 0;
  };
  void ask();
  void onProof(const QString& key, quint64 number, const service::ProofEvent& event);
  void rowChanged(const QString& key, const QList<int>& roles);
  int rowOf(const QString& key) const;
  bool before(const service::CachedText& a, const service::CachedText& b) const;
  QString titleOf(const service::CachedText& text) const;
  QString detailOf(const service::CachedText& text, const QString& key) const;
  QString stateText(const service::CachedText& text, const QString& key) const;

  service::EngineBackend& backend_;
  const ConversationListModel& conversations_;
  std::vector<service::CachedText> rows_;
  service::CacheListing totals_;   // without its texts
  QHash<QString, Proof> proofs_;   // that wait or run
  QHash<QString, QString> notes_;  // why the last proof of an entry did not end
  Column column_ = Age;
  bool descending_ = false;  // what was used last first
  bool known_ = false, shown_ = false, asked_ = false;
  quint64 proofNumbers_ = 0;
  QTimer timer_;  // until the next list is asked for
  GuiPost post_;
};

}  // namespace tandem::ui
