#include "app/service/token_counter.h"

#include <utility>

#include "app/service/prompt.h"

namespace tandem::service {
namespace {

Result<int> tokensOf(const Model& model, const GenerateRequest& request) {
  const Result<std::vector<TokenId>> ids = promptIds(model, request);
  if (!ids) return ids.error();
  return static_cast<int>(ids->size() + request.answerSoFar.size());
}

}  // namespace

TokenCounter::~TokenCounter() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void TokenCounter::count(std::shared_ptr<const Model> model, GenerateRequest request, Sink sink) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_) postCancelled(std::move(*waiting_));
    waiting_ = Task{std::move(model), std::move(request), std::move(sink)};
  }
  wake_.notify_one();
}

void TokenCounter::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return closing_ || waiting_; });
    if (closing_) break;
    Task task = std::move(*std::exchange(waiting_, std::nullopt));
    lock.unlock();
    events_.post([sink = std::move(task.sink), count = tokensOf(*task.model, task.request)] { sink(count); });
    task = {};
    lock.lock();
  }
  if (waiting_) postCancelled(std::move(*waiting_));
}

void TokenCounter::postCancelled(Task task) {
  events_.post([sink = std::move(task.sink)] {
    sink(Error{ErrorCode::kCancelled, "A newer text is being counted instead."});
  });
}

}  // namespace tandem::service
