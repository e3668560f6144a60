// A weight matrix (n columns of length k) in the layout the kernels read: groups of kGroup columns
// interleaved, so that a SIMD lane holds a column and one row or thirty-two give the same bits
// (docs/arithmetic.md, rule 2).
//
// A group is a run of units; a unit covers one block of the file's format for each of the eight columns (32
// elements, 64 for NVFP4, 256 for K-quants and IQ4_XS) and is described by its format's header in quant/.
// Columns past n are zero. The layout is the same for every kernel set. Immutable after packing; may be
// shared between threads.
//
// A matrix does not own its bytes alone: those of a model lie together in one block of memory or one mapped
// file, which lives as long as any of them (docs/model-loading.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "engine/base/status.h"
#include "engine/gguf/file.h"

namespace tandem {
class ThreadPool;
}

namespace tandem::kernels {

// Version of the layout. Packed weights are kept on disk: RAISE IT with every change to what pack() writes
// for any format, or models will run on bytes of the old layout.
inline constexpr std::uint32_t kPackingVersion = 1;

enum class WeightFormat : std::uint8_t {
  kF32,
  kF16,
  kBF16,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ8_0,
  kQ2_K,
  kQ3_K,
  kQ4_K,
  kQ5_K,
  kQ6_K,
  kIQ4_NL,
  kIQ4_XS,
  kMXFP4,
  kNVFP4
};
inline constexpr int kWeightFormatCount = 17;

// The format that holds tensors of this file type, or kUnsupported with the type's name.
Result<WeightFormat> weightFormatOf(gguf::TensorType type);

// Activations of these formats stay fp32; the others take rows quantised to int8.
constexpr bool isFloatFormat(WeightFormat f) {
  return f == WeightFormat::kF32 || f == WeightFormat::kF16 || f == WeightFormat::kBF16;
}

struct FormatTraits {
  int unitElements;  // elements of K that a unit covers, per column
  int fileBytes;     // bytes of the file's block
  int packedBytes;   // bytes of a unit: eight columns
};
FormatTraits formatTraits(WeightFormat format);

class PackedMatrix {
 public:
  PackedMatrix() = default;
  // Where packed bytes begin is a multiple of this.
  static constexpr std::size_t kAlignment = 64;

  // Bytes of a packed matrix.
  static std::size_t bytesOf(WeightFormat format, int n, int k);

  // Interleaves `columns` (n rows of the file's tensor, each k elements, fastest along k) on the pool, into
  // bytesOf() bytes at `out`. Parts of a matrix that begin at a multiple of 8 columns may be packed one by
  // one. REQUIRES: k is a multiple of the format's unit; columns.size() is what the format needs.
  static void packInto(WeightFormat format, int n, int k, std::span<const std::byte> columns,
                       ThreadPool& pool, std::uint8_t* out);

  // The same, into memory of its own. Error: kOutOfMemory.
  static Result<PackedMatrix> pack(WeightFormat format, int n, int k, std::span<const std::byte> columns,
                                   ThreadPool& pool);

  // A matrix whose packed bytes lie at `data`. REQUIRES: data is aligned.
  static PackedMatrix at(WeightFormat format, int n, int k, std::shared_ptr<const std::uint8_t> data);

  // Always inlined: kernel files are built for different instruction sets and must not leave copies to the
  // linker.
  [[gnu::always_inline]] WeightFormat format() const { return format_; }
  [[gnu::always_inline]] int n() const { return n_; }
  [[gnu::always_inline]] int k() const { return k_; }
  [[gnu::always_inline]] int groups() const { return (n_ + 7) / 8; }
  // Units of group g, in order of k.
  [[gnu::always_inline]] const std::uint8_t* group(int g) const {
    return data_ + static_cast<std::size_t>(g) * groupBytes_;
  }
  std::size_t bytes() const { return static_cast<std::size_t>(groups()) * groupBytes_; }
  bool empty() const { return n_ == 0; }

 private:
  WeightFormat format_ = WeightFormat::kF32;
  int n_ = 0;
  int k_ = 0;
  std::size_t groupBytes_ = 0;
  std::shared_ptr<const std::uint8_t> owner_;  // of the memory that data_ points into
  const std::uint8_t* data_ = nullptr;
};

// Writes the k elements of one row of a file's tensor as fp32: value = scale * integer (+ minimum), rounded
// as docs/arithmetic.md says for embedding rows.
void dequantizeRow(WeightFormat format, const std::byte* row, int k, float* out);

}  // namespace tandem::kernels
