// Norms, rotations, activations, conversions: every kernel set against the reference, bit for
// bit, and the polynomials against libm in double.
#include <QtTest>
#include <cmath>
#include <set>

#include "engine/kernels/arithmetic.h"
#include "engine/kernels/kernel_set.h"
#include "engine/kernels/math32.h"
#include "engine/kernels/math64.h"
#include "engine/sampler/sampler.h"
#include "tests/kernels/random_weights.h"
#include "tests/kernels/sets_under_test.h"

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

}  // namespace

class TestElementwise : public QObject {
  Q_OBJECT

  static std::vector<const KernelSet*> allSets() {
    std::vector<const KernelSet*> sets = kernelSetsUnderTest();
    sets.push_back(&referenceKernels());
    return sets;
  }
  // Blocks of small, middling and large numbers, ties among them.
  static std::vector<float> rowOfSeveralSizes(int n, std::mt19937& random) {
    std::vector<float> x(n);
    float size = 1;
    for (int i = 0; i < n; ++i) {
      if (i % 32 == 0) size = std::exp2(static_cast<float>(static_cast<int>(random() % 45) - 30));
      x[i] = size * (static_cast<float>(random() % 509) / 2 - 127);
      if (random() % 4 == 0) x[i] *= static_cast<float>(random() % 1000) / 1000;
    }
    return x;
  }

 private slots:
  void initTestCase() {
    if (kernelSetsUnderTest().empty()) QSKIP("This CPU can run none of the sets.");
  }

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
    for (const KernelSet* set : kernelSetsUnderTest()) {
      for (int i = 0; i < n; i += 5) {
        const int count = std::min(5, n - i);
        const bool a = referenceKernels().toCache(x.data() + i, count, RowType::kF16, expected.data() + i);
        const bool b = set->toCache(x.data() + i, count, RowType::kF16, got.data() + i);
        QCOMPARE(a, b);
      }
      QVERIFY2(sameBits(expected.data(), got.data(), n * 2), set->name);
    }
  }

  // The rule of docs/arithmetic.md, 4, written out in double: a block's scale is the F16 nearest to the
  // largest magnitude over 127, an element the nearest whole number of its quotient by that.
  void int8RowsFollowTheRule() {
    std::mt19937 random(10);
    for (const KernelSet* set : allSets()) {
      for (int round = 0; round < 2000; ++round) {
        const int n = 1 + static_cast<int>(random() % 130), stride = (n + 7) / 8 * 8;
        const std::vector<float> x = rowOfSeveralSizes(n, random);
        std::vector<std::int8_t> row(rowBytes(RowType::kInt8, stride), 99);
        QVERIFY(set->toCache(x.data(), n, RowType::kInt8, row.data()));
        QCOMPARE(row.size(), std::size_t(stride + (n + 31) / 32 * 2));
        for (int block = 0; block * 32 < n; ++block) {
          double most = 0;
          for (int i = block * 32; i < std::min(n, block * 32 + 32); ++i)
            most = std::max(most, std::fabs(double(x[i])));
          std::uint16_t scale = 0;
          std::memcpy(&scale, row.data() + stride + 2 * block, 2);
          QCOMPARE(scale, floatToHalf(static_cast<float>(most) / 127.0f));
          const float d = halfToFloat(scale);
          for (int i = block * 32; i < std::min(stride, block * 32 + 32); ++i) {
            // Where the scale lies below the normal halves it may be half its size too small.
            const float quotient = i < n && d > 0 ? x[i] * (1.0f / d) : 0;
            QCOMPARE(int(row[i]), int(std::clamp(std::nearbyint(double(quotient)), -127.0, 127.0)));
          }
        }
      }
    }
  }

  // What the rule gives at the ends of its range, and where it ends a request.
  void int8RowsAtTheEnds() {
    const auto quantized = [](const KernelSet& set, std::vector<float> x) {
      std::vector<std::int8_t> row(rowBytes(RowType::kInt8, 32), 99);
      x.resize(32);
      return set.toCache(x.data(), 32, RowType::kInt8, row.data()) ? row : std::vector<std::int8_t>();
    };
    for (const KernelSet* set : allSets()) {
      for (const float tiny : {0.0f, -0.0f, 1e-40f, 127 * 0x1p-25f})  // the scale's nearest half is 0
        QCOMPARE(quantized(*set, {tiny, -tiny}), std::vector<std::int8_t>(34, 0));
      const auto begins = [&](const std::vector<float>& x, const std::vector<std::int8_t>& q) {
        const std::vector<std::int8_t> row = quantized(*set, x);
        return std::equal(q.begin(), q.end(), row.begin());
      };
      // A scale of 2^-24 for 1.4375 times that: what would be 183 is kept at 127.
      QVERIFY2(begins({127 * 0x1.7p-24f, 0x1p-24f, -127 * 0x1.7p-24f}, {127, 1, -127}), set->name);
      QVERIFY2(begins({127, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f}, {127, 0, 2, 2, 0, -2}),
               set->name);  // half to even
      QVERIFY(!quantized(*set, {127 * 65504.0f}).empty());
      for (const float beyond : {127 * 65520.0f, INFINITY, -INFINITY, NAN})
        QVERIFY2(quantized(*set, {1, beyond, 1}).empty(), set->name);
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
    for (const KernelSet* set : kernelSetsUnderTest()) {
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
    for (const KernelSet* set : kernelSetsUnderTest()) {
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

  void setsFindTheHighestAlike() {
    std::mt19937 random(3);
    for (const int n : {1, 2, 31, 32, 63, 64, 65, 200, 1000, 4099}) {
      for (int run = 0; run < 20; ++run) {
        // Few values, so that the highest comes more than once; zeros of both signs.
        std::vector<float> x(n);
        for (float& v : x)
          v = run % 2 ? static_cast<float>(static_cast<int>(random() % 5)) - 4.0f
                      : static_cast<float>(random()) * 0x1p-32f;
        if (run == 3) x[random() % n] = -0.0f;
        const int expected = referenceKernels().argmax(x.data(), n);
        for (const KernelSet* set : kernelSetsUnderTest()) {
          QCOMPARE(set->argmax(x.data(), n), expected);
          std::vector<int> atLeast(n), got(n);
          atLeast.resize(referenceKernels().atLeast(x.data(), n, 0.25f, atLeast.data()));
          got.resize(set->atLeast(x.data(), n, 0.25f, got.data()));
          QVERIFY2(got == atLeast, set->name);
          QVERIFY(set->allFinite(x.data(), n));
          for (const float bad : {INFINITY, -INFINITY, NAN}) {
            std::vector<float> damaged = x;
            damaged[random() % n] = bad;
            QVERIFY2(!set->allFinite(damaged.data(), n), set->name);
          }
        }
      }
    }
  }

  // Every token that wins is among the contenders of every kernel set, and they are few.
  void contendersHoldTheWinners() {
    std::vector<float> logits(5003);
    for (std::size_t i = 0; i < logits.size(); ++i)
      logits[i] = std::cos(float(i * i)) * 8;
    std::vector<const KernelSet*> sets = kernelSetsUnderTest();
    sets.push_back(&referenceKernels());
    for (const KernelSet* set : sets) {
      for (std::uint64_t t = 0; t < 50; ++t) {
        for (const float best : {-3.0f, 1.0f, 6.0f}) {
          const Draw draw = {8.0f, 1 / 0.7f, best, 5, 2, t << 30};
          std::vector<int> tokens(logits.size());
          tokens.resize(set->contenders(logits.data(), int(logits.size()), draw, tokens.data()));
          const std::set<int> found(tokens.begin(), tokens.end());
          double expected = 1;
          for (int i = 0; i < int(logits.size()); ++i) {
            const double score = (logits[i] - 8.0) / 0.7;
            expected += std::min(1.0, std::exp(score - best));
            if (score + gumbelNoise(5, 2, t << 30, i) > best) QVERIFY2(found.count(i), set->name);
          }
          QVERIFY2(found.size() < 1.3 * expected + 40, set->name);
        }
      }
    }
  }
};

QTEST_APPLESS_MAIN(TestElementwise)
#include "test_elementwise.moc"
