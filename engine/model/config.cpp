#include "engine/model/config.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "engine/kernels/arithmetic.h"

namespace tandem {
namespace {

constexpr int kMaxHeadDim = 512;  // what the attention kernels hold on their stack

// Reads keys "<architecture>.<suffix>" and keeps the first error.
class Reader {
 public:
  Reader(const gguf::File& file, std::string architecture)
      : file_(file), prefix_(std::move(architecture) + ".") {}

  bool has(const std::string& suffix) const { return file_.find(prefix_ + suffix) != nullptr; }

  // A whole number in min … max; `fallback` when absent, an error when there is no fallback.
  int count(const std::string& suffix, std::uint64_t max, std::optional<int> fallback = std::nullopt,
            std::uint64_t min = 1) {
    auto value = file_.getUint(prefix_ + suffix);
    if (!value.ok()) return fail(value.error());
    if (!value->has_value()) {
      if (fallback) return *fallback;
      return fail(suffix, "is missing from the model file");
    }
    if (**value < min || **value > max) {
      return fail(suffix, "is " + std::to_string(**value) + "; it must lie between " + std::to_string(min) +
                              " and " + std::to_string(max));
    }
    return static_cast<int>(**value);
  }

  // A finite number in [min, max].
  double number(const std::string& suffix, double min, double max,
                std::optional<double> fallback = std::nullopt) {
    auto value = file_.getFloat(prefix_ + suffix);
    if (!value.ok()) return fail(value.error());
    if (!value->has_value()) {
      if (fallback) return *fallback;
      return fail(suffix, "is missing from the model file");
    }
    if (!(**value >= min && **value <= max)) {
      return fail(suffix, "is " + std::to_string(**value) + ", which no model of this kind can have");
    }
    return **value;
  }

  std::string text(const std::string& suffix) {
    auto value = file_.getString(prefix_ + suffix);
    if (!value.ok()) {
      fail(value.error());
      return {};
    }
    return value->has_value() ? std::string(**value) : std::string();
  }

  // One flag per layer, of an array of whole numbers or booleans of any width.
  void flags(const std::string& suffix, int layers, std::vector<bool>& out) {
    const gguf::ArrayView* values = array(suffix);
    const std::size_t width = values && values->count ? values->bytes.size() / values->count : 0;
    if (width == 0 || values->count < static_cast<std::uint64_t>(layers)) {
      fail(suffix, "has " + std::to_string(values ? values->count : 0) + " numbers for " +
                       std::to_string(layers) + " layers");
      return;
    }
    for (int layer = 0; layer < layers; ++layer) {
      bool set = false;
      for (std::size_t b = 0; b < width; ++b)
        set |= values->bytes[layer * width + b] != std::byte{0};
      out[layer] = set;
    }
  }

  const gguf::ArrayView* array(const std::string& suffix) {
    const gguf::MetadataEntry* entry = file_.find(prefix_ + suffix);
    return entry ? std::get_if<gguf::ArrayView>(&entry->value) : nullptr;
  }

  int fail(Error error) {
    if (status_.ok()) status_ = std::move(error);
    return 0;
  }
  int fail(const std::string& suffix, const std::string& what, ErrorCode code = ErrorCode::kCorruptFile) {
    const gguf::MetadataEntry* entry = file_.find(prefix_ + suffix);
    Error error{code, "the model's " + prefix_ + suffix + " " + what, prefix_ + suffix};
    if (entry) error.offset = entry->offset;
    return fail(std::move(error));
  }
  Status status() const { return status_; }

 private:
  const gguf::File& file_;
  std::string prefix_;
  Status status_;
};

void readRope(Reader& in, ModelConfig& c) {
  c.rope.dims = in.count("rope.dimension_count", 1u << 20, c.headDim);
  if (c.rope.dims > c.headDim || c.rope.dims % 2 != 0) {
    in.fail("rope.dimension_count", "is " + std::to_string(c.rope.dims) +
                                        "; it must be even and at most the head size " +
                                        std::to_string(c.headDim));
  }
  c.rope.base = in.number("rope.freq_base", 1.0, 1e12, 10000.0);
  c.rope.baseWindowed = in.number("rope.freq_base_swa", 1.0, 1e12, 10000.0);
  const std::string scaling = in.text("rope.scaling.type");
  if (!scaling.empty() && scaling != "none" && scaling != "linear") {
    in.fail("rope.scaling.type",
            "is '" + scaling + "', a position scaling that cannot be run yet; none and linear can",
            ErrorCode::kUnsupported);
  }
  // Older files give the same number as rope.scale_linear.
  const double linear = in.number("rope.scale_linear", 1e-6, 1e6, 1.0);
  const double factor = in.number("rope.scaling.factor", 0.0, 1e6, linear);
  if (factor != 0.0 && scaling != "none") c.rope.positionScale = 1.0 / factor;
}

// One flag per layer, or a period of which the last layer sees everything.
void readWindows(Reader& in, ModelConfig& c, int defaultPeriod) {
  c.window = in.has("attention.sliding_window") ? in.count("attention.sliding_window", 1u << 24) : 0;
  if (c.window == 0) return;
  const std::string key = "attention.sliding_window_pattern";
  if (in.array(key)) {
    in.flags(key, c.layers, c.windowedLayer);
    return;
  }
  const int period = in.count(key, 1u << 16, defaultPeriod);
  for (int layer = 0; period > 0 && layer < c.layers; ++layer)
    c.windowedLayer[layer] = layer % period != period - 1;
}

void readLlama(Reader& in, ModelConfig& c) {
  c.rope.adjacentPairs = true;
  c.attentionScale = static_cast<float>(in.number("attention.scale", 0.0, 100.0, 0.0));
  if (in.count("expert_count", 1u << 16, 0, 0) > 0) {
    in.fail("expert_count", "says that this is a mixture of experts, which cannot be run yet",
            ErrorCode::kUnsupported);
  }
}

void readGemma(Reader& in, ModelConfig& c) {
  const bool second = c.architecture == Architecture::kGemma2;
  readWindows(in, c, second ? 2 : 6);
  c.rope.adjacentPairs = false;
  if (second) c.rope.baseWindowed = c.rope.base;
  c.activation = kernels::Activation::kGelu;
  c.embeddingScale = std::sqrt(static_cast<float>(c.dim));
  if (second) {
    c.attentionSoftCap = static_cast<float>(in.number("attn_logit_softcapping", 0.0, 1e6, 50.0));
    c.finalSoftCap = static_cast<float>(in.number("final_logit_softcapping", 0.0, 1e6, 30.0));
  }
  // The 27B models scale by their width per head; they are told by their layers.
  const bool byWidth = c.layers == (second ? 46 : 62) && c.heads > 0;
  const int scaledBy = byWidth ? c.dim / c.heads : c.headDim;
  const double usual = scaledBy > 0 ? 1.0 / std::sqrt(static_cast<double>(scaledBy)) : 0.0;
  c.attentionScale = static_cast<float>(in.number("attention.scale", 0.0, 100.0, usual));
}

void readMixture(Reader& in, ModelConfig& c) {
  MixtureConfig& m = c.mixture;
  m.experts = in.count("expert_count", 1u << 16);
  m.used = in.count("expert_used_count", 1024);
  const int fallback = m.used > 0 && c.feedForward >= m.used ? c.feedForward / m.used : 0;
  m.feedForward = in.count("expert_feed_forward_length", 1u << 22,
                           fallback > 0 ? std::optional<int>(fallback) : std::nullopt);
  if (m.used > m.experts) {
    in.fail("expert_used_count", "is " + std::to_string(m.used) + ", more than the " +
                                     std::to_string(m.experts) + " experts there are");
  }
  const double scale = in.number("expert_weights_scale", 0.0, 1e6, 1.0);
  if (scale != 0.0 && scale != 1.0) {
    in.fail("expert_weights_scale", "is set, which cannot be run yet", ErrorCode::kUnsupported);
  }
}

void readDeltaNet(Reader& in, ModelConfig& c) {
  DeltaNetConfig& d = c.deltaNet;
  d.taps = in.count("ssm.conv_kernel", 64, std::nullopt, 2);
  d.headDim = in.count("ssm.state_size", kMaxHeadDim);
  d.keyHeads = in.count("ssm.group_count", 4096);
  d.valueHeads = in.count("ssm.time_step_rank", 4096);
  d.repeatsInPlace = c.architecture == Architecture::kQwen3Next;
  if (!in.status().ok()) return;
  if (d.valueHeads % d.keyHeads != 0) {
    in.fail("ssm.time_step_rank", "is " + std::to_string(d.valueHeads) + ", no multiple of the " +
                                      std::to_string(d.keyHeads) + " key heads");
  }
  const int inner = in.count("ssm.inner_size", 1u << 24);
  if (inner != d.valueDim()) {
    in.fail("ssm.inner_size",
            "is " + std::to_string(inner) + " where the heads give " + std::to_string(d.valueDim()));
  }
  const std::string key = "attention.recurrent_layers";
  if (in.array(key)) {
    in.flags(key, c.layers, c.recurrentLayer);
    return;
  }
  const int interval = in.count("full_attention_interval", 1024, 4);
  for (int layer = 0; interval > 0 && layer < c.layers; ++layer)
    c.recurrentLayer[layer] = (layer + 1) % interval != 0;
}

void readQwen3(Reader& in, ModelConfig& c) {
  c.rope.adjacentPairs = false;
  c.attentionScale = static_cast<float>(in.number("attention.scale", 0.0, 100.0, 0.0));
  const bool dense = c.architecture == Architecture::kQwen3 || c.architecture == Architecture::kQwen35;
  if (!dense) readMixture(in, c);
  if (c.architecture == Architecture::kQwen3 || c.architecture == Architecture::kQwen3Moe) return;
  readDeltaNet(in, c);
  if (!dense) {
    c.mixture.sharedFeedForward = in.count("expert_shared_feed_forward_length", 1u << 22, c.feedForward, 0);
  }
}

struct Known {
  const char* name;
  Architecture architecture;
  void (*read)(Reader& in, ModelConfig& c);
};
constexpr Known kKnown[] = {
    {"llama", Architecture::kLlama, readLlama},       {"gemma2", Architecture::kGemma2, readGemma},
    {"gemma3", Architecture::kGemma3, readGemma},     {"qwen3", Architecture::kQwen3, readQwen3},
    {"qwen3moe", Architecture::kQwen3Moe, readQwen3}, {"qwen3next", Architecture::kQwen3Next, readQwen3},
    {"qwen35", Architecture::kQwen35, readQwen3},     {"qwen35moe", Architecture::kQwen35Moe, readQwen3},
};

std::string knownNames() {
  std::string names;
  for (const Known& known : kKnown)
    names += (names.empty() ? "" : ", ") + std::string(known.name);
  return names;
}

}  // namespace

int ModelConfig::slotOf(int layer) const {
  if (layer == layers) return attentionLayers();
  int slot = 0;
  for (int i = 0; i < layer; ++i)
    slot += recurrentLayer[i] == recurrentLayer[layer] ? 1 : 0;
  return slot;
}

int ModelConfig::attentionLayers() const {
  int count = 0;
  for (const bool recurrent : recurrentLayer)
    count += recurrent ? 0 : 1;
  return count;
}

RecurrentLayout recurrentLayout(const ModelConfig& c) {
  const DeltaNetConfig& d = c.deltaNet;
  if (!c.hybrid()) return {};
  return {c.recurrentLayers(), d.channels(), d.taps - 1, d.valueHeads, d.headDim};
}

double ModelConfig::layerMultiplyAdds() const {
  const double attention = static_cast<double>(dim) * headDim * (2.0 * heads + 2.0 * kvHeads);
  const double experts = static_cast<double>(mixture.used) * mixture.feedForward + mixture.sharedFeedForward;
  const double width = mixture.experts > 0 ? experts : feedForward;
  const double recurrent = static_cast<double>(dim) * (deltaNet.channels() + 2.0 * deltaNet.valueDim()) +
                           3.0 * deltaNet.valueDim() * deltaNet.headDim;
  return std::max(attention, recurrent) + 3.0 * static_cast<double>(dim) * width;
}

Result<ModelConfig> ModelConfig::read(const gguf::File& file) {
  auto architecture = file.getString("general.architecture");
  if (!architecture.ok()) return architecture.error();
  if (!architecture->has_value()) {
    return Error{ErrorCode::kCorruptFile, "the model file does not say its architecture",
                 "general.architecture"};
  }
  ModelConfig c;
  c.architectureName = std::string(**architecture);
  const Known* known = std::find_if(std::begin(kKnown), std::end(kKnown),
                                    [&](const Known& k) { return c.architectureName == k.name; });
  if (known == std::end(kKnown)) {
    return Error{
        ErrorCode::kUnsupported,
        "models of the architecture '" + c.architectureName + "' cannot be run yet; " + knownNames() + " can",
        "general.architecture"};
  }
  c.architecture = known->architecture;
  if (auto name = file.getString("general.name"); name.ok() && name->has_value())
    c.name = std::string(**name);

  Reader in(file, c.architectureName);
  const int blocks = in.count("block_count", 1024);
  c.nextnLayers = in.count("nextn_predict_layers", 1024, 0, 0);
  if (c.nextnLayers >= blocks && in.status().ok()) in.fail("nextn_predict_layers", "leaves no layer");
  c.layers = blocks - c.nextnLayers;
  c.windowedLayer.assign(std::max(c.layers, 0), false);
  c.recurrentLayer.assign(std::max(c.layers, 0), false);
  c.dim = in.count("embedding_length", 1u << 20);
  c.heads = in.count("attention.head_count", 4096);
  c.kvHeads = in.count("attention.head_count_kv", 4096, c.heads > 0 ? c.heads : 1);
  const bool mixture = in.count("expert_count", 1u << 16, 0, 0) > 0;
  c.feedForward = in.count("feed_forward_length", 1u << 22, mixture ? std::optional<int>(0) : std::nullopt,
                           mixture ? 0 : 1);
  c.contextLength = in.count("context_length", 1u << 24);
  c.normEpsilon = static_cast<float>(in.number("attention.layer_norm_rms_epsilon", 0.0, 1.0));
  c.finalSoftCap = static_cast<float>(in.number("final_logit_softcapping", 0.0, 1e6, 0.0));
  c.attentionSoftCap = static_cast<float>(in.number("attn_logit_softcapping", 0.0, 1e6, 0.0));
  if (!in.status().ok()) return in.status().error();

  if (c.kvHeads > c.heads || c.heads % c.kvHeads != 0) {
    in.fail("attention.head_count_kv", "is " + std::to_string(c.kvHeads) + ", which does not divide the " +
                                           std::to_string(c.heads) + " heads");
  }
  c.headDim = in.count("attention.key_length", kMaxHeadDim, c.dim / c.heads > 0 ? c.dim / c.heads : 1);
  if (in.count("attention.value_length", kMaxHeadDim, c.headDim) != c.headDim) {
    in.fail("attention.value_length", "differs from the key length, which cannot be run yet",
            ErrorCode::kUnsupported);
  }
  if (c.headDim > kMaxHeadDim) {
    in.fail(
        "attention.key_length",
        "makes heads of " + std::to_string(c.headDim) + "; " + std::to_string(kMaxHeadDim) + " is the limit",
        ErrorCode::kUnsupported);
  }
  readRope(in, c);
  known->read(in, c);
  if (c.attentionScale == 0.0f) c.attentionScale = 1.0f / std::sqrt(static_cast<float>(c.headDim));
  if (!in.status().ok()) return in.status().error();

  const gguf::TensorInfo* embedding = file.findTensor("token_embd.weight");
  if (!embedding || embedding->dims.size() != 2 || embedding->dims[1] > (1u << 24)) {
    return Error{ErrorCode::kCorruptFile, "the model file has no usable tensor token_embd.weight",
                 "token_embd.weight"};
  }
  c.vocabulary = static_cast<int>(embedding->dims[1]);
  if (in.count("vocab_size", 1u << 24, c.vocabulary) != c.vocabulary) {
    in.fail("vocab_size", "differs from the " + std::to_string(c.vocabulary) + " rows of the embedding");
  }
  if (!in.status().ok()) return in.status().error();
  return c;
}

}  // namespace tandem
