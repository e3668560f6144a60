#include "engine/model/model.h"

#include <sys/mman.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>

#include "engine/cache/recurrent_state.h"
#include "engine/kernels/arithmetic.h"

namespace tandem {
namespace {

// Bytes the machine can give without swapping; 0 when that cannot be told.
std::uint64_t availableMemory() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  std::uint64_t kib = 0;
  while (file >> key >> kib >> unit) {
    if (key == "MemAvailable:") return kib * 1024;
  }
  return 0;
}

// XXH3-128 of the file's bytes. They are read through once and given back, so that they take no memory.
std::string hashOf(const gguf::File& file) {
  constexpr std::size_t kPart = std::size_t{2} << 20;
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), XXH3_freeState);
  XXH3_128bits_reset(state.get());
  const auto bytes = file.bytes();
  for (std::size_t begin = 0; begin < bytes.size(); begin += kPart) {
    const auto part = bytes.subspan(begin, std::min(kPart, bytes.size() - begin));
    XXH3_128bits_update(state.get(), part.data(), part.size());
    file.releasePages(part);
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return text;
}

Result<ChatTemplate> readTemplate(const gguf::File& file, const Tokenizer& tokenizer) {
  auto source = file.getString("tokenizer.chat_template");
  if (!source.ok()) return source.error();
  if (!source->has_value()) {
    return Error{ErrorCode::kNotFound, "the model has no chat template: it continues text and does not chat",
                 "tokenizer.chat_template"};
  }
  const auto spelling = [&](TokenId id) { return std::string(tokenizer.decode(id, ControlText::kShown)); };
  return ChatTemplate::parse(**source, spelling(tokenizer.vocabulary().bosId()),
                             spelling(tokenizer.vocabulary().eosId()));
}

std::string megabytes(std::uint64_t bytes) {
  return std::to_string((bytes + (1u << 20) - 1) >> 20) + " MiB";
}

// Rows of one prefill pass. At 20 G multiply-adds a second a layer then takes about 0.1 s; and what recurrent
// layers leave of each row in the scratch stays below 128 MiB.
int passRows(const ModelConfig& config) {
  const double byTime = 2e9 / config.layerMultiplyAdds();
  const std::size_t perRow = recurrentLayout(config).scratchBytesPerRow();
  const double bySpace = perRow == 0 ? byTime : (128.0 * 1024 * 1024) / static_cast<double>(perRow);
  const int rows = static_cast<int>(std::min({byTime, bySpace, 512.0}));
  return std::max(rows / kernels::kTile * kernels::kTile, kernels::kTile);
}

Result<WeightMemory> anonymousMemory(std::uint64_t bytes) {
  const std::size_t size = std::max<std::uint64_t>(bytes, 1);
  void* address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) {
    return Error{ErrorCode::kOutOfMemory,
                 "there is not enough memory for the model's weights (" + megabytes(bytes) + ")"};
  }
  ::madvise(address, size, MADV_HUGEPAGE);  // fewer misses of the address translation
  std::shared_ptr<std::uint8_t> data(static_cast<std::uint8_t*>(address),
                                     [size](std::uint8_t* p) { ::munmap(p, size); });
  return WeightMemory{data, bytes, data.get()};
}

// Reads the weights into a new file of the cache, or into memory where it takes none.
Result<Weights> readWeights(const gguf::File& file, const ModelConfig& config, const WeightCache& cache,
                            const WeightKey& key, ThreadPool& pool,
                            const std::function<void(double)>& progress) {
  if (const std::unique_ptr<NewWeightFile> kept = cache.create(key)) {
    const WeightMemory memory{kept->data(), key.layout.bytes, kept->data().get()};
    auto weights = Weights::load(file, config, memory, pool, progress);
    if (weights.ok()) kept->keep(file.identity(), pool);
    return weights;
  }
  const auto memory = anonymousMemory(key.layout.bytes);
  if (!memory.ok()) return memory.error();
  return Weights::load(file, config, *memory, pool, progress);
}

Status checkVocabulary(const Tokenizer& tokenizer, const ModelConfig& config) {
  if (tokenizer.vocabSize() == static_cast<std::size_t>(config.vocabulary)) return {};
  return Error{ErrorCode::kCorruptFile,
               "the vocabulary has " + std::to_string(tokenizer.vocabSize()) + " tokens and the embedding " +
                   std::to_string(config.vocabulary) + " rows",
               "tokenizer.ggml.tokens"};
}

}  // namespace

std::string fileTypeName(std::uint64_t fileType) {
  switch (fileType) {
    case 0:
      return "F32";
    case 1:
      return "F16";
    case 2:
      return "Q4_0";
    case 3:
      return "Q4_1";
    case 7:
      return "Q8_0";
    case 8:
      return "Q5_0";
    case 9:
      return "Q5_1";
    case 10:
      return "Q2_K";
    case 11:
      return "Q3_K_S";
    case 12:
      return "Q3_K_M";
    case 13:
      return "Q3_K_L";
    case 14:
      return "Q4_K_S";
    case 15:
      return "Q4_K_M";
    case 16:
      return "Q5_K_S";
    case 17:
      return "Q5_K_M";
    case 18:
      return "Q6_K";
    case 25:
      return "IQ4_NL";
    case 30:
      return "IQ4_XS";
    case 32:
      return "BF16";
    default:
      return "";
  }
}

MemoryPlan Model::plan(const gguf::File& file, const ModelConfig& c) {
  MemoryPlan plan;
  for (const auto& tensor : file.tensors())
    plan.weights += tensor.bytes;
  const int stride = kernels::roundUp(c.headDim, kernels::kLanes);
  plan.cachePerToken = std::uint64_t{2} * 2 * c.attentionLayers() * c.kvHeads * stride;
  const MixtureConfig& m = c.mixture;
  const std::uint64_t widths = 3ull * c.dim + 2ull * c.heads * c.headDim + 2ull * c.kvHeads * c.headDim +
                               2ull * std::max(c.feedForward, m.sharedFeedForward) +
                               2ull * m.used * (c.dim + m.feedForward) + 2ull * c.deltaNet.valueDim();
  const RecurrentLayout state = recurrentLayout(c);
  plan.activations =
      passRows(c) * (widths * 4 + plan.cachePerToken + state.scratchBytesPerRow()) + 2 * state.bytes();
  plan.available = availableMemory();
  return plan;
}

Result<std::shared_ptr<const Model>> Model::load(const std::string& path, const ModelOptions& options) {
  auto file = gguf::File::open(path);
  if (!file.ok()) return file.error();
  auto config = ModelConfig::read(**file);
  if (!config.ok()) return config.error();
  const MemoryPlan plan = Model::plan(**file, *config);
  if (plan.available != 0 && plan.weights + plan.activations > plan.available) {
    return Error{ErrorCode::kOutOfMemory, "the model needs " + megabytes(plan.weights + plan.activations) +
                                              " of memory and this machine has " + megabytes(plan.available) +
                                              " free"};
  }
  // Beside each other: the tokenizer is made, the file is hashed, kept weights are checked.
  const gguf::File& from = **file;
  const WeightCache cache(options.weightCache);
  auto making = std::async(std::launch::async,
                           [&] { return Tokenizer::load(from, {.preTokenizer = options.preTokenizer}); });
  const auto known = cache.fingerprintOf(from.identity());
  auto hashing = std::async(std::launch::async, [&] { return known ? *known : hashOf(from); });

  const auto layout = Weights::layout(from, *config);
  ThreadPool pool(options.loadThreads > 0 ? options.loadThreads : availableCpus());
  WeightKey key;
  std::shared_ptr<const std::uint8_t> kept;
  if (layout.ok()) {
    key = {hashing.get(), *layout};
    kept = cache.find(key, from.identity(), pool, options.progress);
  }
  auto tokenizer = making.get();
  if (!tokenizer.ok()) return tokenizer.error();
  if (Status s = checkVocabulary(**tokenizer, *config); !s.ok()) return s.error();
  if (!layout.ok()) return layout.error();
  auto weights = kept ? Weights::load(from, *config, {kept, layout->bytes}, pool)
                      : readWeights(from, *config, cache, key, pool, options.progress);
  if (!weights.ok()) return weights.error();

  auto model = std::shared_ptr<Model>(new Model);
  model->template_ = readTemplate(from, **tokenizer);
  model->fingerprint_ = key.fingerprint;
  model->weightsWereKept_ = kept != nullptr;
  from.releasePages(from.bytes());
  model->file_ = std::move(*file);
  model->config_ = std::move(*config);
  model->weights_ = std::move(*weights);
  model->tokenizer_ = std::move(*tokenizer);
  return std::shared_ptr<const Model>(std::move(model));
}

std::string Model::displayName() const {
  return config_.name.empty() ? std::filesystem::path(file_->path()).stem().string() : config_.name;
}

std::string Model::quantizationName() const {
  auto type = file_->getUint("general.file_type");
  return type.ok() && type->has_value() ? fileTypeName(**type) : std::string();
}

std::uint64_t Model::parameters() const {
  std::uint64_t elements = 0;
  for (const auto& tensor : file_->tensors())
    elements += tensor.elements;
  return elements;
}

int Model::prefillRows() const {
  return passRows(config_);
}

}  // namespace tandem
