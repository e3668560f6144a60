#include "engine/verify/quantized_cache_checks.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tandem {
namespace {

using kernels::kBlock;
using kernels::RowType;

// The probabilities of the tokens that have these logits.
std::vector<double> probabilities(std::span<const float> logits) {
  const double highest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> p(logits.size());
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i)
    sum += p[i] = std::exp(logits[i] - highest);
  for (double& one : p)
    one /= sum;
  return p;
}

double totalVariation(std::span<const float> a, std::span<const float> b) {
  const std::vector<double> p = probabilities(a), q = probabilities(b);
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i)
    sum += std::fabs(p[i] - q[i]);
  return sum / 2;
}

bool oneBitToCache(const float* x, int n, RowType type, void* out) {
  const auto toCache = kernels::referenceKernels().toCache;
  if (type != RowType::kInt8) return toCache(x, n, type, out);
  std::vector<float> signs(n);
  for (int begin = 0; begin < n; begin += kBlock) {
    const int end = std::min(begin + kBlock, n);
    float sum = 0;
    for (int i = begin; i < end; ++i)
      sum += std::fabs(x[i]);
    for (int i = begin; i < end; ++i)
      signs[i] = std::copysign(sum / static_cast<float>(end - begin), x[i]);
  }
  return toCache(signs.data(), n, type, out);
}

}  // namespace

Result<double> meanVariation(Decoder& one, Decoder& other, std::span<const TokenId> text,
                             const std::atomic<bool>* cancel) {
  constexpr std::size_t kChunk = 16;  // logits are of the whole vocabulary
  Sequence ofOne = one.newSequence(), ofOther = other.newSequence();
  double sum = 0;
  for (std::size_t done = 0; done < text.size(); done += kChunk) {
    const auto chunk = text.subspan(done, std::min(kChunk, text.size() - done));
    const Batch batch = Batch::chain(chunk, static_cast<int>(done));
    const std::vector<int> rows = firstRows(batch.size());
    for (auto [decoder, sequence] : {std::pair(&one, &ofOne), std::pair(&other, &ofOther)}) {
      if (Status s = decoder->forward(*sequence, batch, rows, cancel); !s.ok()) return s.error();
      if (Status s = decoder->commit(*sequence, rows); !s.ok()) return s.error();
    }
    for (const int row : rows)
      sum += totalVariation(one.logits(row), other.logits(row));
  }
  return sum / static_cast<double>(text.size());
}

kernels::KernelSet withOneBitRows(const kernels::KernelSet& set) {
  kernels::KernelSet oneBit = set;
  oneBit.toCache = oneBitToCache;
  return oneBit;
}

}  // namespace tandem
