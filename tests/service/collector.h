// Keeps what a sink was told, and lets a test wait for it. The sinks it gives may outlive it. Any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/service/engine_backend.h"

namespace tandem::test {

// The events of one sink, until one that is the last.
template <class Event>
class Collector {
 public:
  std::function<void(Event)> sink() {
    return [state = state_](Event event) {
      {
        const std::lock_guard lock(state->mutex);
        state->lateEvents += state->done ? 1 : 0;
        state->done |= isLast(event);
        state->events.push_back(std::move(event));
      }
      state->changed.notify_all();
    };
  }
  // Waits until the last event has come.
  bool waitForEnd(std::chrono::milliseconds patience = std::chrono::seconds(60)) const {
    std::unique_lock lock(state_->mutex);
    return state_->changed.wait_for(lock, patience, [this] { return state_->done; });
  }
  // Waits until there is an event of this type.
  template <class Wanted>
  bool waitFor(std::chrono::milliseconds patience = std::chrono::seconds(60)) const {
    std::unique_lock lock(state_->mutex);
    return state_->changed.wait_for(lock, patience, [this] {
      for (const Event& event : state_->events) {
        if (std::holds_alternative<Wanted>(event)) return true;
      }
      return false;
    });
  }
  bool ended() const {
    const std::lock_guard lock(state_->mutex);
    return state_->done;
  }
  int lateEvents() const {  // after the last one: there may be none
    const std::lock_guard lock(state_->mutex);
    return state_->lateEvents;
  }
  std::vector<Event> events() const {
    const std::lock_guard lock(state_->mutex);
    return state_->events;
  }
  // The last event, when it is of this type.
  template <class Wanted>
  std::optional<Wanted> last() const {
    const std::lock_guard lock(state_->mutex);
    if (state_->events.empty() || !std::holds_alternative<Wanted>(state_->events.back())) return std::nullopt;
    return std::get<Wanted>(state_->events.back());
  }

 private:
  static bool isLast(const service::GenerationEvent& event) {
    return std::holds_alternative<service::FinishedEvent>(event) ||
           std::holds_alternative<service::FailedEvent>(event);
  }
  static bool isLast(const service::LoadEvent& event) {
    return !std::holds_alternative<service::LoadProgressEvent>(event);
  }
  static bool isLast(const service::ProofEvent& event) {
    return !std::holds_alternative<service::ProofProgressEvent>(event);
  }

  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Event> events;
    bool done = false;
    int lateEvents = 0;
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

using Answer = Collector<service::GenerationEvent>;
using Loading = Collector<service::LoadEvent>;

// The tokens of an answer's pieces, and their text.
inline std::vector<TokenId> idsOf(const Answer& answer) {
  std::vector<TokenId> ids;
  for (const auto& event : answer.events()) {
    const auto* piece = std::get_if<service::PieceEvent>(&event);
    if (piece == nullptr) continue;
    for (const PieceToken& token : piece->piece.tokens)
      ids.push_back(token.id);
  }
  return ids;
}

inline std::string textOf(const Answer& answer) {
  std::string text;
  for (const auto& event : answer.events()) {
    if (const auto* piece = std::get_if<service::PieceEvent>(&event)) text += piece->piece.text;
  }
  return text;
}

}  // namespace tandem::test
