// The conversation that is open: what the chat view shows besides its messages, and everything a person can
// do to it. Talks to the ConversationService; all state changes on the GUI thread when a batch of the feed
// arrives (Session hands it over). Conversation 0 is one not yet begun: the first send makes it.
#pragma once

#include <QtQml/qqmlregistration.h>

#include <QObject>
#include <QSet>
#include <QString>
#include <QTimer>
#include <unordered_map>

#include "app/conversation/conversation_service.h"
#include "ui/models/app_settings.h"
#include "ui/models/conversation_feed.h"
#include "ui/models/conversation_list_model.h"
#include "ui/models/gui_post.h"
#include "ui/models/message_list_model.h"
#include "ui/models/model_library.h"

namespace tandem::ui {

class Chat : public QObject {
  Q_OBJECT
  QML_ELEMENT
  QML_UNCREATABLE("Owned by Session")
  Q_PROPERTY(double conversationId READ conversationId NOTIFY opened)
  Q_PROPERTY(QString title READ title NOTIFY changed)
  Q_PROPERTY(Phase phase READ phase NOTIFY changed)
  Q_PROPERTY(bool answering READ answering NOTIFY changed)
  Q_PROPERTY(double prefill READ prefill NOTIFY changed)   // 0 to 1 while the prompt is read
  Q_PROPERTY(int ahead READ ahead NOTIFY changed)          // requests before this one while it waits
  Q_PROPERTY(QString problem READ problem NOTIFY changed)  // shown above the composer; empty: none
  // The meter. -1: not known yet.
  Q_PROPERTY(int contextUsed READ contextUsed NOTIFY countsChanged)
  Q_PROPERTY(int draftTokens READ draftTokens NOTIFY countsChanged)
  Q_PROPERTY(int afterSending READ afterSending NOTIFY countsChanged)
  // How the answers of this conversation are made.
  Q_PROPERTY(QString systemPrompt READ systemPrompt NOTIFY settingsChanged)
  Q_PROPERTY(double temperature READ temperature NOTIFY settingsChanged)
  Q_PROPERTY(int topK READ topK NOTIFY settingsChanged)
  Q_PROPERTY(double topP READ topP NOTIFY settingsChanged)
  Q_PROPERTY(double minP READ minP NOTIFY settingsChanged)
  Q_PROPERTY(QString seed READ seed NOTIFY settingsChanged)  // empty: a fresh one each time
  Q_PROPERTY(int maxTokens READ maxTokens NOTIFY settingsChanged)
  Q_PROPERTY(bool speculation READ speculation NOTIFY settingsChanged)

 public:
  enum Phase { Idle, Waiting, Reading, Writing };
  Q_ENUM(Phase)

  Chat(ConversationListModel& list, MessageListModel& messages, ModelLibrary& models, AppSettings& settings,
       QObject* parent = nullptr);
  void setService(ConversationService* service);

  qint64 conversationId() const { return id_; }
  QString title() const;
  Phase phase() const;
  bool answering() const { return phase() != Idle; }
  double prefill() const;
  int ahead() const;
  QString problem() const { return problem_; }
  int contextUsed() const;
  int draftTokens() const { return draftTokens_; }
  int afterSending() const { return afterSending_; }
  QString systemPrompt() const { return QString::fromStdString(systemPrompt_); }
  double temperature() const { return own_.sampling.temperature; }
  int topK() const { return static_cast<int>(own_.sampling.topK); }
  double topP() const { return own_.sampling.topP; }
  double minP() const { return own_.sampling.minP; }
  QString seed() const { return own_.seedGiven ? QString::number(own_.sampling.seed) : QString(); }
  int maxTokens() const { return own_.maxTokens; }
  bool speculation() const { return own_.speculation.enabled(); }

  Q_INVOKABLE void startNew();
  Q_INVOKABLE void open(qint64 conversation);
  Q_INVOKABLE void openAt(qint64 conversation, qint64 message);  // and shows this message
  Q_INVOKABLE void send(const QString& text);
  Q_INVOKABLE void stop();
  Q_INVOKABLE void regenerate(qint64 answer);
  Q_INVOKABLE void continueAnswer(qint64 answer);
  Q_INVOKABLE void edit(qint64 message, const QString& text);
  Q_INVOKABLE void branch(qint64 message);
  Q_INVOKABLE void stepVersion(qint64 message, int step);  // -1: the version before, 1: the next
  Q_INVOKABLE void copy(qint64 message) const;             // the exact bytes of the message
  Q_INVOKABLE void setDraft(const QString& draft);         // what the composer holds, for the count
  Q_INVOKABLE void setSystemPrompt(const QString& prompt);
  Q_INVOKABLE void configure(double temperature, int topK, double topP, double minP, const QString& seed,
                             int maxTokens, bool speculation);
  Q_INVOKABLE void dismissProblem();

  // From Session, once a frame.
  void onView(const ConversationView& view);
  void onQueued(const AnswerQueued& event);
  void onPrefill(const AnswerPrefill& event);
  void onPieces(const AnswerPieces& event);
  void onFinished(const AnswerFinished& event);
  void onFailed(const AnswerFailed& event);
  void onListChanged();

 signals:
  void opened();  // another conversation is shown
  void changed();
  void countsChanged();
  void settingsChanged();
  void draftReturned(const QString& text);  // a send was refused; nothing is lost
  void showMessage(qint64 message);         // scroll to it

 private:
  struct Running {
    ConversationId conversation = 0;
    Phase phase = Waiting;
    int ahead = 0;
    int done = 0, total = 0;  // prompt tokens
    int written = 0;          // tokens of this answer so far
  };
  void leave();
  void resetNext();
  void adopt(const ConversationView& view);
  void awaitCreation();
  void creationSeen();
  void countSoon();
  void count();
  void countDraft(quint64 number);
  const Running* running() const;
  void ended(MessageId answer);

  ConversationListModel& list_;
  MessageListModel& messages_;
  ModelLibrary& models_;
  AppSettings& settings_;
  ConversationService* service_ = nullptr;

  ConversationId id_ = 0;
  // send(0) and branch() make conversations whose ids arrive later, in order: an unknown id is one of them,
  // and the last one asked for is the one to show.
  QSet<qint64> known_;
  int creationsAwaited_ = 0;
  bool showCreated_ = false;
  bool sending_ = false;  // sent, and the service has not answered yet
  MessageId showAfterOpen_ = 0;
  QString title_;
  QString problem_;
  std::string systemPrompt_;
  AnswerSettings own_;
  std::unordered_map<MessageId, Running> running_;

  QString draft_;
  int used_ = -1;
  int draftTokens_ = -1;
  int afterSending_ = -1;
  bool usedStale_ = true;
  quint64 counts_ = 0;  // the newest count's number
  QTimer countTimer_;
  QTimer writtenTimer_;  // a number that grows with every token is shown as often as it can be read
  GuiPost post_;
};

}  // namespace tandem::ui
