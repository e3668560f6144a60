// The backend that runs the engine. A worker thread owns model, decoder and generator; it does loads one
// after the other and up to EngineOptions::parallel requests at a time (docs/parallel.md). A second thread
// calls the sinks, one for each request where several run at once, so that a slow one holds up nobody else; a
// third counts tokens, a fourth lists the caches, and prompts are tokenised beside what runs. Entries of the
// caches are proved by the worker while it has nothing else to do.
//
// A request is cancelled at once while it waits (also behind a load) and while its prompt is being tokenised;
// in prefill and decode the engine looks between layers, and prefill chunks are cut so that a layer takes
// well under 200 ms. When the service goes, waiting and running requests end as cancelled and every sink has
// had its last event; a load that runs is finished first.
#pragma once

#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/service/cache_desk.h"
#include "app/service/engine_backend.h"
#include "app/service/event_lanes.h"
#include "app/service/loaded_engine.h"
#include "app/service/request_queue.h"
#include "app/service/token_counter.h"
#include "engine/session/slots.h"

namespace tandem::service {

class EngineService : public EngineBackend {
 public:
  explicit EngineService(EngineOptions options = {});
  ~EngineService() override;
  EngineService(const EngineService&) = delete;
  EngineService& operator=(const EngineService&) = delete;

  // A load that is superseded ends with kCancelled; what was submitted for it waits for the newer one.
  void loadModel(std::string path, LoadOptions options, LoadSink sink) override;
  std::optional<ModelInfo> model() const override;
  std::shared_ptr<RequestHandle> submit(GenerateRequest request, GenerationSink sink) override;
  void countTokens(GenerateRequest request, std::function<void(Result<int>)> sink) override;
  void listCaches(CacheListingSink sink) override;
  std::shared_ptr<RequestHandle> proveText(std::string key, ProofSink sink) override;
  void dropText(std::string key) override;
  void clearDiskCache() override;
  void setCaches(const CacheSettings& settings) override;
  void forgetConversation(std::int64_t conversation) override;

 private:
  std::shared_ptr<PrefixCache> cache() const;

  // What a request needs to be started.
  struct Prepared {
    std::vector<TokenId> prompt;
    std::shared_ptr<const Constraint> constraint;
    std::optional<ChosenSampling> chosen = {};
  };

  // The worker thread.
  void loop();
  void runLoad(const LoadPtr& load);
  void prepare(const RequestPtr& request);
  void startPrepared();
  bool busy() const { return preparing_ || (slots_ && slots_->running() > 0); }
  void work();
  void stepProof(const ProofPtr& proof);
  EngineOptions chosenOptions() const;
  SlotRequest slotRequest(const RequestPtr& request, Prepared prepared);
  // Gives the request the answer that it got before; false: there is none, or it may not have it.
  bool repeat(const RequestPtr& request, const SlotRequest& slot);
  // What later requests may need of an answer that did not fail, as far as there is memory for it. response:
  // its pieces, where it may be given again; else null.
  void keep(const Request& request, const std::vector<TokenId>& prompt, const GenerationOutcome& outcome,
            Response* response);

  const EngineOptions options_;
  EventLanes lanes_{options_.parallel == 1 ? 1 : EventLanes::kMost};
  TokenCounter counter_{lanes_.main()};
  CacheDesk desk_{lanes_.main(), options_.disk.folder};
  const std::shared_ptr<RequestQueue> queue_;

  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<const Model> current_;
  std::shared_ptr<PrefixCache> cache_;
  std::shared_ptr<AnswerMemory> answers_;
  std::shared_ptr<ResponseCache> responses_;
  std::optional<ModelInfo> info_;

  // The worker's.
  struct Preparing {
    RequestPtr request;
    std::future<Result<Prepared>> prepared;
  };
  std::unique_ptr<LoadedEngine> engine_;
  std::unique_ptr<Slots> slots_;  // of the engine
  std::optional<Preparing> preparing_;
  std::thread worker_;
};

}  // namespace tandem::service
