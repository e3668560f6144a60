#include "app/service/engine_service.h"

#include <chrono>
#include <exception>
#include <new>
#include <utility>

#include "app/service/agent_sampling.h"
#include "app/service/prompt.h"
#include "engine/sampler/sampler.h"
#include "engine/speculation/speculator.h"

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

Error noMemory() {
  return {ErrorCode::kOutOfMemory, "This machine has too little free memory to answer."};
}

FailedEvent failure(const Request& request, Error error) {
  GenerationStats stats;
  stats.finish = FinishReason::kFailed;
  stats.seed = request.what.sampling.seed;
  stats.queueMs = stats.totalMs = waitedMs(request);
  return {std::move(error), stats};
}

Result<std::vector<TokenId>> promptOf(const Model& model, AnswerMemory& answers,
                                      const GenerateRequest& request) {
  if (!request.recallsAnswers) return promptIds(model, request);
  GenerateRequest recalled = request;
  answers.recall(recalled.messages);
  return promptIds(model, recalled);
}

}  // namespace

EngineService::EngineService(EngineOptions options)
    : options_(options), queue_(std::make_shared<RequestQueue>(lanes_)), worker_([this] { loop(); }) {}

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
  std::shared_ptr<AnswerMemory> answers;
  {
    const std::lock_guard lock(mutex_);
    model = current_;
    answers = answers_;
  }
  if (model) {
    if (request.recallsAnswers) answers->recall(request.messages);
    counter_.count(std::move(model), std::move(request), std::move(sink));
  } else {
    lanes_.main().post([sink = std::move(sink)] { sink(noModel()); });
  }
}

std::shared_ptr<PrefixCache> EngineService::cache() const {
  const std::lock_guard lock(mutex_);
  return cache_;
}

void EngineService::forgetConversation(std::int64_t conversation) {
  {
    const std::lock_guard lock(mutex_);
    if (responses_) responses_->dropConversation(conversation);
  }
  const auto cache = this->cache();
  if (cache) cache->dropConversation(conversation);
  if (cache && cache->disk() && cache->disk()->dropConversation(conversation)) return;
  if (options_.disk.folder.path.empty()) return;
  // No model is loaded whose cache would do it. What can't be removed now goes by its age.
  TextFolder folder(options_.disk.folder, false);
  static_cast<void>(folder.removeConversation(conversation));
}

void EngineService::loop() {
  while (true) {
    if (busy()) {
      work();
    } else if (const std::optional<Job> job = queue_->take()) {
      if (job->load) runLoad(job->load);
      if (job->request) prepare(job->request);
      if (job->proof) stepProof(job->proof);
    } else {
      return;
    }
  }
}

// Takes another request where there is room for one, and runs a pass.
void EngineService::work() {
  if (!preparing_ && !slots_->full()) {
    if (const RequestPtr request = queue_->takeAnother()) prepare(request);
  }
  const bool idle = slots_->running() == 0;
  if (preparing_ &&
      (idle || preparing_->prepared.wait_for(std::chrono::seconds(0)) == std::future_status::ready))
    startPrepared();
  if (slots_->running() == 0) return;
  try {
    slots_->step();
  } catch (const std::bad_alloc&) {
    slots_->fail(noMemory());
  } catch (const std::exception& exception) {
    slots_->fail({ErrorCode::kInternal, exception.what()});
  }
}

void EngineService::runLoad(const LoadPtr& load) {
  auto engine = LoadedEngine::load(load->path, load->options, chosenOptions(), [&](double fraction) {
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
  queue_->endProofs({ErrorCode::kCancelled, "Another model was opened.", "model"});
  slots_.reset();
  engine_ = std::move(*engine);
  slots_ = std::make_unique<Slots>(engine_->decoder(), engine_->generator().speculation(), options_.parallel);
  {
    const std::lock_guard lock(mutex_);
    current_ = engine_->model();
    cache_ = engine_->cache();
    answers_ = engine_->answers();
    responses_ = engine_->responses();
    info_ = engine_->info();
  }
  desk_.use({.model = engine_->model(),
             .cache = engine_->cache(),
             .responses = engine_->responses(),
             .key = TextFileKey::of(engine_->info().fingerprint, engine_->decoder().newSequence(),
                                    engine_->info().vocabSize)});
  queue_->endLoad(load, engine_->info());
}

// Its prompt is tokenised and its form compiled by a thread of its own, so that what runs goes on.
void EngineService::prepare(const RequestPtr& request) {
  if (!engine_) return queue_->end(request, failure(*request, noModel()));
  preparing_ = {
      request, std::async(std::launch::async, [request, engine = engine_.get()]() -> Result<Prepared> {
        Result<std::vector<TokenId>> prompt = promptOf(*engine->model(), *engine->answers(), request->what);
        if (!prompt) return prompt.error();
        auto constraint = engine->constraints().find(request->what.constraint);
        if (!constraint) return constraint.error();
        return Prepared{
            std::move(*prompt), std::move(*constraint),
            chooseSampling(request->what, recommendedSampling(engine->model()->file()), freshSeed())};
      })};
}

void EngineService::startPrepared() {
  Preparing preparing = std::move(*std::exchange(preparing_, std::nullopt));
  const RequestPtr& request = preparing.request;
  try {
    Result<Prepared> prepared = preparing.prepared.get();
    if (!prepared) return queue_->end(request, failure(*request, prepared.error()));
    const bool repeatable = mayRepeat(request->what, prepared->chosen);
    SlotRequest slot = slotRequest(request, std::move(*prepared));
    if (!queue_->begin(request)) return queue_->end(request, FinishedEvent());
    if (repeatable && repeat(request, slot)) return;
    if (slots_->running() == 0 && isRouted(slot.generation.speculation)) {
      // A pass that fails here fails again in the request's own, which tells it.
      const Status measured = engine_->generator().prepareRouting(&request->cancelled);
      static_cast<void>(measured);
    }
    slots_->start(std::move(slot));
  } catch (const std::bad_alloc&) {
    queue_->end(request, failure(*request, noMemory()));
  } catch (const std::exception& exception) {
    queue_->end(request, failure(*request, {ErrorCode::kInternal, exception.what()}));
  }
}

SlotRequest EngineService::slotRequest(const RequestPtr& request, Prepared prepared) {
  const GenerateRequest& what = request->what;
  SlotRequest slot;
  slot.generation = {.prompt = prepared.prompt,
                     .answerSoFar = what.answerSoFar,
                     .sampling = prepared.chosen ? prepared.chosen->params : what.sampling,
                     .maxTokens = what.maxTokens,
                     .contextLength = engine_->info().contextLength,
                     .speculation = what.speculation,
                     .stop = what.stop,
                     .stopTokens = what.stopTokens,
                     .minTokens = what.minTokens,
                     .reasoning = what.reasoning,
                     .constraint = std::move(prepared.constraint),
                     .fingerprint = what.fingerprint,
                     .cache = what.cached ? engine_->cache().get() : nullptr,
                     .conversation = what.conversation};
  const auto response = mayRepeat(what, prepared.chosen) ? std::make_shared<Response>() : nullptr;
  slot.callbacks = {
      .prefill =
          [this, request](int done, int total) {
            queue_->send(request, PrefillEvent{done, total});
          },
      .piece =
          [this, request, response](TextPiece piece) {
            if (response) response->pieces.push_back(piece);
            queue_->send(request, PieceEvent{std::move(piece)});
          },
      .round = [this, request](const RoundReport& report) { queue_->send(request, RoundEvent{report}); },
      .warning = [this, request](
                     std::string sentence) { queue_->send(request, WarningEvent{std::move(sentence)}); }};
  slot.cancel = &request->cancelled;
  slot.ended = [this, request, response, prompt = std::move(prepared.prompt),
                chosen = std::move(prepared.chosen), waited = waitedMs(*request)](GenerationOutcome outcome) {
    GenerationStats& stats = outcome.stats;
    stats.queueMs = waited;
    if (stats.completionTokens > 0) stats.ttftMs += waited;
    stats.totalMs += waited;
    if (outcome.status.ok()) keep(*request, prompt, outcome, response.get());
    if (outcome.status.ok())
      return queue_->end(request, FinishedEvent{stats, prompt, std::move(outcome.reasoning), chosen});
    queue_->end(request, FailedEvent{outcome.status.error(), stats, chosen});
  };
  return slot;
}

bool EngineService::repeat(const RequestPtr& request, const SlotRequest& slot) {
  const Generation& generation = slot.generation;
  const auto response = engine_->responses()->find(responseKey(request->what, generation.prompt));
  const Tokenizer& tokenizer = engine_->model()->tokenizer();
  // What decides no text is not in the key, but may be refused.
  if (!response || !checkGeneration(generation, tokenizer, generation.contextLength).ok()) return false;
  GenerationStats stats = repeatedStats(*response);
  queue_->send(request, PrefillEvent{stats.promptTokens, stats.promptTokens});
  for (const TextPiece& piece : response->pieces)
    queue_->send(request, PieceEvent{piece});
  keep(*request, generation.prompt, {.status = {}, .stats = stats, .tokens = response->tokens()}, nullptr);
  stats.queueMs = stats.ttftMs = stats.totalMs = waitedMs(*request);
  queue_->end(request, FinishedEvent{stats, generation.prompt, response->reasoning, std::nullopt});
  return true;
}

void EngineService::keep(const Request& request, const std::vector<TokenId>& prompt,
                         const GenerationOutcome& outcome, Response* response) {
  const GenerateRequest& what = request.what;
  try {
    if (what.recallsAnswers && !outcome.tokens.empty() && what.answerSoFar.empty())
      engine_->answers()->keep(what.messages, writtenAnswer(*engine_->model(), prompt, what, outcome));
    if (response == nullptr) return;
    response->stats = outcome.stats;
    response->reasoning = outcome.reasoning;
    engine_->responses()->insert(responseKey(what, prompt), std::move(*response), what.conversation);
  } catch (const std::bad_alloc&) {
    return;  // the answer is told all the same
  }
}

}  // namespace tandem::service
