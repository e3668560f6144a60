// The way of a turn through the service: written, submitted, streamed, ended.
#include <algorithm>

#include "app/conversation/json.h"
#include "app/conversation/service_impl.h"
#include "engine/sampler/sampler.h"

namespace tandem {

using storage::MessageState;

namespace {

// What the backend chose is what the answer was sampled with.
void noteChosen(Turn& turn, const std::optional<service::ChosenSampling>& chosen) {
  if (!chosen) return;
  turn.chosen = chosen;
  turn.samplingKind = chosen->kind;
  turn.answer.samplingJson = samplingToJson(chosen->params, chosen->kind);
}

Error stoppedEarly() {
  return {ErrorCode::kCancelled, "Stopped before it was saved.", {}, std::nullopt};
}

}  // namespace

void ConversationService::Impl::begin(Turn::Kind kind, ConversationId conversation, MessageId source,
                                      std::string text) {
  const auto turn = std::make_shared<Turn>();
  turn->kind = kind;
  turn->conversation = conversation;
  turn->source = source;
  turn->text = std::move(text);
  turn->defaults = defaults_;
  turn->freshSeed = freshSeed();
  turn->arrivedMs = nowMs();
  const std::optional<service::ModelInfo> model = backend_.model();
  if (model) turn->modelName = model->name;

  if (closing_) return refuse(*turn, {ErrorCode::kCancelled, "The program is closing.", {}, std::nullopt});
  if (conversation != 0 && turns_.contains(conversation)) {
    return refuse(
        *turn,
        {ErrorCode::kBusy, "This conversation is being answered; wait or stop it first.", {}, std::nullopt});
  }
  const bool writesText = kind == Turn::Kind::kSend || kind == Turn::Kind::kEdit;
  if (!writesText && !model) {
    return refuse(*turn, {ErrorCode::kNotFound, "No model is loaded. Choose one first.", {}, std::nullopt});
  }
  if (writesText && turn->text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return refuse(*turn, {ErrorCode::kInvalidArgument, "There is nothing to send yet.", {}, std::nullopt});
  }
  if (conversation == 0) {
    if (nextSettings_) turn->newSettingsJson = settingsToJson(*nextSettings_, defaults_);
    turn->newSystemPrompt = nextPrompt_.value_or(defaultPrompt_);
    nextSettings_.reset();
    nextPrompt_.reset();
    starting_.push_back(turn);
  } else {
    turns_[conversation] = turn;
  }
  write([turn](storage::Writer& writer) { return writeTurn(writer, *turn); },
        [this, turn](const Status& status) { onWritten(turn, status); });
}

void ConversationService::Impl::beginAt(Turn::Kind kind, MessageId source, std::string text) {
  const auto lookup = std::make_shared<Lookup>();
  lookups_.push_back(lookup);
  store_.query(
      [lookup, source](storage::Reader& reader) {
        const auto message = reader.message(source);
        if (message) lookup->conversation = message->conversation;
        return message.status();
      },
      [this, inbox = inbox_, lookup, kind, source, text = std::move(text)](const Status& status) {
        inbox->push([this, status, lookup, kind, source, text] {
          std::erase(lookups_, lookup);
          const auto& stops = lookup->stops;
          if (!status) {
            listener_->answerFailed(0, status.error(), text);
          } else if (std::find(stops.begin(), stops.end(), lookup->conversation) != stops.end()) {
            listener_->answerFailed(0, stoppedEarly(), text);
          } else {
            begin(kind, lookup->conversation, source, text);
          }
        });
      });
}

void ConversationService::Impl::refuse(const Turn& turn, const Error& error) {
  listener_->answerFailed(0, error, turn.text);
}

void ConversationService::Impl::drop(const TurnPtr& turn) {
  std::erase(starting_, turn);
  const auto found = turns_.find(turn->conversation);
  if (found != turns_.end() && found->second == turn) turns_.erase(found);
}

void ConversationService::Impl::onWritten(const TurnPtr& turn, const Status& status) {
  if (turn->ended) return;  // withdrawn, and told
  if (!status) {
    turn->ended = true;
    drop(turn);
    refuse(*turn, status.error());
    return;
  }
  turn->committed = true;
  turn->startTokens = turn->savedTokens = turn->answer.tokenIds.size();
  turn->savedBytes = turn->answer.content.size();
  if (turn->conversation == 0) {
    turn->conversation = turn->view.record.id;
    std::erase(starting_, turn);
    turns_[turn->conversation] = turn;
  }
  tell(turn->view);
  refreshList();
  if (turn->stopWanted || closing_) {
    GenerationStats none;
    none.finish = FinishReason::kCancelled;
    onFinished(turn, none);
  } else {
    submit(turn);
  }
}

void ConversationService::Impl::submit(const TurnPtr& turn) {
  turn->model = backend_.model();
  turn->completion = turn->model && !turn->model->hasChatTemplate;
  if (turn->model) turn->answer.model = turn->model->name;
  service::GenerateRequest request = promptOf(turn->view, turn->answer.id, turn->completion);
  request.answerSoFar = turn->answer.tokenIds;
  request.sampling = turn->sampling();
  request.maxTokens = turn->settings.maxTokens;
  request.minTokens = turn->settings.minTokens;
  request.reasoning = turn->settings.reasoning;
  request.stop = turn->settings.stop;
  request.stopTokens = turn->settings.stopTokens;
  request.constraint = turn->settings.constraint;
  request.speculation = turn->settings.speculation;
  request.fromResponses =
      turn->settings.responseCache && (turn->kind == Turn::Kind::kSend || turn->kind == Turn::Kind::kEdit);
  turn->view = {};
  turn->handle =
      backend_.submit(std::move(request), [this, inbox = inbox_, turn](service::GenerationEvent event) {
        inbox->push([this, turn, event = std::move(event)]() mutable { onEvent(turn, std::move(event)); });
      });
}

void ConversationService::Impl::onEvent(const TurnPtr& turn, service::GenerationEvent event) {
  if (turn->ended) return;
  const MessageId answer = turn->answer.id;
  if (const auto* queued = std::get_if<service::QueuedEvent>(&event)) {
    listener_->answerQueued(answer, queued->ahead);
  } else if (const auto* prefill = std::get_if<service::PrefillEvent>(&event)) {
    listener_->answerPrefill(answer, prefill->done, prefill->total);
  } else if (auto* piece = std::get_if<service::PieceEvent>(&event)) {
    onPiece(*turn, std::move(piece->piece));
  } else if (const auto* finished = std::get_if<service::FinishedEvent>(&event)) {
    turn->promptIds = finished->prompt;
    turn->reasoning = finished->reasoning;
    noteChosen(*turn, finished->chosen);
    onFinished(turn, finished->stats);
  } else if (const auto* failed = std::get_if<service::FailedEvent>(&event)) {
    noteChosen(*turn, failed->chosen);
    onFailed(turn, failed->error, failed->stats);
  }
}

void ConversationService::Impl::onPiece(Turn& turn, TextPiece piece) {
  turn.answer.content += piece.text;
  for (const PieceToken& token : piece.tokens) {
    turn.answer.tokenIds.push_back(token.id);
    turn.answer.origins.push_back(static_cast<std::uint8_t>(token.origin));
    turn.answer.textBytes.push_back(token.textBytes);
  }
  if (!turn.unsavedSince) turn.unsavedSince = Clock::now();
  listener_->answerPiece(turn.answer.id, std::move(piece));
}

void ConversationService::Impl::saveDue(Clock::time_point now) {
  for (const auto& [conversation, turn] : turns_) {
    if (turn->unsavedSince && !turn->saving && now - *turn->unsavedSince >= kSaveAfter) savePart(turn);
  }
}

void ConversationService::Impl::savePart(const TurnPtr& turn) {
  const storage::MessageRecord& answer = turn->answer;
  const auto from = [turn](const auto& all) {
    return std::vector(all.begin() + static_cast<std::ptrdiff_t>(turn->savedTokens), all.end());
  };
  storage::AnswerPart part{answer.content.substr(turn->savedBytes), from(answer.tokenIds),
                           from(answer.origins), from(answer.textBytes)};
  const std::size_t tokens = answer.tokenIds.size();
  const std::size_t bytes = answer.content.size();
  turn->saving = true;
  turn->unsavedSince.reset();
  write([id = answer.id,
         part = std::move(part)](storage::Writer& writer) { return writer.appendPart(id, part); },
        [this, turn, tokens, bytes](const Status& status) {
          turn->saving = false;
          if (status) {
            turn->savedTokens = tokens;
            turn->savedBytes = bytes;
          } else if (status.error().code == ErrorCode::kNotFound) {
            stopTurn(turn);  // another process deleted the message
          } else {
            turn->unsavedSince = Clock::now();
          }
        });
}

void ConversationService::Impl::onFinished(const TurnPtr& turn, const GenerationStats& stats) {
  switch (stats.finish) {
    case FinishReason::kEndToken:
    case FinishReason::kStopString:
    case FinishReason::kStopToken:
      return endAs(turn, MessageState::kComplete, stats);
    case FinishReason::kLength:
      return endAs(turn, MessageState::kLength, stats);
    case FinishReason::kCancelled:
      return endAs(turn, closing_ && !turn->stopWanted ? MessageState::kInterrupted : MessageState::kStopped,
                   stats);
    case FinishReason::kFailed:
      return onFailed(turn, {ErrorCode::kInternal, "The answer could not be made.", {}, std::nullopt}, stats);
  }
}

void ConversationService::Impl::endAs(const TurnPtr& turn, MessageState state, const GenerationStats& stats) {
  const auto before = statsFromJson(turn->before.statsJson);
  const GenerationStats all = before ? joined(*before, stats) : stats;
  turn->answer.state = state;
  turn->answer.statsJson = statsToJson(all);
  auto end = std::make_shared<TurnEnd>();
  end->answer = turn->answer;
  end->tokens = all.promptTokens + all.completionTokens;
  if (turn->settings.keepsTexts && turn->model && !turn->promptIds.empty()) {
    end->draftText = std::move(turn->promptIds);
    end->draftText.insert(end->draftText.end(), turn->answer.tokenIds.begin(), turn->answer.tokenIds.end());
    end->vocabulary = turn->model->vocabulary;
  }
  end->journal = journalOf(*turn, stats, std::nullopt);
  listener_->answerFinished(turn->answer.id, all);
  postEnd(turn, std::move(end), {});
}

void ConversationService::Impl::onFailed(const TurnPtr& turn, const Error& error,
                                         const GenerationStats& stats) {
  if (error.code == ErrorCode::kCancelled) {
    GenerationStats cancelled = stats;
    cancelled.finish = FinishReason::kCancelled;
    return onFinished(turn, cancelled);
  }
  GenerationStats failed = stats;
  failed.finish = FinishReason::kFailed;
  auto end = std::make_shared<TurnEnd>();
  end->journal = journalOf(*turn, failed, error);
  const bool nothingNew = turn->newTokens() == 0;
  const bool leavesNothing =
      nothingNew &&
      (turn->kind == Turn::Kind::kRegenerate ||
       (turn->kind != Turn::Kind::kContinue && error.code == ErrorCode::kContextLengthExceeded));
  if (leavesNothing) {
    end->remove = true;
    end->firstAdded = turn->firstAdded;
    end->shownBefore = turn->shownBefore;
    listener_->answerFinished(turn->answer.id, failed);
    return postEnd(turn, std::move(end), [this, turn, error] { refuse(*turn, error); });
  }

  if (turn->kind == Turn::Kind::kContinue) {
    if (nothingNew) turn->answer = turn->before;
    turn->answer.state = turn->before.state;  // so that it can go on once the cause is gone
  } else {
    turn->answer.state = MessageState::kFailed;
  }
  turn->answer.error = error.message;
  if (!nothingNew) {
    const auto before = statsFromJson(turn->before.statsJson);
    turn->answer.statsJson = statsToJson(before ? joined(*before, failed) : failed);
  }
  end->answer = turn->answer;
  listener_->answerFailed(turn->answer.id, error, {});
  postEnd(turn, std::move(end), {});
}

void ConversationService::Impl::postEnd(const TurnPtr& turn, std::shared_ptr<const TurnEnd> end,
                                        Inbox::Task told) {
  if (!turn->ended) {
    turn->ended = true;
    turn->unsavedSince.reset();
    drop(turn);
    ending_[turn->answer.id] = turn;
  }
  auto complete = std::make_shared<TurnEnd>(*end);
  complete->conversation = turn->conversation;
  complete->nowMs = nowMs();
  auto view = std::make_shared<std::optional<ConversationView>>();
  write([complete, view](storage::Writer& writer) { return writeEnd(writer, *complete, *view); },
        [this, turn, complete, view, told = std::move(told)](const Status& status) {
          // Locked by another program for long: the answer waits in memory for its turn.
          if (!status && status.error().code == ErrorCode::kBusy && !closing_)
            return postEnd(turn, complete, told);
          ending_.erase(turn->answer.id);
          if (view->has_value()) tell(std::move(**view));
          if (told) told();
          refreshList();
        });
  for (Inbox::Task& task : std::exchange(turn->afterwards, {}))
    task();
}

void ConversationService::Impl::stop(ConversationId id) {
  for (const auto& lookup : lookups_)
    lookup->stops.push_back(id);
  const auto found = turns_.find(id);
  if (found != turns_.end()) stopTurn(TurnPtr(found->second));
  if (id == 0) {
    for (const TurnPtr& turn : std::vector(starting_))
      stopTurn(turn);
  }
}

void ConversationService::Impl::stopAll() {
  std::vector<TurnPtr> all = starting_;
  for (const auto& [conversation, turn] : turns_)
    all.push_back(turn);
  for (const TurnPtr& turn : all)
    stopTurn(turn);
}

void ConversationService::Impl::stopTurn(const TurnPtr& turn) {
  if (turn->ended || turn->stopWanted) return;
  if (!turn->committed && turn->withdraw()) {
    turn->ended = true;
    drop(turn);
    refuse(*turn, stoppedEarly());
    return;
  }
  turn->stopWanted = true;
  if (turn->handle) turn->handle->cancel();
}

storage::JournalRow ConversationService::Impl::journalOf(const Turn& turn, const GenerationStats& stats,
                                                         const std::optional<Error>& error) {
  storage::JournalRow row = journalRow(turn, stats, error);
  row.client = client_;
  row.session = session_;
  return row;
}

}  // namespace tandem
