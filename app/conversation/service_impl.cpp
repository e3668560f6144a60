// The service's thread, and what it tells and reads without a turn.
#include "app/conversation/service_impl.h"

#include <cstdio>
#include <utility>

#include "engine/sampler/sampler.h"

namespace tandem {

namespace {

constexpr std::chrono::milliseconds kCloseForce{
    400};  // an answer that has not stopped by then ends as it stands
constexpr std::chrono::milliseconds kCloseLimit{800};

// For a service without a listener.
class Nobody : public ConversationListener {
 public:
  void conversationsChanged(std::vector<storage::ConversationRecord>) override {}
  void conversationChanged(ConversationView) override {}
  void answerQueued(MessageId, int) override {}
  void answerPrefill(MessageId, int, int) override {}
  void answerPiece(MessageId, TextPiece) override {}
  void answerFinished(MessageId, GenerationStats) override {}
  void answerFailed(MessageId, Error, std::string) override {}
  void storeTrouble(std::string) override {}
};

Nobody nobody;

std::string hex(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

}  // namespace

ConversationService::Impl::Impl(storage::Store& store, service::EngineBackend& backend,
                                ConversationListener* listener, std::string client)
    : store_(store),
      backend_(backend),
      listener_(listener ? listener : &nobody),
      client_(std::move(client)),
      session_(hex(freshSeed())) {
  store_.onTrouble([this, inbox = inbox_](std::string sentence) {
    inbox->push(
        [this, sentence = std::move(sentence)]() mutable { listener_->storeTrouble(std::move(sentence)); });
  });
  if (const std::string trouble = store_.trouble(); !trouble.empty()) {
    run([this, trouble] { listener_->storeTrouble(trouble); });
  }
  thread_ = std::thread([this] { loop(); });
}

ConversationService::Impl::~Impl() {
  store_.onTrouble({});
  run([this] { close(); });
  thread_.join();
}

void ConversationService::Impl::loop() {
  std::optional<Clock::time_point> closingSince;
  while (!closingSince || !closed(*closingSince)) {
    for (Inbox::Task& task : inbox_->take(nextDeadline()))
      task();
    saveDue(Clock::now());
    if (closing_ && !closingSince) closingSince = Clock::now();
  }
  inbox_->close();
}

std::optional<ConversationService::Impl::Clock::time_point> ConversationService::Impl::nextDeadline() const {
  std::optional<Clock::time_point> next;
  if (closing_) next = Clock::now() + std::chrono::milliseconds(10);
  for (const auto& [conversation, turn] : turns_) {
    if (!turn->unsavedSince || turn->saving) continue;
    const auto due = *turn->unsavedSince + kSaveAfter;
    if (!next || due < *next) next = due;
  }
  return next;
}

void ConversationService::Impl::close() {
  closing_ = true;
  std::vector<TurnPtr> running = starting_;
  for (const auto& [conversation, turn] : turns_)
    running.push_back(turn);
  for (const TurnPtr& turn : running) {
    if (turn->handle && !turn->stopWanted) turn->handle->cancel();
  }
}

bool ConversationService::Impl::closed(Clock::time_point started) {
  const auto waited = Clock::now() - started;
  if (waited > kCloseForce) {
    std::vector<TurnPtr> late;
    for (const auto& [conversation, turn] : turns_) {
      if (turn->committed) late.push_back(turn);
    }
    for (const TurnPtr& turn : late) {
      GenerationStats stats;
      stats.completionTokens = turn->newTokens();
      stats.finish = FinishReason::kCancelled;
      onFinished(turn, stats);
    }
  }
  return waited > kCloseLimit || (starting_.empty() && turns_.empty() && ending_.empty());
}

void ConversationService::Impl::write(storage::Store::Job job, std::function<void(Status)> done) {
  store_.post(std::move(job), [inbox = inbox_, done = std::move(done)](Status status) {
    inbox->push([done, status = std::move(status)] { done(status); });
  });
}

void ConversationService::Impl::tell(ConversationView view) {
  // The store may be behind what has been streamed; what is shown never is.
  for (storage::MessageRecord& message : view.path) {
    const auto ending = ending_.find(message.id);
    const auto running = turns_.find(view.record.id);
    const Turn* turn = ending != ending_.end() ? ending->second.get() : nullptr;
    if (!turn && running != turns_.end() && running->second->committed) turn = running->second.get();
    if (!turn || turn->answer.id != message.id) continue;
    const int version = message.version;
    const int versions = message.versionCount;
    message = turn->answer;
    message.version = version;
    message.versionCount = versions;
  }
  ++told_[view.record.id];
  listener_->conversationChanged(std::move(view));
}

void ConversationService::Impl::setDefaults(AnswerSettings defaults, std::string systemPrompt) {
  defaults_ = std::move(defaults);
  defaultPrompt_ = std::move(systemPrompt);
}

void ConversationService::Impl::refreshList() {
  if (std::exchange(listAsked_, true)) {
    listAgain_ = true;
    return;
  }
  auto list = std::make_shared<std::vector<storage::ConversationRecord>>();
  store_.query(
      [list](storage::Reader& reader) {
        auto all = reader.conversations();
        if (all) *list = std::move(*all);
        return all.status();
      },
      [this, inbox = inbox_, list](Status status) {
        inbox->push([this, list, status = std::move(status)] {
          listAsked_ = false;
          if (status) listener_->conversationsChanged(std::move(*list));
          if (std::exchange(listAgain_, false)) refreshList();
        });
      });
}

void ConversationService::Impl::open(ConversationId id) {
  auto view = std::make_shared<ConversationView>();
  const int toldBefore = told_[id];
  store_.query(
      [view, id](storage::Reader& reader) {
        auto read = readView(reader, id);
        if (read) *view = std::move(*read);
        return read.status();
      },
      [this, inbox = inbox_, view, id, toldBefore](Status status) {
        inbox->push([this, view, id, toldBefore, status = std::move(status)] {
          // A newer view may have been told since the question; then this one is stale.
          if (status && told_[id] == toldBefore) tell(std::move(*view));
          if (!status) listener_->answerFailed(0, status.error(), {});
        });
      });
}

void ConversationService::Impl::writeAndShow(std::function<Result<ConversationId>(storage::Writer&)> job) {
  auto view = std::make_shared<ConversationView>();
  write(
      [job = std::move(job), view](storage::Writer& writer) {
        const Result<ConversationId> id = job(writer);
        if (!id) return id.status();
        auto read = readView(writer, *id);
        if (read) *view = std::move(*read);
        return read.status();
      },
      [this, view](const Status& status) {
        if (status) {
          tell(std::move(*view));
          refreshList();
        } else {
          listener_->answerFailed(0, status.error(), {});
        }
      });
}

}  // namespace tandem
