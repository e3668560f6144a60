#include "engine/model/config.h"

#include <cmath>
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
  c.windowedLayer.assign(c.layers, false);
  c.window = in.has("attention.sliding_window") ? in.count("attention.sliding_window", 1u << 24) : 0;
  if (c.window == 0) return;
  const std::string key = "attention.sliding_window_pattern";
  if (const gguf::ArrayView* flags = in.array(key)) {
    const std::size_t width = flags->count ? flags->bytes.size() / flags->count : 0;
    if (flags->count < static_cast<std::uint64_t>(c.layers) || width == 0) {
      in.fail(key,
              "has " + std::to_string(flags->count) + " numbers for " + std::to_string(c.layers) + " layers");
      return;
    }
    for (int layer = 0; layer < c.layers; ++layer) {
      bool windowed = false;
      for (std::size_t b = 0; b < width; ++b)
        windowed |= flags->bytes[layer * width + b] != std::byte{0};
      c.windowedLayer[layer] = windowed;
    }
    return;
  }
  const int period = in.count(key, 1u << 16, defaultPeriod);
  for (int layer = 0; period > 0 && layer < c.layers; ++layer)
    c.windowedLayer[layer] = layer % period != period - 1;
}

void readLlama(Reader& in, ModelConfig& c) {
  c.architecture = Architecture::kLlama;
  c.windowedLayer.assign(c.layers, false);
  c.rope.adjacentPairs = true;
  c.attentionScale = static_cast<float>(in.number("attention.scale", 0.0, 100.0, 0.0));
  if (in.count("expert_count", 1u << 16, 0, 0) > 0) {
    in.fail("expert_count", "says that this is a mixture of experts, which cannot be run yet",
            ErrorCode::kUnsupported);
  }
}

void readGemma3(Reader& in, ModelConfig& c) {
  c.architecture = Architecture::kGemma3;
  readWindows(in, c, 6);
  c.rope.adjacentPairs = false;
  c.activation = kernels::Activation::kGelu;
  c.embeddingScale = std::sqrt(static_cast<float>(c.dim));
  // The 27B model scales by its width per head; it is told by its 62 layers.
  const int scaledBy = c.layers == 62 && c.heads > 0 ? c.dim / c.heads : c.headDim;
  const double usual = scaledBy > 0 ? 1.0 / std::sqrt(static_cast<double>(scaledBy)) : 0.0;
  c.attentionScale = static_cast<float>(in.number("attention.scale", 0.0, 100.0, usual));
}

}  // namespace

double ModelConfig::layerMultiplyAdds() const {
  const double attention = static_cast<double>(dim) * headDim * (2.0 * heads + 2.0 * kvHeads);
  return attention + 3.0 * static_cast<double>(dim) * feedForward;
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
  if (c.architectureName != "llama" && c.architectureName != "gemma3") {
    return Error{
        ErrorCode::kUnsupported,
        "models of the architecture '" + c.architectureName + "' cannot be run yet; llama and gemma3 can",
        "general.architecture"};
  }
  if (auto name = file.getString("general.name"); name.ok() && name->has_value())
    c.name = std::string(**name);

  Reader in(file, c.architectureName);
  c.layers = in.count("block_count", 1024);
  c.dim = in.count("embedding_length", 1u << 20);
  c.heads = in.count("attention.head_count", 4096);
  c.kvHeads = in.count("attention.head_count_kv", 4096, c.heads > 0 ? c.heads : 1);
  c.feedForward = in.count("feed_forward_length", 1u << 22);
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
  c.architectureName == "llama" ? readLlama(in, c) : readGemma3(in, c);
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
