#include "engine/model/tensor_reader.h"

#include <xxhash.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "engine/kernels/arithmetic.h"

namespace tandem {
namespace {

using kernels::PackedMatrix;
using kernels::WeightFormat;

// Bytes of a tensor that are packed before its pages are given back: so much of a file is in memory twice.
constexpr std::size_t kPartBytes = std::size_t{2} << 20;

std::string shapeText(const std::vector<std::uint64_t>& dims) {
  std::string text;
  for (const auto d : dims)
    text += (text.empty() ? "" : " x ") + std::to_string(d);
  return text;
}

}  // namespace

struct TensorReader::KeyHash {
  XXH3_state_t* state = XXH3_createState();

  KeyHash() {
    XXH3_128bits_reset(state);
    add(&kernels::kPackingVersion, sizeof kernels::kPackingVersion);
  }
  ~KeyHash() { XXH3_freeState(state); }
  KeyHash(const KeyHash&) = delete;

  void add(const void* bytes, std::size_t size) { XXH3_128bits_update(state, bytes, size); }
};

TensorReader::TensorReader(const gguf::File& file) : file_(file), key_(std::make_unique<KeyHash>()) {}
TensorReader::TensorReader(const gguf::File& file, const WeightMemory& memory, ThreadPool& pool)
    : file_(file), memory_(&memory), pool_(&pool), key_(std::make_unique<KeyHash>()) {}
TensorReader::~TensorReader() = default;

Linear TensorReader::linear(const std::string& name, int n, int k) {
  Linear linear;
  linear.weight = matrix(name + ".weight", n, k);
  if (file_.findTensor(name + ".bias")) linear.bias = vector(name + ".bias", n);
  return linear;
}

PackedMatrix TensorReader::matrix(const std::string& name, int n, int k) {
  return slice(name, {static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(n)}, {.count = n}, k);
}

Linear TensorReader::rowsOf(const std::string& name, int n, int k, const std::vector<int>& rows) {
  Linear linear;
  linear.weight = slice(name + ".weight", {static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(n)},
                        {.picked = &rows, .count = static_cast<int>(rows.size())}, k);
  if (file_.findTensor(name + ".bias")) {
    const std::vector<float> bias = vector(name + ".bias", n);
    for (std::size_t i = 0; i < rows.size() && !bias.empty(); ++i)
      linear.bias.push_back(bias[rows[i]]);
  }
  return linear;
}

std::vector<PackedMatrix> TensorReader::experts(const std::string& name, int count, int rows, int rowBegin,
                                                int n, int k) {
  const std::vector<std::uint64_t> dims = {static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(rows),
                                           static_cast<std::uint64_t>(count)};
  std::vector<PackedMatrix> matrices;
  for (int e = 0; e < count && status_.ok(); ++e)
    matrices.push_back(slice(name, dims, {.begin = e * rows + rowBegin, .count = n}, k));
  return matrices;
}

PackedMatrix TensorReader::oneRow(const std::string& name, int k) {
  return slice(name, {static_cast<std::uint64_t>(k)}, {.count = 1}, k);
}

std::vector<float> TensorReader::vector(const std::string& name, int n) {
  return numbers(name, {static_cast<std::uint64_t>(n)}, n);
}

std::vector<float> TensorReader::numbers(const std::string& name, const std::vector<std::uint64_t>& dims,
                                         int rowLength) {
  const gguf::TensorInfo* tensor = find(name, dims);
  if (!tensor) return {};
  const auto format = formatOf(*tensor, rowLength);
  if (!status_.ok() || !memory_) return {};
  std::vector<float> values(tensor->elements);
  const std::size_t rows = tensor->elements / rowLength, rowBytes = tensor->bytes / rows;
  for (std::size_t r = 0; r < rows; ++r) {
    kernels::dequantizeRow(format, file_.data(*tensor).data() + r * rowBytes, rowLength,
                           values.data() + r * rowLength);
  }
  file_.releasePages(file_.data(*tensor));
  for (const float value : values) {
    if (!std::isfinite(value)) {
      fail({ErrorCode::kCorruptFile, "the tensor " + name + " holds a number that is not finite", name,
            tensor->offset});
      break;
    }
  }
  return values;
}

EmbeddingTable TensorReader::embedding(const std::string& name, int n, int k) {
  const gguf::TensorInfo* tensor = find(name, {static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(n)});
  if (!tensor) return {};
  const auto format = formatOf(*tensor, k);
  return {format, file_.data(*tensor).data(), static_cast<std::size_t>(tensor->bytes / n)};
}

WeightLayout TensorReader::layout() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(key_->state);
  return {bytes_, {hash.high64, hash.low64}};
}

void TensorReader::fail(Error error) {
  if (status_.ok()) status_ = std::move(error);
}

PackedMatrix TensorReader::slice(const std::string& name, const std::vector<std::uint64_t>& dims,
                                 const Rows& rows, int k) {
  const gguf::TensorInfo* tensor = find(name, dims);
  if (!tensor) return {};
  const WeightFormat format = formatOf(*tensor, k);
  if (!status_.ok()) return {};
  const std::uint64_t offset =
      (bytes_ + PackedMatrix::kAlignment - 1) / PackedMatrix::kAlignment * PackedMatrix::kAlignment;
  bytes_ = offset + PackedMatrix::bytesOf(format, rows.count, k);
  if (!memory_) {
    const std::int64_t numbers[] = {
        static_cast<std::int64_t>(offset),     static_cast<std::int64_t>(format), k, rows.begin, rows.count,
        static_cast<std::int64_t>(name.size())};
    key_->add(numbers, sizeof numbers);
    key_->add(name.data(), name.size());
    if (rows.picked) key_->add(rows.picked->data(), rows.picked->size() * sizeof(int));
    return {};
  }
  assert(bytes_ <= memory_->bytes);
  if (memory_->writable) pack(*tensor, format, rows, k, memory_->writable + offset);
  return PackedMatrix::at(format, rows.count, k, {memory_->data, memory_->data.get() + offset});
}

void TensorReader::pack(const gguf::TensorInfo& tensor, WeightFormat format, const Rows& rows, int k,
                        std::uint8_t* out) {
  const std::size_t rowBytes = tensor.bytes / (tensor.elements / k);
  const int step = std::max(static_cast<int>(kPartBytes / rowBytes) / kernels::kGroup, 1) * kernels::kGroup;
  const auto data = file_.data(tensor);
  std::vector<std::byte> picked;
  for (int first = 0; first < rows.count; first += step) {
    const int count = std::min(step, rows.count - first);
    auto part = rows.picked ? data : data.subspan((rows.begin + first) * rowBytes, count * rowBytes);
    if (rows.picked) {
      picked.resize(count * rowBytes);
      for (int i = 0; i < count; ++i)
        std::memcpy(picked.data() + i * rowBytes, data.data() + (*rows.picked)[first + i] * rowBytes,
                    rowBytes);
    }
    PackedMatrix::packInto(format, count, k, rows.picked ? picked : part, *pool_, out);
    file_.releasePages(part);
    out += PackedMatrix::bytesOf(format, count, k);
  }
}

const gguf::TensorInfo* TensorReader::find(const std::string& name, const std::vector<std::uint64_t>& dims) {
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

WeightFormat TensorReader::formatOf(const gguf::TensorInfo& tensor, int k) {
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

}  // namespace tandem
