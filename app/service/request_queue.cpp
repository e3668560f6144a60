#include "app/service/request_queue.h"

#include <algorithm>
#include <utility>

namespace tandem::service {
namespace {

Error outdated(const char* sentence) {
  return {ErrorCode::kCancelled, sentence, "model"};
}

Error stopped() {
  return {ErrorCode::kCancelled, "The proof was stopped."};
}

}  // namespace

double waitedMs(const Request& request) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - request.submitted)
      .count();
}

RequestPtr RequestQueue::submit(GenerateRequest what, GenerationSink sink) {
  auto request = std::make_shared<Request>(std::move(what), std::move(sink));
  {
    const std::lock_guard lock(mutex_);
    request->lane = &lanes_.borrow();
    jobs_.push_back({.request = request});
    postPlaces();
  }
  wake_.notify_one();
  return request;
}

void RequestQueue::load(Load load) {
  auto newest = std::make_shared<Load>(std::move(load));
  {
    const std::lock_guard lock(mutex_);
    const auto waiting = std::find_if(jobs_.begin(), jobs_.end(), [](const Job& job) { return job.load; });
    if (waiting != jobs_.end()) {
      const LoadPtr old = std::exchange(waiting->load, newest);
      events_.post([old] { old->sink(outdated("Another model was chosen before this one was loaded.")); });
    } else if (loading_) {
      jobs_.push_front({.load = newest});
    } else {
      jobs_.push_back({.load = newest});
    }
  }
  wake_.notify_one();
}

void RequestQueue::cancel(const RequestPtr& request) {
  const std::lock_guard lock(mutex_);
  if (closed_ || request->cancelled.exchange(true)) return;
  if (request->phase == Request::Phase::kWaiting) {
    std::erase_if(jobs_, [&](const Job& job) { return job.request == request; });
    postCancelled(request);
    postPlaces();
  } else if (request->phase == Request::Phase::kPreparing) {
    postCancelled(request);
  }
}

void RequestQueue::prove(const ProofPtr& proof) {
  {
    const std::lock_guard lock(mutex_);
    proofs_.push_back(proof);
    if (closed_) postLast(proof, outdated("The program is being closed."));
  }
  wake_.notify_one();
}

void RequestQueue::cancel(const ProofPtr& proof) {
  const std::lock_guard lock(mutex_);
  proof->cancelled = true;
  if (!proof->stepping) postLast(proof, stopped());
}

void RequestQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (const Job& job : std::exchange(jobs_, {})) {
      if (job.request) postCancelled(job.request);
      if (job.load) events_.post([load = job.load] { load->sink(outdated("The program is being closed.")); });
    }
    for (const RequestPtr& request : active_)
      request->cancelled = true;
    for (const ProofPtr& proof : std::vector(proofs_.begin(), proofs_.end())) {
      proof->cancelled = true;
      if (!proof->stepping) postLast(proof, outdated("The program is being closed."));
    }
  }
  wake_.notify_one();
}

std::optional<Job> RequestQueue::take() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return closed_ || !jobs_.empty() || !proofs_.empty(); });
  if (closed_) return std::nullopt;
  if (jobs_.empty()) {
    proofs_.front()->stepping = true;
    return Job{.proof = proofs_.front()};
  }
  Job job = std::move(jobs_.front());
  jobs_.pop_front();
  if (job.request) {
    activate(job.request);
  } else {
    loading_ = true;
  }
  return job;
}

RequestPtr RequestQueue::takeAnother() {
  const std::lock_guard lock(mutex_);
  if (closed_ || jobs_.empty() || !jobs_.front().request) return nullptr;
  const RequestPtr request = std::move(jobs_.front().request);
  jobs_.pop_front();
  activate(request);
  return request;
}

void RequestQueue::activate(const RequestPtr& request) {
  request->phase = Request::Phase::kPreparing;
  active_.push_back(request);
}

bool RequestQueue::begin(const RequestPtr& request) {
  const std::lock_guard lock(mutex_);
  if (request->phase != Request::Phase::kPreparing) return false;
  request->phase = Request::Phase::kRunning;
  return true;
}

void RequestQueue::send(const RequestPtr& request, GenerationEvent event) {
  request->lane->thread().post([request, event = std::move(event)] { request->sink(event); });
}

void RequestQueue::end(const RequestPtr& request, GenerationEvent last) {
  const std::lock_guard lock(mutex_);
  std::erase(active_, request);
  if (request->phase != Request::Phase::kDone) postLast(request, std::move(last));
  postPlaces();
}

bool RequestQueue::isLoadOutdated() const {
  const std::lock_guard lock(mutex_);
  return closed_ || std::any_of(jobs_.begin(), jobs_.end(), [](const Job& job) { return job.load; });
}

void RequestQueue::sendLoad(const LoadPtr& load, LoadEvent event) {
  events_.post([load, event = std::move(event)] { load->sink(event); });
}

void RequestQueue::endLoad(const LoadPtr& load, LoadEvent last) {
  const std::lock_guard lock(mutex_);
  loading_ = false;
  sendLoad(load, std::move(last));
}

void RequestQueue::rest(const ProofPtr& proof, ProofProgressEvent progress) {
  const std::lock_guard lock(mutex_);
  proof->stepping = false;
  if (proof->over) return;
  if (proof->cancelled) return postLast(proof, stopped());
  events_.post([proof, progress] { proof->sink(progress); });
}

void RequestQueue::endProof(const ProofPtr& proof, ProofEvent last) {
  const std::lock_guard lock(mutex_);
  proof->stepping = false;
  postLast(proof, std::move(last));
}

void RequestQueue::endProofs(const Error& why) {
  const std::lock_guard lock(mutex_);
  while (!proofs_.empty())
    postLast(proofs_.front(), why);
}

void RequestQueue::postLast(ProofPtr proof, ProofEvent last) {
  if (std::exchange(proof->over, true)) return;
  std::erase(proofs_, proof);
  proof->source.reset();
  events_.post([proof, last = std::move(last)] { std::exchange(proof->sink, {})(last); });
}

void RequestQueue::postLast(const RequestPtr& request, GenerationEvent last) {
  request->phase = Request::Phase::kDone;
  request->lane->thread().post([request, last = std::move(last), lane = request->lane] {
    {
      // The sink may hold what holds the request's handle.
      const GenerationSink sink = std::exchange(request->sink, {});
      sink(last);
    }
    lane->release();
  });
}

void RequestQueue::postCancelled(const RequestPtr& request) {
  GenerationStats stats;
  stats.finish = FinishReason::kCancelled;
  stats.seed = request->what.sampling.seed;
  stats.queueMs = stats.totalMs = waitedMs(*request);
  postLast(request, FinishedEvent{stats});
}

void RequestQueue::postPlaces() {
  int ahead = static_cast<int>(active_.size());
  for (const Job& job : jobs_) {
    if (!job.request) continue;
    if (std::exchange(job.request->toldAhead, ahead) != ahead) send(job.request, QueuedEvent{ahead});
    ++ahead;
  }
}

}  // namespace tandem::service
