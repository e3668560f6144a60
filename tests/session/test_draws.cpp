// Sampled answers follow the exact distribution of the target, whatever is drafted and asked for: chi-square
// over all answers of three tokens, and the p-values of a hundred seeds are uniform.
#include <QtTest>
#include <algorithm>
#include <cmath>

#include "engine/measure/goodness.h"
#include "tests/session/drafted_text.h"

using namespace tandem;
using namespace tandem::test;
using measure::chiSquare;
using measure::Fit;

namespace {

using Ids = std::vector<TokenId>;

constexpr int kTokens = 3;
constexpr int kSeeds = 100;
constexpr int kDrawsOfASeed = 500;
const Ids kPrompt = {2, 5, 1, 2};

struct Options {
  const char* name;
  SamplingParams params;
};
const Options kOptions[] = {
    {"temperature 1", {.temperature = 1}},
    {"temperature 0.6", {.temperature = 0.6f}},
    {"temperature 1.7", {.temperature = 1.7f}},
    {"top_k", {.temperature = 1, .topK = 3}},
    {"top_p", {.temperature = 1, .topP = 0.8f}},
    {"min_p", {.temperature = 1.3f, .minP = 0.15f}},
    {"all filters", {.temperature = 0.9f, .topK = 5, .topP = 0.93f, .minP = 0.05f}},
    {"penalties",
     {.temperature = 1, .repetitionPenalty = 1.5f, .presencePenalty = 0.6f, .frequencyPenalty = 0.4f}},
    {"penalties in a window", {.temperature = 1, .frequencyPenalty = 1, .penaltyWindow = 2}},
    {"no repeat", {.temperature = 1, .noRepeatNgramSize = 2}},
    {"bias", {.temperature = 1, .logitBias = {{0, 1}, {4, -1}, {5, -100}}}},
    {"everything",
     {.temperature = 0.8f,
      .topK = 4,
      .topP = 0.95f,
      .minP = 0.02f,
      .repetitionPenalty = 1.2f,
      .presencePenalty = 0.3f,
      .noRepeatNgramSize = 3,
      .logitBias = {{3, 0.5f}}}},
};
constexpr std::pair<Drafts, const char*> kDrafts[] = {
    {Drafts::kNone, "plain"}, {Drafts::kChain, "chain"}, {Drafts::kTree, "tree"}};

std::size_t cellOf(const Ids& answer) {
  std::size_t cell = 0;
  for (const TokenId token : answer)
    cell = cell * kSixTokens + static_cast<std::size_t>(token);
  return cell;
}

// Of the last two tokens: cells that differ in the first one are one cell.
template <class T>
std::vector<T> lastTwo(const std::vector<T>& cells) {
  constexpr std::size_t kCells = kSixTokens * kSixTokens;
  std::vector<T> sums(kCells);
  for (std::size_t i = 0; i < cells.size(); ++i)
    sums[i % kCells] += cells[i];
  return sums;
}

}  // namespace

class TestDraws : public QObject {
  Q_OBJECT

 private slots:
  void answersFollowTheExactDistribution_data() {
    QTest::addColumn<int>("option");
    QTest::addColumn<int>("shape");
    for (std::size_t o = 0; o < std::size(kOptions); ++o)
      for (std::size_t s = 0; s < std::size(kDrafts); ++s)
        QTest::addRow("%s, %s", kOptions[o].name, kDrafts[s].second) << int(o) << int(s);
  }
  void answersFollowTheExactDistribution() {
    QFETCH(int, option);
    QFETCH(int, shape);
    SamplingParams params = kOptions[option].params;
    const std::vector<double> exact = exactDistribution(params, kPrompt, kTokens);
    std::vector<std::int64_t> all(exact.size());
    std::vector<double> pValues;
    for (int seed = 0; seed < kSeeds; ++seed) {
      std::vector<std::int64_t> counts(exact.size());
      params.seed = static_cast<std::uint64_t>(seed);
      for (int draw = 0; draw < kDrawsOfASeed; ++draw) {
        params.choice = static_cast<std::uint32_t>(draw);
        ++counts[cellOf(draftedText(params, kPrompt, kTokens, kDrafts[shape].first))];
      }
      pValues.push_back(chiSquare(lastTwo(counts), lastTwo(exact)).p);
      for (std::size_t i = 0; i < counts.size(); ++i)
        all[i] += counts[i];
    }
    const Fit fit = chiSquare(all, exact), seeds = measure::uniformity(pValues);
    qInfo("chi-square %.1f of %d degrees, p %.3f; p of the seeds uniform: %.3f", fit.statistic, fit.degrees,
          fit.p, seeds.p);
    QVERIFY(fit.degrees > 0 && fit.p > 0.001);
    QVERIFY(seeds.p > 0.001);

    // The plant: 2 % of the mass goes from all other answers to the commonest.
    const auto commonest = std::max_element(all.begin(), all.end());
    const double share = 0.02 * kSeeds * kDrawsOfASeed / (kSeeds * kDrawsOfASeed - *commonest);
    std::int64_t moved = 0;
    for (auto& count : all) {
      if (&count == &*commonest) continue;
      const auto lost = std::llround(share * static_cast<double>(count));
      count -= lost;
      moved += lost;
    }
    *commonest += moved;
    QVERIFY(std::llabs(moved - kSeeds * kDrawsOfASeed / 50) < 100);
    QVERIFY(chiSquare(all, exact).p < 1e-6);
  }

  // The rejection sampler: other tokens with every draft, and the same distribution.
  void rejectionFollowsTheSameDistribution_data() {
    QTest::addColumn<int>("option");
    QTest::addColumn<int>("shape");
    for (const int option : {0, 1, 6, 7, 11}) {
      QTest::addRow("%s, certain guesses", kOptions[option].name) << option << int(Drafts::kChain);
      QTest::addRow("%s, drawn guesses", kOptions[option].name) << option << int(Drafts::kDrawnChain);
    }
  }
  void rejectionFollowsTheSameDistribution() {
    QFETCH(int, option);
    QFETCH(int, shape);
    SamplingParams params = kOptions[option].params;
    params.sampler = Sampler::kRejection;
    const std::vector<double> exact = exactDistribution(params, kPrompt, kTokens);
    std::vector<std::int64_t> right(exact.size()), wrong(exact.size());
    int others = 0;
    for (int draw = 0; draw < kSeeds * kDrawsOfASeed; ++draw) {
      params.choice = static_cast<std::uint32_t>(draw);
      const Ids answer = draftedText(params, kPrompt, kTokens, Drafts(shape));
      ++right[cellOf(answer)];
      ++wrong[cellOf(draftedText(params, kPrompt, kTokens, Drafts(shape), ChoiceFault::kRestIsAll))];
      if (draw < 1000) others += answer != draftedText(params, kPrompt, kTokens, Drafts::kNone);
    }
    QVERIFY(others > 100);
    QVERIFY(chiSquare(right, exact).p > 0.001);
    QVERIFY(chiSquare(wrong, exact).p < 1e-6);
  }

  // p-values that lean are not uniform.
  void aLeaningSamplerIsCaught() {
    SamplingParams params = kOptions[0].params;
    const auto exact = lastTwo(exactDistribution(params, kPrompt, kTokens));
    params.temperature = 0.8f;
    std::vector<double> pValues;
    for (int seed = 0; seed < kSeeds; ++seed) {
      std::vector<std::int64_t> counts(exact.size());
      params.seed = static_cast<std::uint64_t>(seed);
      for (int draw = 0; draw < kDrawsOfASeed; ++draw) {
        params.choice = static_cast<std::uint32_t>(draw);
        ++counts[cellOf(draftedText(params, kPrompt, kTokens, Drafts::kTree)) % exact.size()];
      }
      pValues.push_back(chiSquare(counts, exact).p);
    }
    QVERIFY(measure::uniformity(pValues).p < 0.001);
  }

  // Penalties of the row's own path, noise of the answer's own index: anything else is another text.
  void everyDraftWritesTheReferencesText_data() { faults(); }
  void everyDraftWritesTheReferencesText() {
    QFETCH(int, fault);
    int differing = 0, tokens = 0;
    for (const Options& options : kOptions) {
      for (const float temperature : {0.0f, options.params.temperature}) {
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
          SamplingParams params = options.params;
          params.temperature = temperature;
          params.seed = seed;
          const Ids expected = referenceText(params, kPrompt, 40);
          for (const auto& [drafts, name] : kDrafts) {
            if (fault != 0 && drafts == Drafts::kNone) continue;
            const Ids text = draftedText(params, kPrompt, 40, drafts, ChoiceFault(fault));
            for (std::size_t i = 0; i < expected.size(); ++i)
              differing += text[i] != expected[i];
            tokens += 40;
          }
        }
      }
    }
    qInfo("%d of %d tokens differ", differing, tokens);
    QVERIFY(fault == 0 ? differing == 0 : differing > tokens / 50);
  }

  void theTailsAreKnownOnes() {
    const auto near = [](double a, double b) { return std::fabs(a - b) < 5e-5; };
    QVERIFY(near(measure::chiSquareTail(3.8415, 1), 0.05));
    QVERIFY(near(measure::chiSquareTail(18.307, 10), 0.05));
    QVERIFY(near(measure::chiSquareTail(9.3418, 10), 0.5));
    QVERIFY(near(measure::chiSquareTail(149.449, 100), 0.001));
    QVERIFY(near(measure::chiSquareTail(0, 4), 1));
    std::vector<double> even;
    for (int i = 0; i < 100; ++i)
      even.push_back((i + 0.5) / 100);
    QVERIFY(measure::uniformity(even).p > 0.999);
    for (double& value : even)
      value = value * value;
    QVERIFY(measure::uniformity(even).p < 0.001);
    const std::vector<std::int64_t> a = {100, 200, 300}, b = {210, 390, 600}, c = {300, 200, 100};
    QVERIFY(measure::chiSquareOfTwo(a, b).p > 0.5);
    QVERIFY(measure::chiSquareOfTwo(a, c).p < 1e-9);
    QCOMPARE(chiSquare(a, std::vector<double>{0.5, 0.5, 0}).p, 0.0);
  }

 private:
  static void faults() {
    QTest::addColumn<int>("fault");
    QTest::newRow("none") << int(ChoiceFault::kNone);
    QTest::newRow("penalty of another row") << int(ChoiceFault::kPenaltyOfAnotherRow);
    QTest::newRow("noise of another index") << int(ChoiceFault::kNoiseOfAnotherIndex);
    QTest::newRow("a forgotten path") << int(ChoiceFault::kForgottenPath);
  }
};

QTEST_APPLESS_MAIN(TestDraws)
#include "test_draws.moc"
