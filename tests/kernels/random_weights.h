// Random and extreme weight matrices in the file's block formats.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "engine/base/thread_pool.h"
#include "engine/kernels/half.h"
#include "engine/kernels/kernel_set.h"
#include "engine/kernels/packed_matrix.h"

namespace tandem::test {

using kernels::PackedMatrix;
using kernels::WeightFormat;

inline constexpr WeightFormat kQuantizedFormats[] = {
    WeightFormat::kQ4_0,  WeightFormat::kQ4_1, WeightFormat::kQ5_0,   WeightFormat::kQ5_1,
    WeightFormat::kQ8_0,  WeightFormat::kQ2_K, WeightFormat::kQ3_K,   WeightFormat::kQ4_K,
    WeightFormat::kQ5_K,  WeightFormat::kQ6_K, WeightFormat::kIQ4_NL, WeightFormat::kIQ4_XS,
    WeightFormat::kMXFP4, WeightFormat::kNVFP4};
inline constexpr WeightFormat kFloatFormats[] = {WeightFormat::kF32, WeightFormat::kF16, WeightFormat::kBF16};

// Where a block keeps its F16 numbers.
inline std::vector<int> halfOffsets(WeightFormat format) {
  switch (format) {
    case WeightFormat::kQ4_1:
    case WeightFormat::kQ5_1:
    case WeightFormat::kQ4_K:
    case WeightFormat::kQ5_K:
      return {0, 2};
    case WeightFormat::kQ4_0:
    case WeightFormat::kQ5_0:
    case WeightFormat::kQ8_0:
    case WeightFormat::kIQ4_NL:
    case WeightFormat::kIQ4_XS:
      return {0};
    case WeightFormat::kQ2_K:
      return {80, 82};
    case WeightFormat::kQ3_K:
      return {108};
    case WeightFormat::kQ6_K:
      return {208};
    default:
      return {};
  }
}

// n rows of k weights. `fill` sets every byte that is not a scale (extremes); without it they are random.
inline std::vector<std::byte> randomBlocks(WeightFormat format, int n, int k, std::uint32_t seed,
                                           int fill = -1) {
  const auto traits = kernels::formatTraits(format);
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(static_cast<std::size_t>(n) * (k / traits.unitElements) * traits.fileBytes);
  for (auto& b : bytes)
    b = static_cast<std::byte>(fill >= 0 ? fill : static_cast<int>(random() & 255));
  std::uniform_real_distribution<float> scale(-0.02f, 0.02f);
  for (std::size_t block = 0; block < bytes.size(); block += static_cast<std::size_t>(traits.fileBytes)) {
    for (const int at : halfOffsets(format)) {
      const std::uint16_t h = kernels::floatToHalf(scale(random));
      std::memcpy(bytes.data() + block + at, &h, 2);
    }
    // An exponent near 2^-7, as MXFP4 writes it.
    if (format == WeightFormat::kMXFP4) bytes[block] = static_cast<std::byte>(118 + random() % 6);
    const float f = scale(random) * 10;
    const std::uint16_t h = kernels::floatToHalf(f);
    if (format == WeightFormat::kF32) std::memcpy(bytes.data() + block, &f, 4);
    if (format == WeightFormat::kF16) std::memcpy(bytes.data() + block, &h, 2);
    if (format == WeightFormat::kBF16)
      std::memcpy(bytes.data() + block, reinterpret_cast<const char*>(&f) + 2, 2);
  }
  return bytes;
}

inline PackedMatrix packed(WeightFormat format, int n, int k, std::span<const std::byte> blocks) {
  ThreadPool pool(1);
  return std::move(PackedMatrix::pack(format, n, k, blocks, pool)).value();
}

inline std::vector<float> randomRows(int rows, int k, std::uint32_t seed, float size = 3.0f) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, size);
  std::vector<float> x(static_cast<std::size_t>(rows) * k);
  for (float& v : x)
    v = normal(random);
  return x;
}

// Owns the buffers of QuantizedRows.
struct Quantized {
  Quantized(int rows, int k)
      : q(static_cast<std::size_t>(rows) * k),
        d(q.size() / 32),
        s(q.size() / 32),
        sums(q.size() / 16),
        rowsOf{k, q.data(), d.data(), s.data(), sums.data()} {}
  Quantized(const Quantized&) = delete;
  std::vector<std::int8_t> q;
  std::vector<float> d, s;
  std::vector<std::int16_t> sums;
  kernels::QuantizedRows rowsOf;
};

}  // namespace tandem::test
