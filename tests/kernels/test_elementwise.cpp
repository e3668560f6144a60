// Norms, rotations, activations, conversions and attention: every kernel set against the reference, bit for
// bit, and the polynomials against libm in double.
#include <QtTest>
#include <cmath>

#include "engine/kernels/arithmetic.h"
#include "engine/kernels/kernel_set.h"
#include "engine/kernels/math32.h"
#include "engine/kernels/math64.h"
#include "tests/kernels/random_weights.h"

using namespace tandem;
using namespace tandem::kernels;
using namespace tandem::test;

namespace {

bool sameBits(const void* a, const void* b, std::size_t bytes) {
  return std::memcmp(a, b, bytes) == 0;
}

double ulpOf(double x) {
  return std::nextafter(std::fabs(x), INFINITY) - std::fabs(x);
}

// Cached rows of one KV head, and a job over them.
struct AttentionCase {
  AttentionCase(CacheType type, int headDim, int heads, int positions, std::uint32_t seed)
      : dim(headDim), stride(roundUp(headDim, kLanes)), q(randomRows(heads, headDim, seed, 1.0f)) {
    const std::size_t rowBytes = stride * cacheElementBytes(type);
    memory.resize(rowBytes * positions * 2);
    for (int p = 0; p < positions * 2; ++p) {
      const auto row = randomRows(1, headDim, seed + 17 * p + 1, 1.0f);
      referenceKernels().toCache(row.data(), headDim, type, memory.data() + p * rowBytes);
    }
    for (int p = 0; p < positions; ++p) {
      keys.push_back(memory.data() + p * rowBytes);
      values.push_back(memory.data() + (positions + p) * rowBytes);
    }
  }
  std::vector<float> run(const KernelSet& set, CacheType type, int heads, int begin, int end,
                         float softCap) const {
    std::vector<float> out(static_cast<std::size_t>(heads) * dim);
    // Keys before begin must not be needed: the list holds null there.
    std::vector<const void*> k(keys.begin() + tileStart(begin), keys.begin() + end);
    std::vector<const void*> v(values.begin() + tileStart(begin), values.begin() + end);
    for (int p = tileStart(begin); p < begin; ++p)
      k[p - tileStart(begin)] = v[p - tileStart(begin)] = nullptr;
    const AttentionJob job{q.data(), heads,    dim,    stride,  begin,     end,
                           k.data(), v.data(), 0.125f, softCap, out.data()};
    (type == CacheType::kF16 ? set.attendF16 : set.attendF32)(job);
    return out;
  }
  int dim, stride;
  std::vector<float> q;
  std::vector<std::byte> memory;
  std::vector<const void*> keys, values;
};

}  // namespace

class TestElementwise : public QObject {
  Q_OBJECT

 private slots:
  void halvesRoundTrip() {
    for (int h = 0; h < 65536; ++h) {
      const float f = halfToFloat(static_cast<std::uint16_t>(h));
      if (std::isnan(f)) continue;
      QCOMPARE(int(floatToHalf(f)), h);
    }
  }

  void setsRoundToTheCacheAlike() {
    std::mt19937 random(9);
    std::vector<float> x;
    for (int i = 0; i < 40000; ++i) {
      const float f = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
      if (!std::isnan(f)) x.push_back(f);
    }
    // Ties of normal and subnormal halves, and the edge of infinity.
    for (const float f :
         {1.00048828125f, 1.00146484375f, 0x1p-25f, 0x1.8p-24f, 0x1.8p-25f, 65504.0f, 65519.996f, 65520.0f}) {
      x.push_back(f), x.push_back(-f);
    }
    const int n = static_cast<int>(x.size());
    std::vector<std::uint16_t> expected(n), got(n);
    for (const KernelSet* set : availableKernels()) {
      for (int i = 0; i < n; i += 5) {
        const int count = std::min(5, n - i);
        const bool a = referenceKernels().toCache(x.data() + i, count, CacheType::kF16, expected.data() + i);
        const bool b = set->toCache(x.data() + i, count, CacheType::kF16, got.data() + i);
        QCOMPARE(a, b);
      }
      QVERIFY2(sameBits(expected.data(), got.data(), n * 2), set->name);
    }
  }

  void exponentialIsAccurate() {
    double worst = 0;
    for (float x = -87.0f; x < 88.7f; x += 0.000713f) {
      const double exact = std::exp(double(x));
      worst = std::max(worst, std::fabs(kernels::exp(x) - exact) / (exact * 0x1p-23));
    }
    QVERIFY2(worst < 1.5, qPrintable(QString::number(worst)));
    QCOMPARE(kernels::exp(0.0f), 1.0f);
    QCOMPARE(kernels::exp(-200.0f), 0.0f);
    QVERIFY(std::isinf(kernels::exp(100.0f)));
    QVERIFY(std::isnan(kernels::exp(std::nanf(""))));
    QVERIFY(kernels::exp(-95.0f) > 0.0f);  // subnormal, not flushed
  }

  void tanhIsAccurate() {
    double worst = 0;
    for (float x = -12.0f; x < 12.0f; x += 0.000197f) {
      const double exact = std::tanh(double(x));
      worst =
          std::max(worst, std::fabs(kernels::tanh(x) - exact) / std::max(std::fabs(exact) * 0x1p-23, 1e-30));
    }
    QVERIFY2(worst < 3.0, qPrintable(QString::number(worst)));
    QVERIFY(std::isnan(kernels::tanh(std::nanf(""))));
  }

  void doublesAreAccurate() {
    double worst = 0;
    for (double x = -700; x < 700; x += 0.317)
      worst = std::max(worst, std::fabs(exp64(x) - std::exp(x)) / ulpOf(std::exp(x)));
    for (double x = 1e-300; x < 1e300; x *= 1.937)
      worst = std::max(worst, std::fabs(log64(x) - std::log(x)) / ulpOf(std::log(x)));
    for (double x = 0.4; x < 2.5; x += 0.00037) {
      worst = std::max(worst, std::fabs(log64(x) - std::log(x)) / std::max(ulpOf(std::log(x)), 1e-19));
    }
    QVERIFY2(worst <= 3.0, qPrintable(QString::number(worst)));
    double worstAngle = 0;
    for (double x = 0; x < 40000; x += 0.7713) {
      double s, c;
      sinCos64(x, &s, &c);
      worstAngle = std::max({worstAngle, std::fabs(s - std::sin(x)), std::fabs(c - std::cos(x))});
    }
    QVERIFY2(worstAngle < 4e-16, qPrintable(QString::number(worstAngle)));
  }

  void setsAgreeOnActivations() {
    for (const KernelSet* set : availableKernels()) {
      for (const int n : {1, 5, 8, 31, 4099}) {
        for (const Activation activation : {Activation::kSilu, Activation::kGelu}) {
          auto expected = randomRows(1, n, n, 8.0f), got = expected;
          const auto up = randomRows(1, n, n + 1);
          referenceKernels().gatedActivation(expected.data(), up.data(), n, activation);
          set->gatedActivation(got.data(), up.data(), n, activation);
          QVERIFY2(sameBits(expected.data(), got.data(), n * 4), set->name);
        }
        auto expected = randomRows(1, n, n, 60.0f), got = expected;
        referenceKernels().softCap(expected.data(), 30.0f, n);
        set->softCap(got.data(), 30.0f, n);
        QVERIFY2(sameBits(expected.data(), got.data(), n * 4), set->name);
      }
    }
  }

  void setsAgreeOnNormsAndRotations() {
    for (const KernelSet* set : availableKernels()) {
      for (const int n : {1, 7, 64, 100, 576, 643}) {
        const auto x = randomRows(1, n, n), weight = randomRows(1, n, n + 5);
        std::vector<float> expected(n), got(n);
        for (const float* w : {weight.data(), static_cast<const float*>(nullptr)}) {
          referenceKernels().rmsNorm(x.data(), w, n, 1e-5f, expected.data());
          set->rmsNorm(x.data(), w, n, 1e-5f, got.data());
          QVERIFY2(sameBits(expected.data(), got.data(), n * 4), set->name);
        }
      }
      for (const int pairs : {1, 5, 16, 32, 50, 128}) {
        const auto angles = randomRows(2, pairs, pairs, 0.7f);
        for (const auto rotate : {&KernelSet::ropeAdjacent, &KernelSet::ropeHalves}) {
          auto expected = randomRows(1, 2 * pairs, pairs), got = expected;
          (referenceKernels().*rotate)(expected.data(), angles.data(), angles.data() + pairs, pairs);
          (set->*rotate)(got.data(), angles.data(), angles.data() + pairs, pairs);
          QVERIFY2(sameBits(expected.data(), got.data(), pairs * 8), set->name);
        }
      }
    }
  }

  void setsAgreeOnAttention() {
    for (const CacheType type : {CacheType::kF16, CacheType::kF32}) {
      for (const int dim : {8, 64, 100, 256}) {
        for (const int heads : {1, 2, 3, 4, 7}) {
          const AttentionCase attention(type, dim, heads, 200, 31 * dim + heads);
          for (const auto& [begin, end] :
               {std::pair(0, 1), std::pair(0, 64), std::pair(0, 65), std::pair(3, 200), std::pair(63, 64),
                std::pair(70, 130), std::pair(127, 131)}) {
            for (const float cap : {0.0f, 20.0f}) {
              const auto expected = attention.run(referenceKernels(), type, heads, begin, end, cap);
              for (const KernelSet* set : availableKernels()) {
                const auto got = attention.run(*set, type, heads, begin, end, cap);
                QVERIFY2(sameBits(expected.data(), got.data(), expected.size() * 4), set->name);
              }
            }
          }
        }
      }
    }
  }

  void attentionIsAWeightedMean() {
    const AttentionCase attention(CacheType::kF32, 64, 1, 150, 77);
    const auto out = attention.run(bestKernels(), CacheType::kF32, 1, 10, 150, 0.0f);
    std::vector<double> weight(150), exact(64);
    double sum = 0;
    for (int p = 10; p < 150; ++p) {
      double dot = 0;
      for (int i = 0; i < 64; ++i)
        dot += double(attention.q[i]) * static_cast<const float*>(attention.keys[p])[i];
      sum += weight[p] = std::exp(dot * 0.125);
    }
    for (int p = 10; p < 150; ++p) {
      for (int i = 0; i < 64; ++i)
        exact[i] += weight[p] / sum * static_cast<const float*>(attention.values[p])[i];
    }
    for (int i = 0; i < 64; ++i)
      QVERIFY(std::fabs(out[i] - exact[i]) < 1e-6);
  }
};

QTEST_APPLESS_MAIN(TestElementwise)
#include "test_elementwise.moc"
