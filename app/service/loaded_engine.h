// A model made ready to run: weights, decoder, generator, and what there is to tell of them. Belongs to one
// thread; the model inside may be shared.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/service/answer_memory.h"
#include "app/service/engine_backend.h"
#include "app/service/response_cache.h"
#include "engine/cache/disk_cache.h"
#include "engine/constraint/constraint_cache.h"
#include "engine/model/decoder.h"
#include "engine/session/generator.h"

namespace tandem::service {

// The bytes of a budget where so many are free (0: not known).
std::size_t cacheBudget(std::size_t wanted, std::uint64_t free);

// How the engine computes and what it may draft from; nothing of it changes a text but the cache's type.
struct EngineOptions {
  const kernels::KernelSet* kernels = nullptr;  // null: the best of this CPU
  kernels::CacheType cacheType = kernels::CacheType::kF16;
  int parallel = 1;              // requests that run at once, each with a context of its own: 1 to 32
  std::string weightCache = {};  // folder where interleaved weights are kept; empty: they are not
  // Gives the store of earlier texts of a vocabulary (ModelInfo::vocabulary); empty: there is none.
  std::function<std::shared_ptr<TextStore>(const std::string& vocabulary)> openStore = {};
  // Of texts that were read; the budget may be kAutomaticBudget, and without one there is no cache.
  PrefixCacheOptions cache = {};
  // The tier below it on disk; without a folder, or without a cache, there is none.
  DiskCacheOptions disk = {};
  // Of answers to whole requests that ask for it.
  ResponseCacheOptions responses = {};
};

class LoadedEngine {
 public:
  ~LoadedEngine();  // writes to disk what the cache's lower tier has not written yet
  // Errors: those of Model::load and Decoder::create; kOutOfMemory when there is no room for a context;
  // kInvalidArgument (negative options, `parallel` out of its range).
  static Result<std::unique_ptr<LoadedEngine>> load(const std::string& path, const LoadOptions& options,
                                                    const EngineOptions& engine,
                                                    std::function<void(double fraction)> progress = {});

  const std::shared_ptr<const Model>& model() const { return model_; }
  Decoder& decoder() { return *decoder_; }
  Generator& generator() { return generator_; }
  // What answers of a given form need, kept from request to request.
  ConstraintCache& constraints() { return constraints_; }
  const ModelInfo& info() const { return info_; }
  // Of texts that were read; null: none.
  const std::shared_ptr<PrefixCache>& cache() const { return cache_; }
  // Of answers to whole requests.
  const std::shared_ptr<ResponseCache>& responses() const { return responses_; }
  // Of requests whose answers come back without ids.
  const std::shared_ptr<AnswerMemory>& answers() const { return answers_; }

 private:
  // load() without the checks of the options; lets exceptions through.
  static Result<std::unique_ptr<LoadedEngine>> make(const std::string& path, const LoadOptions& options,
                                                    const EngineOptions& engine,
                                                    std::function<void(double fraction)> progress);
  LoadedEngine(std::shared_ptr<const Model> model, std::unique_ptr<Decoder> decoder, int contextLength);
  void addDraftModel(const LoadOptions& options, const EngineOptions& engine);

  std::shared_ptr<const Model> model_;
  std::unique_ptr<Decoder> decoder_;
  std::shared_ptr<PrefixCache> cache_;
  std::shared_ptr<ResponseCache> responses_;
  const std::shared_ptr<AnswerMemory> answers_ = std::make_shared<AnswerMemory>();
  Generator generator_;
  ConstraintCache constraints_;
  ModelInfo info_;
};

// Tokens that a session holds: `wanted` (0: the model's own), at most the model's own, and at most what three
// quarters of the free memory take for `parallel` sessions. 0 when there is no room for any.
int boundedContext(const MemoryPlan& plan, const ModelConfig& config, int wanted, kernels::CacheType type,
                   int parallel);

}  // namespace tandem::service
