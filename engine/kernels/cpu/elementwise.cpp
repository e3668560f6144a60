// Norms, rotations, activations and conversions.
#include "engine/kernels/arithmetic.h"
#include "engine/kernels/cpu/cpu_kernels.h"
#include "engine/kernels/cpu/f8.h"

namespace tandem::kernels::TANDEM_SET {
namespace {

// x = f(x) for n elements, eight at a time; the rest is padded with zeros.
template <class F>
TANDEM_INLINE void transform(float* x, int n, F f) {
  int i = 0;
  for (; i + 8 <= n; i += 8)
    store(x + i, f(load(x + i)));
  if (i < n) storeSome(x + i, f(loadSome(x + i, n - i)), n - i);
}
// x = f(x, y).
template <class F>
TANDEM_INLINE void transform(float* x, const float* y, int n, F f) {
  int i = 0;
  for (; i + 8 <= n; i += 8)
    store(x + i, f(load(x + i), load(y + i)));
  if (i < n) storeSome(x + i, f(loadSome(x + i, n - i), loadSome(y + i, n - i)), n - i);
}

TANDEM_INLINE bool allFinite(F8 x) {
  const __m256i exponent = _mm256_set1_epi32(0x7F800000);
  const __m256i bits = _mm256_and_si256(_mm256_castps_si256(x.v), exponent);
  return _mm256_movemask_epi8(_mm256_cmpeq_epi32(bits, exponent)) == 0;
}

TANDEM_INLINE std::int16_t sumOf(__m256i sixteen) {  // of 16 int16
  const __m256i pairs = _mm256_madd_epi16(sixteen, _mm256_set1_epi16(1));
  __m128i s = _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
  s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4E));
  s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xB1));
  return static_cast<std::int16_t>(_mm_cvtsi128_si32(s));
}

// Writes a block's `count` numbers, a multiple of eight, and its scale, which is returned too.
TANDEM_INLINE float toInt8Block(const F8 (&v)[4], int count, std::int8_t* q, std::uint16_t* scale) {
  const float amax = maximum(maxOf(maxOf(absOf(v[0]), absOf(v[1])), maxOf(absOf(v[2]), absOf(v[3]))));
  const __m128i half = _mm_cvtps_ph(_mm_set_ss(amax / 127.0f), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const float d = _mm_cvtss_f32(_mm_cvtph_ps(half)), inverse = d > 0 ? 1.0f / d : 0.0f;
  *scale = static_cast<std::uint16_t>(_mm_cvtsi128_si32(half));
  for (int i = 0; i < count; i += 8) {
    const F8 bounded = maxOf(minOf(v[i / 8] * all(inverse), all(127.0f)), all(-127.0f));
    const __m256i n = _mm256_cvtps_epi32(bounded.v);
    const __m128i sixteen = _mm_packs_epi32(_mm256_castsi256_si128(n), _mm256_extracti128_si256(n, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(q + i), _mm_packs_epi16(sixteen, sixteen));
  }
  return d;
}

TANDEM_INLINE bool toInt8(const float* x, int n, void* out) {
  const int stride = (n + 7) / 8 * 8;
  auto* q = static_cast<std::int8_t*>(out);
  auto* scales = reinterpret_cast<std::uint16_t*>(q + stride);
  for (int begin = 0; begin < stride; begin += kBlock) {
    F8 v[4];
    bool finite = true;
    for (int i = 0; i < 4; ++i) {
      const int left = n - begin - 8 * i;
      v[i] = left >= 8 ? load(x + begin + 8 * i) : left > 0 ? loadSome(x + begin + 8 * i, left) : zero();
      finite &= allFinite(v[i]);
    }
    if (!finite) return false;
    const int count = stride - begin < kBlock ? stride - begin : kBlock;
    const float d = toInt8Block(v, count, q + begin, scales + begin / kBlock);
    if (!(d < __builtin_inff())) return false;
  }
  return true;
}

}  // namespace

bool quantizeRow(const float* x, int k, int row, const QuantizedRows& out) {
  std::int8_t* q = out.q + static_cast<std::size_t>(row) * k;
  const std::size_t firstBlock = static_cast<std::size_t>(row) * (k / kBlock);
  for (int b = 0; b < k / kBlock; ++b) {
    F8 v[4];
    for (int i = 0; i < 4; ++i)
      v[i] = load(x + b * kBlock + 8 * i);
    if (!(allFinite(v[0]) && allFinite(v[1]) && allFinite(v[2]) && allFinite(v[3]))) return false;
    const float amax = maximum(maxOf(maxOf(absOf(v[0]), absOf(v[1])), maxOf(absOf(v[2]), absOf(v[3]))));
    float d = amax / 127.0f;
    float inverse = 1.0f / d;
    if (!(inverse < __builtin_inff())) d = inverse = 0.0f;
    __m256i n[4];
    for (int i = 0; i < 4; ++i)
      n[i] = _mm256_cvtps_epi32((v[i] * all(inverse)).v);
    // packs works within 128-bit lanes; the permutation puts the elements back in order.
    const __m256i low = _mm256_permute4x64_epi64(_mm256_packs_epi32(n[0], n[1]), 0xD8);
    const __m256i high = _mm256_permute4x64_epi64(_mm256_packs_epi32(n[2], n[3]), 0xD8);
    const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0xD8);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(q + b * kBlock), bytes);
    const std::int16_t sums[2] = {sumOf(low), sumOf(high)};
    out.d[firstBlock + b] = d;
    out.s[firstBlock + b] = d * static_cast<float>(sums[0] + sums[1]);
    out.sums[2 * (firstBlock + b)] = sums[0];
    out.sums[2 * (firstBlock + b) + 1] = sums[1];
  }
  return true;
}

void rmsNorm(const float* x, const float* weight, int n, float eps, float* out) {
  F8 lanes = zero();
  int i = 0;
  for (; i + 8 <= n; i += 8)
    lanes = fma(load(x + i), load(x + i), lanes);
  if (i < n) lanes = fma(loadSome(x + i, n - i), loadSome(x + i, n - i), lanes);
  const float mean = fold(lanes) / static_cast<float>(n);
  const float factor = 1.0f / _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(mean + eps)));
  for (i = 0; i + 8 <= n; i += 8) {
    const F8 scaled = load(x + i) * all(factor);
    store(out + i, weight ? scaled * load(weight + i) : scaled);
  }
  for (; i < n; ++i)
    out[i] = weight ? (x[i] * factor) * weight[i] : x[i] * factor;
}

void ropeAdjacent(float* head, const float* cosine, const float* sine, int pairs) {
  for (int i = 0; i < pairs; ++i) {
    const float x = head[2 * i], y = head[2 * i + 1];
    head[2 * i] = x * cosine[i] - y * sine[i];
    head[2 * i + 1] = x * sine[i] + y * cosine[i];
  }
}

void ropeHalves(float* head, const float* cosine, const float* sine, int pairs) {
  int i = 0;
  for (; i + 8 <= pairs; i += 8) {
    const F8 x = load(head + i), y = load(head + i + pairs), c = load(cosine + i), s = load(sine + i);
    store(head + i, x * c - y * s);
    store(head + i + pairs, x * s + y * c);
  }
  for (; i < pairs; ++i) {
    const float x = head[i], y = head[i + pairs];
    head[i] = x * cosine[i] - y * sine[i];
    head[i + pairs] = x * sine[i] + y * cosine[i];
  }
}

bool toCache(const float* x, int n, RowType type, void* out) {
  if (type == RowType::kInt8) return toInt8(x, n, out);
  bool finite = true;
  for (int i = 0; i < n; i += 8) {
    const int some = n - i < 8 ? n - i : 8;
    const F8 v = some == 8 ? load(x + i) : loadSome(x + i, some);
    if (type == RowType::kF32) {
      storeSome(static_cast<float*>(out) + i, v, some);
      finite &= allFinite(v);
      continue;
    }
    const __m128i h = _mm256_cvtps_ph(v.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    std::uint16_t halves[8];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(halves), h);
    for (int j = 0; j < some; ++j)
      static_cast<std::uint16_t*>(out)[i + j] = halves[j];
    const __m128i exponent = _mm_set1_epi16(0x7C00);
    finite &= _mm_movemask_epi8(_mm_cmpeq_epi16(_mm_and_si128(h, exponent), exponent)) == 0;
  }
  return finite;
}

void gatedActivation(float* gate, const float* up, int n, Activation activation) {
  if (activation == Activation::kSilu) {
    transform(gate, up, n, [](F8 g, F8 u) { return silu(g) * u; });
  } else {
    transform(gate, up, n, [](F8 g, F8 u) { return gelu(g) * u; });
  }
}

void sigmoidGate(float* x, const float* gate, int n) {
  transform(x, gate, n, [](F8 a, F8 g) { return a / (all(1.0f) + exp(zero() - g)); });
}

void joinExperts(const float* const* outputs, const float* weights, int count, int n, float* out) {
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    F8 sum = zero();
    for (int e = 0; e < count; ++e)
      sum = fma(all(weights[e]), load(outputs[e] + i), sum);
    store(out + i, sum);
  }
  if (i == n) return;
  F8 sum = zero();
  for (int e = 0; e < count; ++e)
    sum = fma(all(weights[e]), loadSome(outputs[e] + i, n - i), sum);
  storeSome(out + i, sum, n - i);
}

void add(float* x, const float* y, int n) {
  transform(x, y, n, [](F8 a, F8 b) { return a + b; });
}

void scale(float* x, float factor, int n) {
  transform(x, n, [=](F8 a) { return a * all(factor); });
}

void softCap(float* x, float cap, int n) {
  transform(x, n, [=](F8 a) { return kernels::softCap(a, all(cap)); });
}

}  // namespace tandem::kernels::TANDEM_SET
