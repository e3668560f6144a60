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

std::size_t PackedMatrix::bytesOf(WeightFormat format, int n, int k) {
  const FormatTraits traits = formatTraits(format);
  const auto groups = (static_cast<std::size_t>(n) + kGroup - 1) / kGroup;
  return groups * static_cast<std::size_t>(k / traits.unitElements) *
         static_cast<std::size_t>(traits.packedBytes);
}

void PackedMatrix::packInto(WeightFormat format, int n, int k, std::span<const std::byte> columns,
                            ThreadPool& pool, std::uint8_t* out) {
  const FormatTraits traits = formatTraits(format);
  assert(k % traits.unitElements == 0);
  const std::size_t units = static_cast<std::size_t>(k / traits.unitElements);
  const std::size_t rowBytes = units * static_cast<std::size_t>(traits.fileBytes);
  const std::size_t groupBytes = units * static_cast<std::size_t>(traits.packedBytes);
  assert(columns.size() == rowBytes * static_cast<std::size_t>(n));

  const auto* source = reinterpret_cast<const std::uint8_t*>(columns.data());
  withFormat(format, [&]<class F>(F) {
    pool.parallelFor((n + kGroup - 1) / kGroup, 16, [&](int begin, int end) {
      for (int g = begin; g < end; ++g) {
        std::uint8_t* unit = out + static_cast<std::size_t>(g) * groupBytes;
        std::memset(unit, 0, groupBytes);
        for (std::size_t u = 0; u < units; ++u, unit += F::kPackedBytes) {
          for (int c = 0; c < kGroup && g * kGroup + c < n; ++c) {
            const std::size_t column = static_cast<std::size_t>(g * kGroup + c);
            F::pack(source + column * rowBytes + u * F::kFileBytes, c, unit);
          }
        }
      }
    });
  });
}

Result<PackedMatrix> PackedMatrix::pack(WeightFormat format, int n, int k, std::span<const std::byte> columns,
                                        ThreadPool& pool) {
  const std::size_t size = (bytesOf(format, n, k) + kAlignment - 1) / kAlignment * kAlignment;
  auto* memory = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, size));
  if (!memory) {
    return Error{ErrorCode::kOutOfMemory, "there is not enough memory for the model's weights (" +
                                              std::to_string(size >> 20) + " MiB for one matrix)"};
  }
  packInto(format, n, k, columns, pool, memory);
  return at(format, n, k, {memory, [](const std::uint8_t* p) { std::free(const_cast<std::uint8_t*>(p)); }});
}

PackedMatrix PackedMatrix::at(WeightFormat format, int n, int k, std::shared_ptr<const std::uint8_t> data) {
  assert(reinterpret_cast<std::uintptr_t>(data.get()) % kAlignment == 0);
  PackedMatrix matrix;
  matrix.format_ = format;
  matrix.n_ = n;
  matrix.k_ = k;
  matrix.groupBytes_ = bytesOf(format, kGroup, k);
  matrix.data_ = data.get();
  matrix.owner_ = std::move(data);
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
