#include "ui/models/chat.h"

#include <QClipboard>
#include <QGuiApplication>
#include <algorithm>
#include <utility>

#include "app/conversation/json.h"

namespace tandem::ui {
namespace {

constexpr int kCountDelayMs = 120;  // after the last key, so that typing does not flood the tokenizer
constexpr int kWrittenMs = 100;     // between two counts of a growing answer

}  // namespace

Chat::Chat(ConversationListModel& list, MessageListModel& messages, ModelLibrary& models,
           AppSettings& settings, QObject* parent)
    : QObject(parent), list_(list), messages_(messages), models_(models), settings_(settings), post_(this) {
  countTimer_.setSingleShot(true);
  countTimer_.setInterval(kCountDelayMs);
  connect(&countTimer_, &QTimer::timeout, this, &Chat::count);
  writtenTimer_.setSingleShot(true);
  writtenTimer_.setInterval(kWrittenMs);
  connect(&writtenTimer_, &QTimer::timeout, this, &Chat::countsChanged);
  connect(&models_, &ModelLibrary::loaded, this, [this] {
    usedStale_ = true;
    countSoon();
  });
  connect(&settings_, &AppSettings::changed, this, [this] {
    if (id_ == 0) {
      leave();
      resetNext();
      emit settingsChanged();
    }
  });
  leave();
}

void Chat::setService(ConversationService* service) {
  service_ = service;
}

QString Chat::title() const {
  return id_ == 0 ? tr("New conversation") : title_;
}

const Chat::Running* Chat::running() const {
  for (const auto& [answer, state] : running_) {
    if (id_ != 0 && state.conversation == id_) {
      return &state;
    }
  }
  return nullptr;
}

Chat::Phase Chat::phase() const {
  const Running* state = running();
  return state != nullptr ? state->phase : sending_ ? Waiting : Idle;
}

double Chat::prefill() const {
  const Running* state = running();
  return state != nullptr && state->total > 0 ? static_cast<double>(state->done) / state->total : 0.0;
}

int Chat::ahead() const {
  const Running* state = running();
  return state != nullptr ? state->ahead : 0;
}

int Chat::contextUsed() const {
  const Running* state = running();
  return state != nullptr && state->total > 0 ? state->total + state->written : used_;
}

// Back to a conversation that is not begun: what is shown belongs to none.
void Chat::leave() {
  problem_.clear();
  title_.clear();
  sending_ = false;
  showCreated_ = false;
  showAfterOpen_ = 0;
  own_ = settings_.answerDefaults();
  systemPrompt_ = settings_.systemPrompt().toStdString();
  used_ = draftTokens_ = afterSending_ = -1;
  usedStale_ = true;
  ++counts_;
  countSoon();
}

void Chat::startNew() {
  leave();
  id_ = 0;
  resetNext();
  messages_.clear();
  emit opened();
  emit changed();
  emit countsChanged();
  emit settingsChanged();
}

// What was chosen for a conversation that never began doesn't count for the next one.
void Chat::resetNext() {
  if (service_ != nullptr) {
    service_->setSystemPrompt(0, systemPrompt_);
    service_->setSettings(0, own_);
  }
}

void Chat::open(qint64 conversation) {
  openAt(conversation, 0);
}

void Chat::openAt(qint64 conversation, qint64 message) {
  if (conversation == 0) {
    startNew();
    return;
  }
  if (conversation == id_ && messages_.rowOf(message) >= 0) {
    emit showMessage(message);
    return;
  }
  leave();
  showAfterOpen_ = message;
  if (conversation != id_) {
    id_ = conversation;
    title_ = list_.titleOf(conversation);
    messages_.clear();
    emit opened();
    emit changed();
    emit countsChanged();
  }
  service_->open(conversation);
}

void Chat::awaitCreation() {
  ++creationsAwaited_;
  showCreated_ = true;
}

void Chat::creationSeen() {
  creationsAwaited_ = std::max(0, creationsAwaited_ - 1);
}

void Chat::send(const QString& text) {
  if (text.trimmed().isEmpty() || answering()) {
    return;
  }
  problem_.clear();
  if (!models_.ready() && !models_.loading()) {
    problem_ = tr("No model is loaded. Open one under Models, then send again.");
    emit draftReturned(text);
    emit changed();
    return;
  }
  sending_ = true;
  if (id_ == 0) {
    awaitCreation();
  }
  service_->send(id_, text.toStdString());
  emit changed();
}

void Chat::stop() {
  if (id_ != 0) {
    service_->stop(id_);
  }
}

void Chat::regenerate(qint64 answer) {
  if (!answering()) {
    service_->regenerate(answer);
  }
}

void Chat::continueAnswer(qint64 answer) {
  if (!answering()) {
    service_->continueAnswer(answer);
  }
}

void Chat::edit(qint64 message, const QString& text) {
  if (!answering() && !text.trimmed().isEmpty()) {
    service_->edit(message, text.toStdString());
  }
}

void Chat::branch(qint64 message) {
  awaitCreation();
  service_->branch(message);
}

void Chat::stepVersion(qint64 message, int step) {
  if (!answering()) {
    service_->stepVersion(message, step);
  }
}

void Chat::copy(qint64 message) const {
  const storage::MessageRecord* record = messages_.message(message);
  if (record != nullptr) {
    QGuiApplication::clipboard()->setText(QString::fromStdString(record->content));
  }
}

void Chat::setDraft(const QString& draft) {
  if (draft == draft_) {
    return;
  }
  draft_ = draft;
  if (draft.isEmpty()) {
    draftTokens_ = afterSending_ = -1;
    emit countsChanged();
  }
  countSoon();
}

void Chat::setSystemPrompt(const QString& prompt) {
  systemPrompt_ = prompt.toStdString();
  service_->setSystemPrompt(id_, systemPrompt_);
  usedStale_ = true;
  countSoon();
  emit settingsChanged();
}

void Chat::configure(double temperature, int topK, double topP, double minP, const QString& seed,
                     int maxTokens, bool speculation) {
  own_.sampling.temperature = static_cast<float>(temperature);
  own_.sampling.topK = topK;
  own_.sampling.topP = static_cast<float>(topP);
  own_.sampling.minP = static_cast<float>(minP);
  own_.sampling.seed = seed.toULongLong(&own_.seedGiven);
  own_.maxTokens = maxTokens;
  if (speculation != own_.speculation.enabled())
    own_.speculation = speculation ? SpeculationOptions() : SpeculationOptions::off();
  service_->setSettings(id_, own_);
  emit settingsChanged();
}

void Chat::dismissProblem() {
  problem_.clear();
  emit changed();
}

void Chat::countSoon() {
  countTimer_.start();
}

void Chat::count() {
  if (service_ == nullptr || !models_.ready() || running() != nullptr) {
    return;
  }
  const quint64 number = ++counts_;
  if (!usedStale_) {
    countDraft(number);
    return;
  }
  service_->countContext(id_, std::string(), [this, number, sender = post_.sender()](Result<int> used) {
    sender([this, number, used = std::move(used)] {
      if (number != counts_) {
        return;
      }
      used_ = used.ok() ? used.value() : -1;
      usedStale_ = !used.ok();
      emit countsChanged();
      countDraft(number);
    });
  });
}

void Chat::countDraft(quint64 number) {
  if (draft_.isEmpty()) {
    return;
  }
  service_->countContext(id_, draft_.toStdString(), [this, number, sender = post_.sender()](Result<int> all) {
    sender([this, number, all = std::move(all)] {
      if (number != counts_ || draft_.isEmpty()) {
        return;
      }
      afterSending_ = all.ok() ? all.value() : -1;
      draftTokens_ = all.ok() && used_ >= 0 ? std::max(0, afterSending_ - used_) : -1;
      emit countsChanged();
    });
  });
}

void Chat::adopt(const ConversationView& view) {
  const bool another = id_ != view.record.id;
  id_ = view.record.id;
  title_ = QString::fromStdString(view.record.title);
  systemPrompt_ = view.record.systemPrompt;
  own_ = settingsFromJson(view.record.settingsJson, settings_.answerDefaults());
  sending_ = false;
  messages_.setPath(view.path);
  usedStale_ = true;
  countSoon();
  if (another) {
    emit opened();
  }
  emit changed();
  emit countsChanged();
  emit settingsChanged();
  if (const MessageId message = std::exchange(showAfterOpen_, 0); message != 0) {
    if (messages_.rowOf(message) >= 0) {
      emit showMessage(message);
    } else {
      showAfterOpen_ = message;
      service_->selectVersion(message);
    }
  }
}

void Chat::onView(const ConversationView& view) {
  const ConversationId id = view.record.id;
  bool writing = false;
  for (const storage::MessageRecord& record : view.path) {
    if (record.state == storage::MessageState::kStreaming) {
      running_[record.id].conversation = id;
      writing = true;
    } else {
      running_.erase(record.id);
    }
  }
  list_.setAnswering(id, writing);
  if (!known_.contains(id) && creationsAwaited_ > 0) {
    creationSeen();
    if (showCreated_ && creationsAwaited_ == 0) {
      known_.insert(id);
      showCreated_ = false;
      adopt(view);
      return;
    }
  }
  known_.insert(id);
  if (id == id_) {
    adopt(view);
  }
}

void Chat::onQueued(const AnswerQueued& event) {
  running_[event.answer].ahead = event.ahead;
  emit changed();
}

void Chat::onPrefill(const AnswerPrefill& event) {
  Running& state = running_[event.answer];
  state.phase = Reading;
  state.done = event.done;
  state.total = event.total;
  emit changed();
  emit countsChanged();
}

void Chat::onPieces(const AnswerPieces& event) {
  Running& state = running_[event.answer];
  const bool first = state.phase != Writing;
  state.phase = Writing;
  state.written += static_cast<int>(event.piece.tokens.size());
  messages_.append(event.answer, event.piece);
  if (first) {
    emit changed();
  }
  if (!writtenTimer_.isActive()) {
    writtenTimer_.start();
  }
}

void Chat::ended(MessageId answer) {
  const auto found = running_.find(answer);
  if (found != running_.end()) {
    list_.setAnswering(found->second.conversation, false);
    running_.erase(found);
  }
  messages_.finish(answer);
  usedStale_ = true;
  countSoon();
  emit changed();
  emit countsChanged();
}

void Chat::onFinished(const AnswerFinished& event) {
  ended(event.answer);
}

void Chat::onFailed(const AnswerFailed& event) {
  if (event.answer != 0) {
    ended(event.answer);
    return;
  }
  sending_ = false;
  if (showCreated_ && id_ == 0) {
    creationSeen();
    showCreated_ = false;
  }
  problem_ = QString::fromStdString(event.error.describe());
  if (!event.draft.empty()) {
    emit draftReturned(QString::fromStdString(event.draft));
  }
  emit changed();
}

void Chat::onListChanged() {
  if (creationsAwaited_ == 0) {
    for (int row = 0; row < list_.count(); ++row) {
      known_.insert(list_.idAt(row));
    }
  }
  if (id_ != 0 && list_.rowOf(id_) >= 0 && title_ != list_.titleOf(id_)) {
    title_ = list_.titleOf(id_);
    emit changed();
  }
}

}  // namespace tandem::ui
