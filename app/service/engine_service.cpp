#include "app/service/engine_service.h"

#include <exception>
#include <new>
#include <utility>

#include "app/service/prompt.h"

namespace tandem::service {
namespace {

class Handle : public RequestHandle {
 public:
  Handle(std::shared_ptr<RequestQueue> queue, RequestPtr request)
      : queue_(std::move(queue)), request_(std::move(request)) {}
  void cancel() override { queue_->cancel(request_); }

 private:
  const std::shared_ptr<RequestQueue> queue_;
  const RequestPtr request_;
};

Error noModel() {
  return {ErrorCode::kNotFound, "No model is loaded. Choose a model first.", "model"};
}

FailedEvent failure(const Request& request, Error error) {
  GenerationStats stats;
  stats.finish = FinishReason::kFailed;
  stats.seed = request.what.sampling.seed;
  stats.queueMs = stats.totalMs = waitedMs(request);
  return {std::move(error), stats};
}

}  // namespace

EngineService::EngineService(EngineOptions options)
    : options_(options), queue_(std::make_shared<RequestQueue>(events_)), worker_([this] { loop(); }) {}

EngineService::~EngineService() {
  queue_->close();
  worker_.join();
}

void EngineService::loadModel(std::string path, LoadOptions options, LoadSink sink) {
  queue_->load({std::move(path), std::move(options), std::move(sink)});
}

std::optional<ModelInfo> EngineService::model() const {
  const std::lock_guard lock(mutex_);
  return info_;
}

std::shared_ptr<RequestHandle> EngineService::submit(GenerateRequest request, GenerationSink sink) {
  return std::make_shared<Handle>(queue_, queue_->submit(std::move(request), std::move(sink)));
}

void EngineService::countTokens(GenerateRequest request, std::function<void(Result<int>)> sink) {
  std::shared_ptr<const Model> model;
  {
    const std::lock_guard lock(mutex_);
    model = current_;
  }
  if (model) {
    counter_.count(std::move(model), std::move(request), std::move(sink));
  } else {
    events_.post([sink = std::move(sink)] { sink(noModel()); });
  }
}

std::vector<CachedText> EngineService::cachedTexts() const {
  std::shared_ptr<const Model> model;
  std::shared_ptr<PrefixCache> cache;
  {
    const std::lock_guard lock(mutex_);
    model = current_;
    cache = cache_;
  }
  std::vector<CachedText> texts;
  if (!cache) return texts;
  for (CacheEntry& entry : cache->entries()) {
    std::string words = model->tokenizer().decode(entry.first);
    texts.push_back({std::move(entry), std::move(words)});
  }
  return texts;
}

void EngineService::loop() {
  while (const std::optional<Job> job = queue_->take()) {
    if (job->load) {
      runLoad(job->load);
      continue;
    }
    const RequestPtr& request = job->request;
    try {
      queue_->end(request, runRequest(request));
    } catch (const std::bad_alloc&) {
      queue_->end(request, failure(*request, {ErrorCode::kOutOfMemory,
                                              "This machine has too little free memory to answer."}));
    } catch (const std::exception& exception) {
      queue_->end(request, failure(*request, {ErrorCode::kInternal, exception.what()}));
    }
  }
}

void EngineService::runLoad(const LoadPtr& load) {
  auto engine = LoadedEngine::load(load->path, load->options, options_, [&](double fraction) {
    queue_->sendLoad(load, LoadProgressEvent{fraction});
  });
  if (queue_->isLoadOutdated()) {
    queue_->endLoad(load, Error{ErrorCode::kCancelled, "Another model was chosen meanwhile.", "model"});
    return;
  }
  if (!engine) {
    queue_->endLoad(load, engine.error());
    return;
  }
  engine_ = std::move(*engine);
  {
    const std::lock_guard lock(mutex_);
    current_ = engine_->model();
    cache_ = engine_->cache();
    info_ = engine_->info();
  }
  queue_->endLoad(load, engine_->info());
}

GenerationEvent EngineService::runRequest(const RequestPtr& request) {
  if (!engine_) return failure(*request, noModel());
  const GenerateRequest& what = request->what;
  Result<std::vector<TokenId>> prompt = promptIds(*engine_->model(), what);
  if (!prompt) return failure(*request, prompt.error());
  const double waited = waitedMs(*request);
  if (!queue_->begin(request)) return FinishedEvent();

  const Generation generation{.prompt = std::move(*prompt),
                              .answerSoFar = what.answerSoFar,
                              .sampling = what.sampling,
                              .maxTokens = what.maxTokens,
                              .contextLength = engine_->info().contextLength,
                              .speculation = what.speculation,
                              .stop = what.stop,
                              .stopTokens = what.stopTokens,
                              .minTokens = what.minTokens,
                              .reasoning = what.reasoning,
                              .fingerprint = what.fingerprint,
                              .cache = what.cached ? engine_->cache().get() : nullptr,
                              .conversation = what.conversation};
  const GenerationCallbacks callbacks{
      .prefill =
          [&](int done, int total) {
            queue_->send(request, PrefillEvent{done, total});
          },
      .piece = [&](TextPiece piece) { queue_->send(request, PieceEvent{std::move(piece)}); },
      .round = [&](const RoundReport& report) { queue_->send(request, RoundEvent{report}); },
      .warning = [&](std::string sentence) { queue_->send(request, WarningEvent{std::move(sentence)}); }};
  GenerationOutcome outcome = engine_->generator().run(generation, callbacks, &request->cancelled);

  GenerationStats& stats = outcome.stats;
  stats.queueMs = waited;
  if (stats.completionTokens > 0) stats.ttftMs += waited;
  stats.totalMs += waited;
  if (outcome.status.ok()) return FinishedEvent{stats, generation.prompt, outcome.reasoning};
  return FailedEvent{outcome.status.error(), stats};
}

}  // namespace tandem::service
