// The backend that runs the engine. A worker thread owns model, decoder and generator and does loads and
// requests one after the other; a second thread calls the sinks, a third one counts tokens.
//
// A request is cancelled at once while it waits (also behind a load) and while its prompt is being tokenised;
// in prefill and decode the engine looks between layers, and prefill chunks are cut so that a layer takes
// well under 200 ms. When the service goes, waiting and running requests end as cancelled and every sink has
// had its last event; a load that runs is finished first.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/service/engine_backend.h"
#include "app/service/event_thread.h"
#include "app/service/loaded_engine.h"
#include "app/service/request_queue.h"
#include "app/service/token_counter.h"

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
  std::vector<CachedText> cachedTexts() const override;

 private:
  // The worker thread.
  void loop();
  void runLoad(const LoadPtr& load);
  GenerationEvent runRequest(const RequestPtr& request);

  const EngineOptions options_;
  EventThread events_;
  TokenCounter counter_{events_};
  const std::shared_ptr<RequestQueue> queue_;

  mutable std::mutex mutex_;  // guards current_, cache_ and info_
  std::shared_ptr<const Model> current_;
  std::shared_ptr<PrefixCache> cache_;
  std::optional<ModelInfo> info_;

  std::unique_ptr<LoadedEngine> engine_;  // the worker's
  std::thread worker_;
};

}  // namespace tandem::service
