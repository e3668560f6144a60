#include "app/conversation/conversation_service.h"

#include <utility>

#include "app/conversation/service_impl.h"

namespace tandem {

ConversationService::ConversationService(storage::Store& store, service::EngineBackend& backend,
                                         ConversationListener* listener, std::string client)
    : impl_(std::make_unique<Impl>(store, backend, listener, std::move(client))) {}

ConversationService::~ConversationService() = default;

void ConversationService::setDefaults(AnswerSettings defaults, std::string systemPrompt) {
  impl_->run([impl = impl_.get(), defaults, systemPrompt = std::move(systemPrompt)] {
    impl->setDefaults(defaults, systemPrompt);
  });
}

void ConversationService::refreshList() {
  impl_->run([impl = impl_.get()] { impl->refreshList(); });
}

void ConversationService::open(ConversationId id) {
  impl_->run([impl = impl_.get(), id] { impl->open(id); });
}

void ConversationService::send(ConversationId id, std::string text) {
  impl_->run(
      [impl = impl_.get(), id, text = std::move(text)] { impl->begin(Turn::Kind::kSend, id, 0, text); });
}

void ConversationService::regenerate(MessageId answer) {
  impl_->run([impl = impl_.get(), answer] { impl->beginAt(Turn::Kind::kRegenerate, answer, {}); });
}

void ConversationService::continueAnswer(MessageId answer) {
  impl_->run([impl = impl_.get(), answer] { impl->beginAt(Turn::Kind::kContinue, answer, {}); });
}

void ConversationService::edit(MessageId message, std::string text) {
  impl_->run([impl = impl_.get(), message, text = std::move(text)] {
    impl->beginAt(Turn::Kind::kEdit, message, text);
  });
}

void ConversationService::branch(MessageId message) {
  impl_->run([impl = impl_.get(), message] { impl->branch(message); });
}

void ConversationService::selectVersion(MessageId message) {
  impl_->run([impl = impl_.get(), message] { impl->selectVersion(message); });
}

void ConversationService::stepVersion(MessageId message, int by) {
  impl_->run([impl = impl_.get(), message, by] { impl->stepVersion(message, by); });
}

void ConversationService::stop(ConversationId id) {
  impl_->run([impl = impl_.get(), id] { impl->stop(id); });
}

void ConversationService::stopAll() {
  impl_->run([impl = impl_.get()] { impl->stopAll(); });
}

void ConversationService::rename(ConversationId id, std::string title) {
  impl_->run([impl = impl_.get(), id, title = std::move(title)] { impl->rename(id, title); });
}

void ConversationService::setPinned(ConversationId id, bool pinned) {
  impl_->run([impl = impl_.get(), id, pinned] { impl->setPinned(id, pinned); });
}

void ConversationService::setSystemPrompt(ConversationId id, std::string prompt) {
  impl_->run([impl = impl_.get(), id, prompt = std::move(prompt)] { impl->setSystemPrompt(id, prompt); });
}

void ConversationService::setSettings(ConversationId id, AnswerSettings settings) {
  impl_->run([impl = impl_.get(), id, settings] { impl->setSettings(id, settings); });
}

void ConversationService::remove(ConversationId id) {
  impl_->run([impl = impl_.get(), id] { impl->remove(id); });
}

void ConversationService::undoRemove(ConversationId id) {
  impl_->run([impl = impl_.get(), id] { impl->undoRemove(id); });
}

void ConversationService::purge(ConversationId id) {
  impl_->run([impl = impl_.get(), id] { impl->purge(id); });
}

void ConversationService::search(std::string query,
                                 std::function<void(std::vector<storage::SearchHit>)> sink) {
  impl_->run(
      [impl = impl_.get(), query = std::move(query), sink = std::move(sink)] { impl->search(query, sink); });
}

void ConversationService::countContext(ConversationId id, std::string draft,
                                       std::function<void(Result<int>)> sink) {
  impl_->run([impl = impl_.get(), number = impl_->nextCount(), id, draft = std::move(draft),
              sink = std::move(sink)] { impl->countContext(number, id, draft, sink); });
}

}  // namespace tandem
