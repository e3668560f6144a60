#include "engine/kernels/packed_matrix.h"

#include <cstdlib>
#include <cstring>

#include "engine/base/thread_pool.h"
#include "engine/kernels/arithmetic.h"
#include "engine/kernels/quant/dispatch.h"

namespace tandem::kernels {

Result<WeightFormat> weightFormatOf(gguf::TensorType type) {
  switch (type) {
    case gguf::TensorType::kF32:
      return WeightFormat::kF32;
    case gguf::TensorType::kF16:
      return WeightFormat::kF16;
    case gguf::TensorType::kBF16:
      return WeightFormat::kBF16;
    case gguf::TensorType::kQ4_0:
      return WeightFormat::kQ4_0;
    case gguf::TensorType::kQ4_1:
      return WeightFormat::kQ4_1;
    case gguf::TensorType::kQ5_0:
      return WeightFormat::kQ5_0;
    case gguf::TensorType::kQ5_1:
      return WeightFormat::kQ5_1;
    case gguf::TensorType::kQ8_0:
      return WeightFormat::kQ8_0;
    case gguf::TensorType::kQ2_K:
      return WeightFormat::kQ2_K;
    case gguf::TensorType::kQ3_K:
      return WeightFormat::kQ3_K;
    case gguf::TensorType::kQ4_K:
      return WeightFormat::kQ4_K;
    case gguf::TensorType::kQ5_K:
      return WeightFormat::kQ5_K;
    case gguf::TensorType::kQ6_K:
      return WeightFormat::kQ6_K;
    case gguf::TensorType::kIQ4_NL:
      return WeightFormat::kIQ4_NL;
    case gguf::TensorType::kIQ4_XS:
      return WeightFormat::kIQ4_XS;
    case gguf::TensorType::kMXFP4:
      return WeightFormat::kMXFP4;
    case gguf::TensorType::kNVFP4:
      return WeightFormat::kNVFP4;
    default:
      break;
  }
  return Error{
      ErrorCode::kUnsupported,
      std::string("weights of type ") + gguf::blockInfo(type).name +
          " cannot be run; F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K to Q6_K, IQ4_NL, IQ4_XS, MXFP4 "
          "and NVFP4 can"};
}

FormatTraits formatTraits(WeightFormat format) {
  return withFormat(format, []<class F>(F) {
    return FormatTraits{F::kElements, F::kFileBytes, F::kPackedBytes};
  });
}

void PackedMatrix::Free::operator()(std::uint8_t* p) const {
  std::free(p);
}

Result<PackedMatrix> PackedMatrix::pack(WeightFormat format, int n, int k, std::span<const std::byte> columns,
                                        ThreadPool& pool) {
  const FormatTraits traits = formatTraits(format);
  assert(k % traits.unitElements == 0);
  const std::size_t units = static_cast<std::size_t>(k / traits.unitElements);
  const std::size_t rowBytes = units * static_cast<std::size_t>(traits.fileBytes);
  assert(columns.size() == rowBytes * static_cast<std::size_t>(n));

  PackedMatrix matrix;
  matrix.format_ = format;
  matrix.n_ = n;
  matrix.k_ = k;
  matrix.groupBytes_ = units * static_cast<std::size_t>(traits.packedBytes);
  const std::size_t size = (matrix.bytes() + 63) / 64 * 64;
  auto* memory = static_cast<std::uint8_t*>(std::aligned_alloc(64, size));
  if (!memory) {
    return Error{ErrorCode::kOutOfMemory, "there is not enough memory for the model's weights (" +
                                              std::to_string(size >> 20) + " MiB for one matrix)"};
  }
  matrix.owner_.reset(memory);
  matrix.data_ = memory;

  const auto* source = reinterpret_cast<const std::uint8_t*>(columns.data());
  withFormat(format, [&]<class F>(F) {
    pool.parallelFor(matrix.groups(), 16, [&](int begin, int end) {
      for (int g = begin; g < end; ++g) {
        std::uint8_t* unit = memory + static_cast<std::size_t>(g) * matrix.groupBytes_;
        std::memset(unit, 0, matrix.groupBytes_);
        for (std::size_t u = 0; u < units; ++u, unit += F::kPackedBytes) {
          for (int c = 0; c < kGroup && g * kGroup + c < n; ++c) {
            const std::size_t column = static_cast<std::size_t>(g * kGroup + c);
            F::pack(source + column * rowBytes + u * F::kFileBytes, c, unit);
          }
        }
      }
    });
  });
  return matrix;
}

void dequantizeRow(WeightFormat format, const std::byte* row, int k, float* out) {
  withFormat(format, [&]<class F>(F) {
    const auto* block = reinterpret_cast<const std::uint8_t*>(row);
    for (int i = 0; i < k; i += F::kElements, block += F::kFileBytes)
      F::dequantize(block, out + i);
  });
}

}  // namespace tandem::kernels
