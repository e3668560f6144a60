// The worker's queue of loads and requests, and every event that goes to their sinks.
//
// Shared by the service and the handles it gave out. One mutex orders everything, and events are posted to
// the EventThread under it, so a request's events arrive in the order of what happened to it. A request that
// waits or is being prepared is cancelled on the spot, whatever the worker is doing; one that runs is
// cancelled through its flag, which the engine looks at between layers. Up to `parallel` requests are active
// at once; each then has a lane of its own for its events.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/service/cache_desk.h"
#include "app/service/engine_backend.h"
#include "app/service/event_lanes.h"
#include "app/service/event_thread.h"

namespace tandem::service {

struct Request {
  enum class Phase { kWaiting, kPreparing, kRunning, kDone };

  Request(GenerateRequest request, GenerationSink to) : what(std::move(request)), sink(std::move(to)) {}

  const GenerateRequest what;
  const std::chrono::steady_clock::time_point submitted = std::chrono::steady_clock::now();
  std::atomic<bool> cancelled = false;
  GenerationSink sink;  // the event thread's; let go with the last event

  // The queue's, under its mutex.
  EventLanes::Lane* lane = nullptr;
  Phase phase = Phase::kWaiting;
  int toldAhead = -1;
};
using RequestPtr = std::shared_ptr<Request>;

struct Load {
  std::string path;
  LoadOptions options;
  LoadSink sink;
};
using LoadPtr = std::shared_ptr<Load>;

// A proof of an entry of the caches. It waits until nothing else is to be done, again before each step.
struct Proof {
  Proof(std::string entry, ProofSink to) : key(std::move(entry)), sink(std::move(to)) {}

  const std::string key;
  std::atomic<bool> cancelled = false;
  ProofSink sink;  // the event thread's; let go with the last event

  // The worker's during a step; else whoever ends it lets it go.
  std::optional<ProofSource> source = {};
  double msPerRow = 0;

  bool stepping = false, over = false;  // the queue's, under its mutex
};
using ProofPtr = std::shared_ptr<Proof>;

// One of them is set.
struct Job {
  RequestPtr request = {};
  LoadPtr load = {};
  ProofPtr proof = {};
};

class RequestQueue {
 public:
  // Loads are told of on the main lane. REQUIRES: the lanes live until close().
  explicit RequestQueue(EventLanes& lanes) : events_(lanes.main()), lanes_(lanes) {}

  // Any thread.
  RequestPtr submit(GenerateRequest request, GenerationSink sink);
  // Takes the place of a load that waits, or waits right behind one that runs.
  void load(Load load);
  void cancel(const RequestPtr& request);
  void prove(const ProofPtr& proof);
  void cancel(const ProofPtr& proof);
  // Ends what waits, asks what runs to end; take() then gives nothing more, and no later call does anything.
  void close();

  // The worker's. take() waits for a job; nullopt: closed. The request it gives is being prepared; the proof,
  // which it gives when there is nothing else, is at its next step until rest() or endProof().
  std::optional<Job> take();
  // The same for a worker with active requests: does not wait, and gives no load, which is due when they have
  // ended, nor what stands behind it.
  RequestPtr takeAnother();
  // The request starts to run; false when it was cancelled while it was being prepared.
  bool begin(const RequestPtr& request);
  void send(const RequestPtr& request, GenerationEvent event);
  // The last event of the request; does nothing when it was cancelled while it was being prepared.
  void end(const RequestPtr& request, GenerationEvent last);
  // Whether the load that runs is not wanted any more: a newer one waits, or the service closes.
  bool isLoadOutdated() const;
  void sendLoad(const LoadPtr& load, LoadEvent event);
  void endLoad(const LoadPtr& load, LoadEvent last);
  void rest(const ProofPtr& proof, ProofProgressEvent progress);
  void endProof(const ProofPtr& proof, ProofEvent last);
  void endProofs(const Error& why);

 private:
  // All REQUIRE: mutex_ is held.
  void activate(const RequestPtr& request);
  void postLast(const RequestPtr& request, GenerationEvent last);
  void postCancelled(const RequestPtr& request);
  void postLast(ProofPtr proof, ProofEvent last);  // by value: it leaves the list
  void postPlaces();  // tells waiting requests how many are before them, where that has changed

  EventThread& events_;
  EventLanes& lanes_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> jobs_;
  std::vector<RequestPtr> active_;  // being prepared or running
  std::deque<ProofPtr> proofs_;     // until they have ended
  bool loading_ = false;
  bool closed_ = false;
};

// Milliseconds since the request was submitted.
double waitedMs(const Request& request);

}  // namespace tandem::service
