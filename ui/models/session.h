// The root object the window is given: joins the conversation service, the models that QML shows and the
// person's settings, and carries the service's events to them once a frame. Lives on the GUI thread and owns
// everything below it; the store and the backend must outlive it.
#pragma once

#include <QtQml/qqmlregistration.h>

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>
#include <memory>

#include "app/conversation/conversation_service.h"
#include "ui/models/app_settings.h"
#include "ui/models/cache_list_model.h"
#include "ui/models/chat.h"
#include "ui/models/conversation_feed.h"
#include "ui/models/conversation_list_model.h"
#include "ui/models/gui_post.h"
#include "ui/models/message_list_model.h"
#include "ui/models/model_library.h"
#include "ui/models/search_model.h"

namespace tandem::ui {

class Session : public QObject {
  Q_OBJECT
  QML_ELEMENT
  QML_UNCREATABLE("Made by the program")
  Q_PROPERTY(tandem::ui::Chat* chat READ chat CONSTANT)
  Q_PROPERTY(tandem::ui::MessageListModel* messages READ messages CONSTANT)
  Q_PROPERTY(tandem::ui::ConversationListModel* conversations READ conversations CONSTANT)
  Q_PROPERTY(tandem::ui::SearchModel* found READ found CONSTANT)
  Q_PROPERTY(tandem::ui::ModelLibrary* models READ models CONSTANT)
  Q_PROPERTY(tandem::ui::CacheListModel* caches READ caches CONSTANT)
  Q_PROPERTY(tandem::ui::AppSettings* settings READ settings CONSTANT)
  Q_PROPERTY(QString storeTrouble READ storeTrouble NOTIFY storeTroubleChanged)

 public:
  struct Files {
    QString settings;  // the ini file
    QString models;    // the folder of model files
  };
  Session(storage::Store& store, service::EngineBackend& backend, const Files& files,
          QObject* parent = nullptr);
  // Stops running answers and waits, at most a second, until their text is on disk.
  ~Session() override;

  Chat* chat() { return &chat_; }
  MessageListModel* messages() { return &messages_; }
  ConversationListModel* conversations() { return &conversations_; }
  SearchModel* found() { return &found_; }
  ModelLibrary* models() { return &models_; }
  CacheListModel* caches() { return &caches_; }
  AppSettings* settings() { return &settings_; }
  QString storeTrouble() const { return storeTrouble_; }

  // Reads the list and opens the start model: `model` if given, else the one opened last, else the first
  // found.
  void start(const QString& model);

  Q_INVOKABLE void search(const QString& query);
  Q_INVOKABLE void rename(qint64 conversation, const QString& title);
  Q_INVOKABLE void setPinned(qint64 conversation, bool pinned);
  // Deletes; `removed` tells the window to offer Undo.
  Q_INVOKABLE void remove(qint64 conversation);
  Q_INVOKABLE void undoRemove(qint64 conversation);
  Q_INVOKABLE void purge(qint64 conversation);
  Q_INVOKABLE void copyText(const QString& text) const;

 signals:
  void storeTroubleChanged();
  void removed(qint64 conversation, const QString& title);

 private:
  void drainSoon();
  void drain();
  void dispatch(FeedEvent event);
  void applySettings();

  AppSettings settings_;
  ConversationListModel conversations_;
  MessageListModel messages_;
  SearchModel found_;
  ModelLibrary models_;
  CacheListModel caches_;
  service::EngineBackend& backend_;
  Chat chat_;
  QString storeTrouble_;
  QTimer drainTimer_;
  QElapsedTimer sinceDrain_;
  QTimer clock_;  // keeps the sidebar's times true
  int threads_ = 0;
  GuiPost post_;
  ConversationFeed feed_;
  std::unique_ptr<ConversationService> service_;  // calls feed_ until it is gone
};

}  // namespace tandem::ui
