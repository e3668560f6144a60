// The sampler: its generator, its filters, its edges, and its distribution.
#include <QtTest>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "engine/kernels/kernel_set.h"
#include "engine/kernels/philox.h"
#include "engine/sampler/sampler.h"

using namespace tandem;
using kernels::philox;
using kernels::PhiloxCounter;

namespace {

SamplingParams at(float temperature, std::int64_t topK = 0, float topP = 1, float minP = 0,
                  std::uint64_t seed = 1) {
  return {temperature, topK, topP, minP, seed};
}

std::vector<TokenId> keptTokens(std::span<const float> logits, const SamplingParams& params) {
  std::vector<TokenId> tokens;
  for (const Candidate& c : filterLogits(logits, params))
    tokens.push_back(c.token);
  std::sort(tokens.begin(), tokens.end());
  return tokens;
}

// Probability that chi-square with `degrees` is above x, by Wilson and Hilferty's cube-root normal
// approximation.
double chiSquareTail(double x, double degrees) {
  const double z = (std::cbrt(x / degrees) - (1 - 2 / (9 * degrees))) / std::sqrt(2 / (9 * degrees));
  return 0.5 * std::erfc(z / std::sqrt(2.0));
}

}  // namespace

class TestSampler : public QObject {
  Q_OBJECT

 private slots:
  // The known answers that the authors publish with their generator.
  void philoxGivesThePublishedNumbers() {
    QVERIFY((philox({0, 0, 0, 0}, {0, 0}) == PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    const std::uint32_t f = 0xffffffff;
    QVERIFY((philox({f, f, f, f}, {f, f}) == PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    QVERIFY((philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
             PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
  }

  void argmaxTakesTheLowestOfEqualIds() {
    const std::vector<float> logits = {1, 3, 3, 2};
    QCOMPARE(argmax(logits), 1);
    const std::vector<float> negative = {-INFINITY, -5, -5};
    QCOMPARE(argmax(negative), 1);
  }

  void filtersKeepWhatTheyShould() {
    // Probabilities 0.5, 0.25, 0.125, 0.0625, 0.0625 at temperature 1.
    const float ln2 = std::log(2.0f);
    const std::vector<float> logits = {-ln2, -2 * ln2, -3 * ln2, -4 * ln2, -4 * ln2};
    using Ids = std::vector<TokenId>;
    QVERIFY((keptTokens(logits, at(1)) == Ids{0, 1, 2, 3, 4}));
    QVERIFY((keptTokens(logits, at(1, 1)) == Ids{0}));
    QVERIFY((keptTokens(logits, at(1, 4)) == Ids{0, 1, 2, 3}));  // of equal ones the lower id
    QVERIFY((keptTokens(logits, at(1, 1000)) == Ids{0, 1, 2, 3, 4}));
    QVERIFY((keptTokens(logits, at(1, 0, 0.4f)) == Ids{0}));
    QVERIFY((keptTokens(logits, at(1, 0, 0.6f)) == Ids{0, 1}));  // the token that crosses stays
    QVERIFY((keptTokens(logits, at(1, 0, 1e-30f)) == Ids{0}));
    QVERIFY((keptTokens(logits, at(1, 0, 1, 0.4f)) == Ids{0, 1}));
    QVERIFY((keptTokens(logits, at(1, 0, 1, 1)) == Ids{0}));
    // top_p runs on what top_k leaves, renormalised: of 0.5 and 0.25 the first holds two thirds.
    QVERIFY((keptTokens(logits, at(1, 2, 0.66f)) == Ids{0}));
    QVERIFY((keptTokens(logits, at(1, 2, 0.67f)) == Ids{0, 1}));
  }

  void edgesAreRefusedOrDefined() {
    const float nan = std::nanf(""), inf = INFINITY;
    for (const float t : {-1.0f, nan, inf, -inf, -1e-30f})
      QVERIFY(!checkSampling(at(t)).ok());
    for (const float t : {0.0f, 1e-30f, 1.0f, 100.0f})
      QVERIFY(checkSampling(at(t)).ok());
    QVERIFY(!checkSampling(at(1, -1)).ok());
    QVERIFY(checkSampling(at(1, std::int64_t{1} << 31)).ok());
    for (const float p : {0.0f, -0.5f, 1.5f, nan})
      QVERIFY(!checkSampling(at(1, 0, p)).ok());
    for (const float p : {-0.1f, 2.0f, nan})
      QVERIFY(!checkSampling(at(1, 0, 1, p)).ok());
    QCOMPARE(QString::fromStdString(checkSampling(at(1, 0, 0)).error().field), QString("top_p"));
    // A temperature near 0 is the highest score.
    const std::vector<float> logits = {0.5f, 2.0f, 1.9f};
    for (std::uint64_t seed = 0; seed < 50; ++seed)
      QCOMPARE(chooseToken(logits, at(1e-30f, 0, 1, 0, seed), 3), 1);
  }

  void theChoiceBelongsToSeedIndexAndAnswer() {
    std::vector<float> logits(1000, 0.0f);
    std::map<TokenId, int> seen;
    for (std::uint64_t t = 0; t < 20; ++t) {
      const TokenId token = chooseToken(logits, at(1), t);
      QCOMPARE(chooseToken(logits, at(1), t), token);
      ++seen[token];
      ++seen[chooseToken(logits, at(1, 0, 1, 0, 2), t)];
      SamplingParams second = at(1);
      second.choice = 1;
      ++seen[chooseToken(logits, second, t)];
    }
    QVERIFY(seen.size() > 50);
  }

  // Skipping tokens whose noise cannot win never changes the winner.
  void pruningIsExact() {
    std::vector<float> logits(3001);
    for (std::size_t i = 0; i < logits.size(); ++i)
      logits[i] = std::sin(float(i)) * 6;
    for (const float temperature : {1e-38f, 1e-3f, 0.5f, 0.9f, 4.0f, 1e30f}) {
      for (const float minP : {0.0f, 0.05f}) {
        for (std::uint64_t t = 0; t < 100; ++t) {
          TokenId best = -1;
          double bestScore = -INFINITY;
          for (const Candidate& c : filterLogits(logits, at(temperature, 0, 1, minP))) {
            const double score = c.score + gumbelNoise(1, 0, t, c.token);
            if (score > bestScore) bestScore = score, best = c.token;
          }
          QCOMPARE(chooseToken(logits, at(temperature, 0, 1, minP), t), best);
        }
      }
    }
  }

  // top_k looks at few tokens; the ones it keeps are those of a full sort.
  void topKKeepsTheHighest() {
    std::mt19937 random(4);
    for (const int n : {5, 100, 128, 1000, 4999}) {
      std::vector<float> logits(n);
      for (float& l : logits)
        l = static_cast<float>(static_cast<int>(random() % 200)) * 0.25f - 20;  // with equal ones
      for (const int k : {1, 2, 20, 39, 40, 500}) {
        for (const float temperature : {0.7f, 1e30f}) {
          std::vector<TokenId> expected(n);
          std::iota(expected.begin(), expected.end(), 0);
          const double highest = *std::max_element(logits.begin(), logits.end());
          std::stable_sort(expected.begin(), expected.end(), [&](TokenId a, TokenId b) {
            return (logits[a] - highest) / temperature > (logits[b] - highest) / temperature;
          });
          expected.resize(std::min(k, n));
          std::sort(expected.begin(), expected.end());
          QCOMPARE(keptTokens(logits, at(temperature, k)), expected);
        }
      }
    }
  }

  void drawsFollowTheDistribution_data() {
    QTest::addColumn<float>("temperature");
    QTest::addColumn<int>("topK");
    QTest::addColumn<float>("topP");
    QTest::addColumn<float>("minP");
    QTest::newRow("plain") << 1.0f << 0 << 1.0f << 0.0f;
    QTest::newRow("cold") << 0.6f << 0 << 1.0f << 0.0f;
    QTest::newRow("top_k") << 1.0f << 7 << 1.0f << 0.0f;
    QTest::newRow("top_p") << 1.0f << 0 << 0.8f << 0.0f;
    QTest::newRow("min_p") << 1.3f << 0 << 1.0f << 0.1f;
    QTest::newRow("all") << 0.8f << 12 << 0.9f << 0.05f;
  }
  void drawsFollowTheDistribution() {
    QFETCH(float, temperature);
    QFETCH(int, topK);
    QFETCH(float, topP);
    QFETCH(float, minP);
    std::vector<float> logits(24);
    for (std::size_t i = 0; i < logits.size(); ++i)
      logits[i] = 2.5f * std::cos(float(3 * i + 1));
    const SamplingParams params = at(temperature, topK, topP, minP, 99);
    const auto kept = filterLogits(logits, params);
    double total = 0;
    for (const Candidate& c : kept)
      total += std::exp(c.score);
    const int draws = 50000;
    std::map<TokenId, int> counts;
    for (int t = 0; t < draws; ++t)
      ++counts[chooseToken(logits, params, t)];
    double chi = 0, shifted = 0;
    int drawn = 0;
    for (const Candidate& c : kept) {
      const double expected = draws * std::exp(c.score) / total;
      chi += std::pow(counts[c.token] - expected, 2) / expected;
      // The plant: 2 % of the mass moved from the first token to the second.
      const double moved = c.token == kept[0].token ? -0.02 : c.token == kept[1].token ? 0.02 : 0.0;
      shifted += std::pow(counts[c.token] + moved * draws - expected, 2) / expected;
      drawn += counts[c.token];
    }
    QCOMPARE(drawn, draws);
    const double p = chiSquareTail(chi, kept.size() - 1.0);
    qInfo("chi-square %.2f over %d tokens, p = %.3f", chi, int(kept.size()), p);
    QVERIFY(p > 0.001);
    QVERIFY(chiSquareTail(shifted, kept.size() - 1.0) < 0.001);
  }
};

QTEST_APPLESS_MAIN(TestSampler)
#include "test_sampler.moc"
