#include "engine/model/weights.h"

#include <cmath>

namespace tandem {
namespace {

using kernels::PackedMatrix;
using kernels::WeightFormat;

std::string shapeText(const std::vector<std::uint64_t>& dims) {
  std::string text;
  for (const auto d : dims)
    text += (text.empty() ? "" : " x ") + std::to_string(d);
  return text;
}

// Takes tensors out of the file one by one and keeps the first error, so that the list of what a model needs
// reads as a list.
class TensorReader {
 public:
  TensorReader(const gguf::File& file, ThreadPool& pool) : file_(file), pool_(pool) {}

  // W of n rows of k elements, with the bias beside it if the file has one.
  Linear linear(const std::string& name, int n, int k) {
    Linear linear;
    linear.weight = matrix(name + ".weight", n, k);
    if (file_.findTensor(name + ".bias")) linear.bias = vector(name + ".bias", n);
    return linear;
  }

  PackedMatrix matrix(const std::string& name, int n, int k) {
    const gguf::TensorInfo* tensor =
        find(name, {static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(n)});
    if (!tensor) return {};
    const auto format = formatOf(*tensor, k);
    if (!status_.ok()) return {};
    auto packed = PackedMatrix::pack(format, n, k, file_.data(*tensor), pool_);
    if (!packed.ok()) return fail(packed.error()), PackedMatrix();
    file_.releasePages(*tensor);
    bytes_ += packed->bytes();
    return std::move(packed).value();
  }

  std::vector<float> vector(const std::string& name, int n) {
    const gguf::TensorInfo* tensor = find(name, {static_cast<std::uint64_t>(n)});
    if (!tensor) return {};
    const auto format = formatOf(*tensor, n);
    if (!status_.ok()) return {};
    std::vector<float> values(n);
    kernels::dequantizeRow(format, file_.data(*tensor).data(), n, values.data());
    for (const float value : values) {
      if (!std::isfinite(value)) {
        fail({ErrorCode::kCorruptFile, "the tensor " + name + " holds a number that is not finite", name,
              tensor->offset});
        break;
      }
    }
    return values;
  }

  EmbeddingTable embedding(const std::string& name, int n, int k) {
    const gguf::TensorInfo* tensor =
        find(name, {static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(n)});
    if (!tensor) return {};
    const auto format = formatOf(*tensor, k);
    return {format, file_.data(*tensor).data(), static_cast<std::size_t>(tensor->bytes / n)};
  }

  bool has(const std::string& name) const { return file_.findTensor(name) != nullptr; }
  void fail(Error error) {
    if (status_.ok()) status_ = std::move(error);
  }
  const Status& status() const { return status_; }
  std::size_t bytes() const { return bytes_; }

 private:
  const gguf::TensorInfo* find(const std::string& name, const std::vector<std::uint64_t>& dims) {
    if (!status_.ok()) return nullptr;
    const gguf::TensorInfo* tensor = file_.findTensor(name);
    if (!tensor) {
      fail({ErrorCode::kCorruptFile, "the model file lacks the tensor " + name + "; it is incomplete", name});
      return nullptr;
    }
    if (tensor->dims != dims) {
      fail({ErrorCode::kCorruptFile,
            "the tensor " + name + " has the shape " + shapeText(tensor->dims) + " where the model needs " +
                shapeText(dims),
            name, tensor->offset});
      return nullptr;
    }
    return tensor;
  }

  WeightFormat formatOf(const gguf::TensorInfo& tensor, int k) {
    auto format = kernels::weightFormatOf(tensor.type);
    if (!format.ok()) {
      fail({ErrorCode::kUnsupported, "the tensor " + tensor.name + ": " + format.error().message, tensor.name,
            tensor.offset});
      return WeightFormat::kF32;
    }
    if (k % kernels::formatTraits(*format).unitElements != 0) {
      fail({ErrorCode::kCorruptFile, "rows of the tensor " + tensor.name + " are no whole number of blocks",
            tensor.name, tensor.offset});
    }
    return *format;
  }

  const gguf::File& file_;
  ThreadPool& pool_;
  Status status_;
  std::size_t bytes_ = 0;
};

LayerWeights readLayer(TensorReader& in, const ModelConfig& c, int index) {
  const std::string block = "blk." + std::to_string(index) + ".";
  LayerWeights layer;
  layer.attentionNorm = in.vector(block + "attn_norm.weight", c.dim);
  layer.q = in.linear(block + "attn_q", c.heads * c.headDim, c.dim);
  layer.k = in.linear(block + "attn_k", c.kvHeads * c.headDim, c.dim);
  layer.v = in.linear(block + "attn_v", c.kvHeads * c.headDim, c.dim);
  layer.attentionOut = in.linear(block + "attn_output", c.dim, c.heads * c.headDim);
  layer.feedForwardNorm = in.vector(block + "ffn_norm.weight", c.dim);
  layer.gate = in.linear(block + "ffn_gate", c.feedForward, c.dim);
  layer.up = in.linear(block + "ffn_up", c.feedForward, c.dim);
  layer.down = in.linear(block + "ffn_down", c.dim, c.feedForward);
  if (c.architecture == Architecture::kGemma3) {
    layer.qNorm = in.vector(block + "attn_q_norm.weight", c.headDim);
    layer.kNorm = in.vector(block + "attn_k_norm.weight", c.headDim);
    layer.postAttentionNorm = in.vector(block + "post_attention_norm.weight", c.dim);
    layer.postFeedForwardNorm = in.vector(block + "post_ffw_norm.weight", c.dim);
  }
  return layer;
}

}  // namespace

Result<Weights> Weights::load(const gguf::File& file, const ModelConfig& c, ThreadPool& pool,
                              void (*progress)(void* context, double fraction), void* context) {
  TensorReader in(file, pool);
  Weights w;
  w.embedding = in.embedding("token_embd.weight", c.vocabulary, c.dim);
  w.outputNorm = in.vector("output_norm.weight", c.dim);
  if (in.has("rope_freqs.weight")) w.ropeFactors = in.vector("rope_freqs.weight", c.rope.dims / 2);
  for (int i = 0; i < c.layers && in.status().ok(); ++i) {
    w.layers.push_back(readLayer(in, c, i));
    if (progress) progress(context, static_cast<double>(i + 1) / (c.layers + 1));
  }
  w.head = in.matrix(in.has("output.weight") ? "output.weight" : "token_embd.weight", c.vocabulary, c.dim);
  if (!in.status().ok()) return in.status().error();
  if (progress) progress(context, 1.0);
  w.bytes = in.bytes();
  return w;
}

}  // namespace tandem
