// The operations of recurrent layers and of mixtures: every kernel set against the reference, bit for bit,
// and the reference against the same sums in double.
#include <QtTest>
#include <cmath>
#include <cstring>

#include "engine/kernels/kernel_set.h"
#include "tests/kernels/random_weights.h"
#include "tests/kernels/sets_under_test.h"

using namespace tandem::kernels;
using namespace tandem::test;

namespace {

bool sameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// A head's state and the inputs of some steps.
struct DeltaCase {
  explicit DeltaCase(int headDim)
      : n(headDim),
        state(randomRows(n, n, 3 * n, 0.5f)),
        q(randomRows(4, n, n + 1, 0.2f)),
        k(randomRows(4, n, n + 2, 0.2f)),
        v(randomRows(4, n, n + 3, 1.0f)) {}
  // Runs the four steps; `reads` says whether they are read from, too.
  std::pair<std::vector<float>, std::vector<float>> run(const KernelSet& set, bool reads) const {
    std::vector<float> s = state, out(4 * n);
    for (int i = 0; i < 4; ++i) {
      set.deltaStep({.q = reads ? q.data() + i * n : nullptr,
                     .k = k.data() + i * n,
                     .v = v.data() + i * n,
                     .decay = 0.9f - 0.1f * static_cast<float>(i),
                     .beta = 0.3f + 0.2f * static_cast<float>(i),
                     .headDim = n,
                     .state = s.data(),
                     .out = reads ? out.data() + i * n : nullptr});
    }
    return {s, out};
  }
  int n;
  std::vector<float> state, q, k, v;
};

}  // namespace

class TestRecurrent : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    if (kernelSetsUnderTest().empty()) QSKIP("This CPU can run none of the sets.");
  }

  void setsAgreeOnTheDeltaRule() {
    for (const int n : {1, 3, 8, 20, 32, 64, 100, 128}) {
      const DeltaCase steps(n);
      const auto [state, out] = steps.run(referenceKernels(), true);
      for (const KernelSet* set : kernelSetsUnderTest()) {
        const auto [gotState, gotOut] = steps.run(*set, true);
        QVERIFY2(sameBits(state, gotState) && sameBits(out, gotOut), set->name);
        // A commit asks for the state alone.
        QVERIFY2(sameBits(state, steps.run(*set, false).first), set->name);
      }
    }
  }

  void theDeltaRuleIsItsFormula() {
    const DeltaCase steps(16);
    const int n = 16;
    std::vector<double> s(steps.state.begin(), steps.state.end());
    const auto [state, out] = steps.run(referenceKernels(), true);
    for (int step = 0; step < 4; ++step) {
      const float* q = steps.q.data() + step * n;
      const float* k = steps.k.data() + step * n;
      const float* v = steps.v.data() + step * n;
      const double decay = 0.9 - 0.1 * step, beta = 0.3 + 0.2 * step;
      for (int j = 0; j < n; ++j) {
        double known = 0, read = 0;
        for (int i = 0; i < n; ++i)
          known += (s[i * n + j] *= decay) * k[i];
        for (int i = 0; i < n; ++i)
          read += (s[i * n + j] += k[i] * (v[j] - known) * beta) * q[i];
        QVERIFY(std::fabs(read - out[step * n + j]) < 1e-5);
      }
    }
    for (int i = 0; i < n * n; ++i)
      QVERIFY(std::fabs(s[i] - state[i]) < 1e-5);
  }

  void setsAgreeOnTheConvolution() {
    for (const int n : {1, 7, 8, 100, 768}) {
      for (const int taps : {2, 4}) {
        const auto in = randomRows(taps, n, n), weights = randomRows(taps, n, n + 9);
        std::vector<const float*> rows;
        for (int t = 0; t < taps; ++t)
          rows.push_back(in.data() + t * n);
        std::vector<float> expected(n), got(n);
        referenceKernels().convolve(rows.data(), weights.data(), taps, n, expected.data());
        for (const KernelSet* set : kernelSetsUnderTest()) {
          set->convolve(rows.data(), weights.data(), taps, n, got.data());
          QVERIFY2(sameBits(expected, got), set->name);
        }
        double sum = 0;
        for (int t = 0; t < taps; ++t)
          sum += double(in[t * n]) * weights[t * n];
        QVERIFY(std::fabs(sum / (1 + std::exp(-sum)) - expected[0]) < 1e-5);
      }
    }
  }

  void setsAgreeOnGatesAndMixtures() {
    for (const int n : {1, 7, 64, 100}) {
      const auto x = randomRows(1, n, n), gate = randomRows(1, n, n + 1, 20.0f);
      auto expected = x;
      referenceKernels().sigmoidGate(expected.data(), gate.data(), n);
      const auto parts = randomRows(9, n, n + 2), weights = randomRows(1, 9, n + 3);
      std::vector<const float*> outputs;
      for (int e = 0; e < 9; ++e)
        outputs.push_back(parts.data() + e * n);
      std::vector<float> joined(n), got(n);
      referenceKernels().joinExperts(outputs.data(), weights.data(), 9, n, joined.data());
      for (const KernelSet* set : kernelSetsUnderTest()) {
        auto gated = x;
        set->sigmoidGate(gated.data(), gate.data(), n);
        QVERIFY2(sameBits(expected, gated), set->name);
        set->joinExperts(outputs.data(), weights.data(), 9, n, got.data());
        QVERIFY2(sameBits(joined, got), set->name);
      }
    }
  }

  void expertsArePickedByScoreThenIndex() {
    const std::vector<float> scores = {1.0f, 3.0f, 2.0f, 3.0f, -1.0f, 2.0f, 3.0f, 0.0f};
    for (const KernelSet* set : kernelSetsUnderTest()) {
      int picked[5];
      float weights[5];
      set->pickExperts(scores.data(), 8, 5, picked, weights);
      for (const auto& [rank, expert] :
           {std::pair(0, 1), std::pair(1, 3), std::pair(2, 6), std::pair(3, 2), std::pair(4, 5)})
        QCOMPARE(picked[rank], expert);
      double chosen = 0;
      for (const int e : picked)
        chosen += std::exp(double(scores[e]));
      for (int rank = 0; rank < 5; ++rank)
        QVERIFY(std::fabs(weights[rank] - std::exp(double(scores[picked[rank]])) / chosen) < 1e-6);
      set->pickExperts(scores.data(), 8, 1, picked, weights);
      QVERIFY(picked[0] == 1 && weights[0] == 1.0f);
    }
  }
};

QTEST_APPLESS_MAIN(TestRecurrent)
#include "test_recurrent.moc"
