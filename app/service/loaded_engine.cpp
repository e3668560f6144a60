#include "app/service/loaded_engine.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "engine/base/stopwatch.h"
#include "engine/session/slots.h"
#include "engine/speculation/vocabulary_match.h"

namespace tandem::service {
namespace {

constexpr std::uint64_t kMostBudget = std::uint64_t{1} << 30;

}  // namespace

std::size_t cacheBudget(std::size_t wanted, std::uint64_t free) {
  if (wanted != kAutomaticBudget) return wanted;
  return free == 0 ? kMostBudget : std::min(kMostBudget, free / 8);
}

int boundedContext(const MemoryPlan& plan, const ModelConfig& config, int wanted, kernels::CacheType type,
                   int parallel) {
  const int asked = wanted > 0 ? std::min(wanted, config.contextLength) : config.contextLength;
  const int stride = kernels::roundUp(config.headDim, kernels::kLanes);
  const std::uint64_t perToken = plan.cachePerToken * kernels::pairBytes(type, stride) /
                                 kernels::pairBytes(kernels::CacheType::kF16, stride);
  if (plan.available == 0 || perToken == 0) return asked;
  const std::uint64_t room = plan.available / 4 * 3 / static_cast<std::uint64_t>(parallel);
  const std::uint64_t state = recurrentLayout(config).bytes();
  return static_cast<int>(std::min<std::uint64_t>(asked, room > state ? (room - state) / perToken : 0));
}

Result<std::unique_ptr<LoadedEngine>> LoadedEngine::load(const std::string& path, const LoadOptions& options,
                                                         const EngineOptions& engine,
                                                         std::function<void(double)> progress) {
  if (options.threads < 0 || options.contextLength < 0) {
    return Error{ErrorCode::kInvalidArgument, "Threads and context length must not be negative.",
                 options.threads < 0 ? "threads" : "context_length"};
  }
  if (engine.parallel < 1 || engine.parallel > Slots::kMost) {
    return Error{ErrorCode::kInvalidArgument,
                 "The number of parallel requests must be 1 to " + std::to_string(Slots::kMost) + ".",
                 "parallel"};
  }
  try {
    return make(path, options, engine, std::move(progress));
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kOutOfMemory, "This machine has too little free memory for the model."};
  } catch (const std::exception& exception) {  // threads that the system refuses
    return Error{ErrorCode::kInternal, std::string("The model could not be made ready: ") + exception.what()};
  }
}

Result<std::unique_ptr<LoadedEngine>> LoadedEngine::make(const std::string& path, const LoadOptions& options,
                                                         const EngineOptions& engine,
                                                         std::function<void(double)> progress) {
  const Stopwatch watch;
  auto model = Model::load(path, {.preTokenizer = options.preTokenizer,
                                  .progress = std::move(progress),
                                  .weightCache = {.folder = engine.weightCache}});
  if (!model) return model.error();
  auto decoder = Decoder::create(
      *model, {.kernels = engine.kernels, .threads = options.threads, .cacheType = engine.cacheType});
  if (!decoder) return decoder.error();
  const ModelConfig& config = (*model)->config();
  const MemoryPlan plan = Model::plan((*model)->file(), config);
  const int context = boundedContext(plan, config, options.contextLength, engine.cacheType, engine.parallel);
  if (context == 0) {
    return Error{ErrorCode::kOutOfMemory,
                 "This machine has no memory left for the model's context. Close other programs, or choose a "
                 "smaller model."};
  }
  std::unique_ptr<LoadedEngine> loaded(new LoadedEngine(std::move(*model), std::move(*decoder), context));
  PrefixCacheOptions cache = engine.cache;
  cache.budget = cacheBudget(cache.budget, plan.available);
  if (cache.budget > 0)
    loaded->cache_ = std::make_shared<PrefixCache>(loaded->decoder_->newSequence(), cache);
  if (loaded->cache_ && !engine.disk.folder.path.empty()) {
    loaded->cache_->setDisk(std::make_shared<DiskCache>(
        engine.disk, loaded->info_.fingerprint, loaded->decoder_->newSequence(), loaded->info_.vocabSize));
  }
  loaded->responses_ = std::make_shared<ResponseCache>(engine.responses);
  loaded->info_.loadMs = watch.ms();
  if (engine.openStore) loaded->generator_.speculation().store = engine.openStore(loaded->info_.vocabulary);
  if (!options.draftModelPath.empty()) loaded->addDraftModel(options, engine);
  if (options.measurePasses) {
    if (const Status measured = loaded->generator_.prepareRouting(); !measured) return measured.error();
  }
  return loaded;
}

LoadedEngine::~LoadedEngine() {
  if (cache_ && cache_->disk()) cache_->disk()->close();
}

void LoadedEngine::addDraftModel(const LoadOptions& options, const EngineOptions& engine) {
  const std::string& path = options.draftModelPath;
  auto draft = DraftModel::load(
      path, *model_,
      {.kernels = engine.kernels, .threads = options.threads, .cacheType = engine.cacheType, .maxRows = 64},
      {.weightCache = {.folder = engine.weightCache}});
  if (!draft) {
    info_.warnings.push_back("The draft model " + path + " is not used: " + draft.error().message +
                             ". Decoding goes on without it.");
    return;
  }
  info_.draftModel = (*draft)->model().displayName();
  generator_.speculation().draftModel = std::move(*draft);
}

LoadedEngine::LoadedEngine(std::shared_ptr<const Model> model, std::unique_ptr<Decoder> decoder,
                           int contextLength)
    : model_(std::move(model)),
      decoder_(std::move(decoder)),
      generator_(*decoder_),
      constraints_(model_->sharedTokenizer()) {
  info_.path = model_->file().path();
  info_.name = model_->displayName();
  info_.architecture = model_->config().architectureName;
  info_.quantization = model_->quantizationName();
  info_.fingerprint = model_->fingerprint();
  info_.fileBytes = model_->file().size();
  info_.parameters = model_->parameters();
  info_.contextLength = contextLength;
  info_.vocabSize = model_->config().vocabulary;
  // A template that is there but broken is not passed over in silence: requests fail with its error.
  const Result<ChatTemplate>& chat = model_->chatTemplate();
  info_.hasChatTemplate = chat.ok() || chat.error().code != ErrorCode::kNotFound;
  for (const EndToken& token : model_->tokenizer().vocabulary().endTokens())
    info_.endTokens.push_back({token.id, token.text});
  info_.kernelSet = decoder_->kernels().name;
  info_.threads = decoder_->threads();
  info_.weightsWereKept = model_->weightsWereKept();
  info_.vocabulary = vocabularyFingerprint(model_->tokenizer().vocabulary());
}

}  // namespace tandem::service
