// Counts the tokens of prompts on a thread of its own, so that a count never waits for an answer that is
// being written. Of several waiting counts only the newest is made.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "app/service/engine_backend.h"
#include "app/service/event_thread.h"
#include "engine/model/model.h"

namespace tandem::service {

class TokenCounter {
 public:
  using Sink = std::function<void(Result<int>)>;

  explicit TokenCounter(EventThread& events) : events_(events), thread_([this] { loop(); }) {}
  // Finishes the count that runs; one that waits ends with kCancelled.
  ~TokenCounter();
  TokenCounter(const TokenCounter&) = delete;
  TokenCounter& operator=(const TokenCounter&) = delete;

  // Any thread. The sink is called on the event thread. REQUIRES: model is not null.
  void count(std::shared_ptr<const Model> model, GenerateRequest request, Sink sink);

 private:
  struct Task {
    std::shared_ptr<const Model> model;
    GenerateRequest request;
    Sink sink;
  };
  void loop();
  void postCancelled(Task task);

  EventThread& events_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<Task> waiting_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace tandem::service
