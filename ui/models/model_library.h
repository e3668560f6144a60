// The model files on disk and the model that is loaded. Lists the *.gguf files of the models folder (kept
// fresh by a file watcher) and one opened from elsewhere; loads through the backend, whose events are brought
// to the GUI thread. Lives on the GUI thread.
#pragma once

#include <QtQml/qqmlregistration.h>

#include <QAbstractListModel>
#include <QFileSystemWatcher>
#include <QString>
#include <QUrl>
#include <optional>
#include <vector>

#include "app/service/engine_backend.h"
#include "ui/models/gui_post.h"

namespace tandem::ui {

class ModelLibrary : public QAbstractListModel {
  Q_OBJECT
  QML_ELEMENT
  QML_UNCREATABLE("Owned by Session")
  Q_PROPERTY(int count READ count NOTIFY listChanged)
  Q_PROPERTY(QString folder READ folder CONSTANT)
  Q_PROPERTY(bool loading READ loading NOTIFY changed)
  Q_PROPERTY(double progress READ progress NOTIFY changed)         // 0 to 1 while loading
  Q_PROPERTY(QString loadingName READ loadingName NOTIFY changed)  // file name being loaded
  Q_PROPERTY(QString problem READ problem NOTIFY changed)          // why the last load failed, or empty
  Q_PROPERTY(bool ready READ ready NOTIFY changed)                 // a model is loaded
  Q_PROPERTY(QString name READ name NOTIFY changed)
  Q_PROPERTY(QString label READ label NOTIFY changed)  // "SmolLM2 135M Instruct · Q4_1"
  Q_PROPERTY(QString details READ details NOTIFY changed)
  Q_PROPERTY(QString endTokens READ endTokens NOTIFY changed)
  Q_PROPERTY(bool completionMode READ completionMode NOTIFY changed)  // loaded, without a chat template
  Q_PROPERTY(int contextLength READ contextLength NOTIFY changed)
  Q_PROPERTY(QString path READ path NOTIFY changed)

 public:
  enum Role {
    NameRole = Qt::UserRole + 1,  // file name without its ending
    PathRole,
    SizeRole,     // "98.4 MB"
    CurrentRole,  // bool: this is the loaded model
    LoadingRole,  // bool
  };

  ModelLibrary(service::EngineBackend& backend, QString folder, QObject* parent = nullptr);

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

  int count() const { return static_cast<int>(files_.size()); }
  QString folder() const { return folder_; }
  bool loading() const { return !loadingPath_.isEmpty(); }
  double progress() const { return progress_; }
  QString loadingName() const;
  QString problem() const { return problem_; }
  bool ready() const { return info_.has_value(); }
  QString name() const;
  QString label() const;
  QString details() const;
  QString endTokens() const;
  bool completionMode() const { return info_ && !info_->hasChatTemplate; }
  int contextLength() const { return info_ ? info_->contextLength : 0; }
  QString path() const { return info_ ? QString::fromStdString(info_->path) : QString(); }

  // Loads a file given by path or file: URL; a load that is still waiting is given up for it.
  Q_INVOKABLE void load(const QString& pathOrUrl);
  Q_INVOKABLE void reload();  // the loaded model again, with the threads set now
  Q_INVOKABLE void dismissProblem();
  Q_INVOKABLE void rescan();
  void setThreads(int threads) { threads_ = threads; }

  // The file to open at start when none is named: the one opened last if it is still there, else the first
  // in the folder, else empty.
  QString startChoice(const QString& openedLast) const;

 signals:
  void changed();
  void listChanged();
  void aboutToLoad();  // running answers must be stopped before the model changes
  void loaded(QString path);

 private:
  struct File {
    QString path;
    qint64 bytes;
  };
  void onEvent(quint64 load, const service::LoadEvent& event);
  void rowsChanged(const QList<int>& roles);

  service::EngineBackend& backend_;
  QString folder_;
  std::vector<File> files_;
  QFileSystemWatcher watcher_;
  std::optional<service::ModelInfo> info_;
  QString loadingPath_;
  double progress_ = 0;
  QString problem_;
  int threads_ = 0;
  quint64 loads_ = 0;  // the newest load's number; events of earlier ones are dropped
  GuiPost post_;
};

}  // namespace tandem::ui
