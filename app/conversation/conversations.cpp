// What a person does with whole conversations: versions, branches, names, removal, search, counting.
#include <algorithm>
#include <utility>

#include "app/conversation/json.h"
#include "app/conversation/service_impl.h"

namespace tandem {

namespace {

constexpr int kSearchHits = 100;

}  // namespace

void ConversationService::Impl::branch(MessageId message) {
  // An answer that is being written is copied as it is shown, which is more than the store has yet.
  std::shared_ptr<const storage::MessageRecord> shown;
  for (const auto& [conversation, turn] : turns_) {
    if (turn->committed && turn->answer.id == message)
      shown = std::make_shared<storage::MessageRecord>(turn->answer);
  }
  writeAndShow([message, shown](storage::Writer& writer) {
    const Result<ConversationId> copy = writer.copyPath(message, nowMs());
    if (!copy || !shown) return copy;
    auto path = writer.path(*copy);
    if (!path) return Result<ConversationId>(path.error());
    storage::MessageRecord last = *shown;
    last.id = path->back().id;
    last.state = storage::MessageState::kStopped;
    const Status status = writer.finishAnswer(last);
    return status ? copy : Result<ConversationId>(status.error());
  });
}

void ConversationService::Impl::selectVersion(MessageId message) {
  writeAndShow([message](storage::Writer& writer) -> Result<ConversationId> {
    const Status status = writer.choose(message);
    if (!status) return status.error();
    const auto chosen = writer.message(message);
    if (!chosen) return chosen.error();
    return chosen->conversation;
  });
}

void ConversationService::Impl::stepVersion(MessageId message, int by) {
  writeAndShow([message, by](storage::Writer& writer) -> Result<ConversationId> {
    const auto versions = writer.versions(message);
    if (!versions) return versions.error();
    const int last = static_cast<int>(versions->size()) - 1;
    int at = 0;
    while ((*versions)[static_cast<std::size_t>(at)].id != message)
      ++at;
    const auto& wanted = (*versions)[static_cast<std::size_t>(std::clamp(at + by, 0, last))];
    const Status status = writer.choose(wanted.id);
    if (!status) return status.error();
    return wanted.conversation;
  });
}

void ConversationService::Impl::whenStopped(ConversationId id, Inbox::Task task) {
  stop(id);
  const auto found = turns_.find(id);
  if (found == turns_.end()) {
    task();
  } else {
    found->second->afterwards.push_back(std::move(task));
  }
}

void ConversationService::Impl::change(ConversationId id,
                                       std::function<void(storage::ConversationRecord&)> edit) {
  write(
      [id, edit = std::move(edit)](storage::Writer& writer) {
        auto record = writer.conversation(id);
        if (!record) return record.status();
        edit(*record);
        return writer.updateConversation(*record);
      },
      [this](const Status& status) {
        if (!status) listener_->answerFailed(0, status.error(), {});
        refreshList();
      });
}

void ConversationService::Impl::rename(ConversationId id, std::string title) {
  if (title.find_first_not_of(" \t\r\n") == std::string::npos) return;
  change(id, [title = std::move(title)](storage::ConversationRecord& record) {
    record.title = title;
    record.titleByPerson = true;
  });
}

void ConversationService::Impl::setPinned(ConversationId id, bool pinned) {
  change(id, [pinned](storage::ConversationRecord& record) { record.pinned = pinned; });
}

void ConversationService::Impl::setSystemPrompt(ConversationId id, std::string prompt) {
  if (id == 0) {
    nextPrompt_ = std::move(prompt);
    return;
  }
  change(id,
         [prompt = std::move(prompt)](storage::ConversationRecord& record) { record.systemPrompt = prompt; });
}

void ConversationService::Impl::setSettings(ConversationId id, AnswerSettings settings) {
  if (id == 0) {
    nextSettings_ = std::move(settings);
    return;
  }
  change(id, [json = settingsToJson(settings, defaults_)](storage::ConversationRecord& record) {
    record.settingsJson = json;
  });
}

void ConversationService::Impl::remove(ConversationId id) {
  whenStopped(id, [this, id] {
    write([id](storage::Writer& writer) { return writer.hideConversation(id, nowMs()); },
          [this, id](const Status& status) {
            if (!status) listener_->answerFailed(0, status.error(), {});
            if (status) backend_.forgetConversation(id);
            refreshList();
          });
  });
}

void ConversationService::Impl::undoRemove(ConversationId id) {
  whenStopped(id, [this, id] {
    writeAndShow([id](storage::Writer& writer) -> Result<ConversationId> {
      const Status status = writer.showConversation(id);
      if (!status) return status.error();
      return id;
    });
  });
}

void ConversationService::Impl::purge(ConversationId id) {
  whenStopped(id, [this, id] {
    write([id](storage::Writer& writer) { return writer.purgeConversation(id); },
          [this, id](const Status& status) {
            if (status) backend_.forgetConversation(id);
            refreshList();
          });
  });
}

void ConversationService::Impl::search(std::string query,
                                       std::function<void(std::vector<storage::SearchHit>)> sink) {
  store_.search(
      std::move(query), kSearchHits, [inbox = inbox_, sink = std::move(sink)](storage::Store::Hits hits) {
        if (!hits && hits.error().code == ErrorCode::kCancelled) return;
        inbox->push(
            [sink, hits = std::move(hits)] { sink(hits ? *hits : std::vector<storage::SearchHit>()); });
      });
}

void ConversationService::Impl::countContext(std::uint64_t number, ConversationId id, std::string draft,
                                             std::function<void(Result<int>)> sink) {
  auto view = std::make_shared<ConversationView>();
  view->record.systemPrompt = nextPrompt_.value_or(defaultPrompt_);
  const auto count = [this, number, view, draft = std::move(draft),
                      sink = std::move(sink)](const Status& status) {
    if (number != newestCount_) return;
    if (!status) return sink(status.error());
    const std::optional<service::ModelInfo> model = backend_.model();
    const bool completion = model && !model->hasChatTemplate;
    service::GenerateRequest request = promptOf(*view, 0, completion);
    if (completion) {
      request.rawPrompt += draft;
    } else if (!draft.empty()) {
      request.messages.push_back({"user", draft});
    }
    backend_.countTokens(std::move(request), [this, inbox = inbox_, number, sink](Result<int> tokens) {
      inbox->push([this, number, sink, tokens = std::move(tokens)] {
        if (number == newestCount_) sink(tokens);
      });
    });
  };
  if (id == 0) return count(Status());
  store_.query(
      [view, id](storage::Reader& reader) {
        auto read = readView(reader, id);
        if (read) *view = std::move(*read);
        return read.status();
      },
      [inbox = inbox_, count](Status status) {
        inbox->push([count, status = std::move(status)] { count(status); });
      });
}

}  // namespace tandem
