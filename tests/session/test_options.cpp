// Every request option on every verified row: under a pairwise cover of models, drafters, shapes, threads and
// options a drafted answer is the plain one, to the bit; the plain one is the long way's; and the same seed
// gives the same answer in whatever engine.
#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>

#include "engine/agreement/plain_run.h"
#include "engine/speculation/options.h"
#include "tests/gguf/tiny_models.h"
#include "tests/service/text_model.h"
#include "tests/session/engine_of.h"

using namespace tandem;
using namespace tandem::test;

namespace {

constexpr int kTokens = 40;
using Ids = std::vector<TokenId>;

const char* const kModels[] = {"llama", "gemma3", "qwen35", "text"};
constexpr TokenOrigin kDrafters[] = {TokenOrigin::kOwnText,   TokenOrigin::kStore, TokenOrigin::kDraftModel,
                                     TokenOrigin::kHalfRight, TokenOrigin::kWrong, TokenOrigin::kOracle,
                                     TokenOrigin::kRandom};
constexpr DraftShape kShapes[] = {{DraftShape::Kind::kChain, 1},  {DraftShape::Kind::kChain, 7},
                                  {DraftShape::Kind::kChain, 15}, {DraftShape::Kind::kTree, 15},
                                  {DraftShape::Kind::kTree, 31},  {DraftShape::Kind::kAuto, 31}};

struct Options {
  const char* name;
  SamplingParams sampling = {};
  int minTokens = 0;
  Ids stopTokens = {};
  std::vector<std::string> stop = {};
};
// The ends are tokens that these models write early and often.
std::vector<Options> allOptions() {
  std::vector<TokenBias> biases;
  for (TokenId token = 0; token < 128; token += 3)
    biases.push_back({token, token % 2 == 0 ? 0.5f : -0.5f});
  Ids stops;
  for (TokenId token = 0; token < 128; token += 9)
    stops.push_back(token);
  std::vector<Options> all;
  const auto add = [&all](const char* name, const auto& set) {
    set(all.emplace_back(Options{name}).sampling);
  };
  add("repetition", [](SamplingParams& p) { p.repetitionPenalty = 1.4f; });
  add("repetition in a window", [](SamplingParams& p) { p.repetitionPenalty = 3, p.penaltyWindow = 5; });
  add("presence", [](SamplingParams& p) { p.presencePenalty = 0.3f; });
  add("frequency", [](SamplingParams& p) { p.frequencyPenalty = 0.2f; });
  add("frequency in a window", [](SamplingParams& p) { p.frequencyPenalty = 0.5f, p.penaltyWindow = 9; });
  add("no repeat 1", [](SamplingParams& p) { p.noRepeatNgramSize = 1; });
  add("no repeat 2", [](SamplingParams& p) { p.noRepeatNgramSize = 2; });
  add("no repeat 3", [](SamplingParams& p) { p.noRepeatNgramSize = 3; });
  add("bias", [&](SamplingParams& p) { p.logitBias = biases; });
  add("logprobs", [](SamplingParams& p) { p.logprobs = 20; });
  add("minimum", [](SamplingParams&) {});
  all.back().minTokens = 25;
  all.back().stopTokens = stops;
  add("stop tokens", [](SamplingParams& p) { p.frequencyPenalty = 0.2f; });
  all.back().stopTokens = stops;
  add("stop strings", [](SamplingParams& p) { p.frequencyPenalty = 0.2f; });
  all.back().minTokens = 6;
  all.back().stop = {"a", "e", "M", "s", "0", "8", "#", "+", "~"};
  add("combined", [&](SamplingParams& p) {
    p.repetitionPenalty = 1.1f;
    p.presencePenalty = p.frequencyPenalty = 0.1f;
    p.penaltyWindow = 30;
    p.noRepeatNgramSize = 4;
    p.logitBias = biases;
    p.logprobs = 3;
  });
  all.back().minTokens = 12;
  all.back().stopTokens = stops;
  all.back().stop = {"a", "M", "0"};
  return all;
}

// Rows of levels such that every pair of levels of two factors is in one of them.
std::vector<std::vector<int>> pairwiseCover(const std::vector<int>& levels) {
  std::set<std::array<int, 4>> open;
  for (int f = 0; f < int(levels.size()); ++f)
    for (int g = f + 1; g < int(levels.size()); ++g)
      for (int a = 0; a < levels[f]; ++a)
        for (int b = 0; b < levels[g]; ++b)
          open.insert({f, g, a, b});
  std::mt19937 random(1);
  std::vector<std::vector<int>> rows;
  while (!open.empty()) {
    std::vector<int> best;
    int most = -1;
    for (int attempt = 0; attempt < 40; ++attempt) {
      std::vector<int> row;
      for (const int count : levels)
        row.push_back(static_cast<int>(random() % static_cast<unsigned>(count)));
      const auto& first = *open.begin();  // one that is open for sure
      row[first[0]] = first[2];
      row[first[1]] = first[3];
      int covers = 0;
      for (const auto& [f, g, a, b] : open)
        covers += row[f] == a && row[g] == b;
      if (covers > most) most = covers, best = row;
    }
    std::erase_if(open,
                  [&](const auto& pair) { return best[pair[0]] == pair[2] && best[pair[1]] == pair[3]; });
    rows.push_back(best);
  }
  return rows;
}

// All that a run leaves behind and that must not depend on drafts.
struct Answer {
  GenerationOutcome outcome;
  std::string text;
  std::vector<ChosenLogprobs> logprobs;
  Sequence cache;
};

Answer answer(Engine& engine, const Generation& request) {
  std::string text;
  std::vector<ChosenLogprobs> logprobs;
  auto outcome =
      engine.generator->run(request, {.piece = [&](TextPiece piece) {
                              text += piece.text;
                              logprobs.insert(logprobs.end(), piece.logprobs.begin(), piece.logprobs.end());
                            }});
  if (!outcome.status.ok()) qFatal("%s", outcome.status.error().describe().c_str());
  return {std::move(outcome), std::move(text), std::move(logprobs), engine.generator->sequence()};
}

}  // namespace

class TestOptions : public QObject {
  Q_OBJECT

  QTemporaryDir dir_;
  std::string path(const std::string& name) const { return dir_.path().toStdString() + "/" + name + ".gguf"; }

  Engine open(const std::string& model, int threads) const {
    Engine engine = openEngine(path(model), threads);
    auto draft = DraftModel::load(path(model), engine.decoder->model(), {.threads = 1});
    if (!draft.ok()) qFatal("%s", draft.error().describe().c_str());
    engine.generator->speculation().draftModel = std::move(*draft);
    return engine;
  }
  Engine& opened(const std::string& model, int threads) {
    auto found = engines_.find({model, threads});
    if (found == engines_.end())
      found = engines_.emplace(std::pair{model, threads}, open(model, threads)).first;
    return found->second;
  }
  std::map<std::pair<std::string, int>, Engine> engines_;

  static Generation request(const Options& options, float temperature, std::uint64_t seed = 9) {
    Generation r;
    for (int i = 0; i < 30; ++i)
      r.prompt.push_back(40 + (i % 8) * 3);
    r.maxTokens = kTokens;
    r.endAtEndTokens = false;
    r.sampling = options.sampling;
    r.sampling.temperature = temperature;
    r.sampling.seed = seed;
    r.minTokens = options.minTokens;
    r.stopTokens = options.stopTokens;
    r.stop = options.stop;
    r.speculation = SpeculationOptions::off();
    return r;
  }
  // Earlier texts that are right in part.
  static void fillStore(Engine& engine, Ids text) {
    for (std::size_t i = 7; i < text.size(); i += 8)
      text[i] = (text[i] + 1) % 128;
    auto store = std::make_shared<MemoryTextStore>();
    store->add(text);
    engine.generator->speculation().store = std::move(store);
  }

 private slots:
  void initTestCase() {
    const std::string recipes = std::string(TANDEM_TEST_DATA) + "/tiny-models/";
    for (const char* name : {"llama", "gemma3", "qwen35"})
      QVERIFY(writeTinyModel(recipes + name + ".json", path(name)).ok());
    QVERIFY(writeTextModel(recipes + "llama.json", path("text")).ok());
  }

  void draftsChangeNothing() {
    const std::vector<Options> options = allOptions();
    const auto rows = pairwiseCover({int(std::size(kModels)), int(std::size(kDrafters)),
                                     int(std::size(kShapes)), int(options.size()), 2, 2});
    int differing = 0, accepted = 0, rejected = 0;
    for (const std::vector<int>& row : rows) {
      const std::string model = kModels[row[0]];
      const int threads = row[4] + 1;
      Engine& engine = opened(model, threads);
      Generation r = request(options[row[3]], row[5] == 0 ? 0.0f : 0.9f);
      r.endAtEndTokens = r.minTokens > 0;
      const Answer plain = answer(engine, r);
      fillStore(engine, plain.outcome.tokens);
      r.speculation = SpeculationOptions::of({kDrafters[row[1]]}, kShapes[row[2]]);
      r.speculation.reference = plain.outcome.tokens;
      r.speculation.seed = 5;
      const Answer drafted = answer(engine, r);
      const std::string what = model + " " + tokenOriginName(kDrafters[row[1]]) + " " +
                               draftShapeName(kShapes[row[2]]) + " " + options[row[3]].name;
      if (drafted.outcome.tokens != plain.outcome.tokens) ++differing, qWarning("%s", what.c_str());
      QVERIFY2(drafted.text == plain.text, what.c_str());
      QVERIFY2(drafted.outcome.stats.finish == plain.outcome.stats.finish, what.c_str());
      QVERIFY2(drafted.outcome.stats.logitsFingerprint == plain.outcome.stats.logitsFingerprint,
               what.c_str());
      QVERIFY2(drafted.logprobs == plain.logprobs, what.c_str());
      QVERIFY2(drafted.cache.sameBytes(plain.cache), what.c_str());
      accepted += drafted.outcome.stats.accepted;
      rejected += drafted.outcome.stats.rejected();
    }
    qInfo("%d runs, %d tokens accepted, %d rejected", int(rows.size()), accepted, rejected);
    QCOMPARE(differing, 0);
    QVERIFY(accepted > 500 && rejected > 500);
  }

  // The engine's plain text is the long way's, and it is another one than without the option.
  void plainIsTheLongWay_data() {
    QTest::addColumn<int>("option");
    const std::vector<Options> options = allOptions();
    for (int i = 0; i < int(options.size()); ++i)
      if (options[i].minTokens == 0 && options[i].stopTokens.empty()) QTest::newRow(options[i].name) << i;
  }
  void plainIsTheLongWay() {
    QFETCH(int, option);
    const Options options = allOptions()[option];
    int changed = 0;
    for (const char* model : {"llama", "gemma3"}) {
      Engine& engine = opened(model, 1);
      for (const float temperature : {0.0f, 0.9f}) {
        const Generation r = request(options, temperature);
        const auto expected =
            agreement::decodePlain(*engine.decoder, r.prompt, kTokens, false, nullptr, r.sampling);
        QVERIFY(expected.ok());
        QCOMPARE(answer(engine, r).outcome.tokens, expected->tokens);
        changed += answer(engine, request(Options{""}, temperature)).outcome.tokens != expected->tokens;
      }
    }
    QVERIFY(options.sampling.changesScores() ? changed > 0 : changed == 0);
  }

  // A minimum holds end tokens, stop tokens and stop strings back, and nothing else.
  void nothingEndsBeforeTheMinimum() {
    Engine& engine = opened("text", 1);
    Options options{""};
    options.sampling.frequencyPenalty = 0.2f;
    const Answer free = answer(engine, request(options, 0));
    QCOMPARE(int(free.outcome.tokens.size()), kTokens);
    options.stopTokens = {free.outcome.tokens[5]};
    const auto first =
        std::ranges::find(free.outcome.tokens, options.stopTokens[0]) - free.outcome.tokens.begin();
    const Answer stopped = answer(engine, request(options, 0));
    QVERIFY(stopped.outcome.stats.finish == FinishReason::kStopToken);
    QCOMPARE(int(stopped.outcome.tokens.size()), int(first) + 1);
    QCOMPARE(stopped.text, free.text.substr(0, static_cast<std::size_t>(first)));  // a byte for each token
    for (int least = 0; least <= kTokens; ++least) {
      options.minTokens = least;
      const Answer held = answer(engine, request(options, 0));
      for (int i = 0; i < least; ++i)
        QVERIFY(held.outcome.tokens[i] != options.stopTokens[0]);
      if (least <= first) QCOMPARE(held.outcome.tokens, stopped.outcome.tokens);
    }
    options.stopTokens.clear();
    for (int least = 0; least <= kTokens; ++least) {
      options.minTokens = least;
      for (const std::size_t at : {3, 11, 20}) {
        options.stop = {free.text.substr(at, 2), free.text.substr(at + 2, 3)};
        const Answer held = answer(engine, request(options, 0));
        // The first one that is complete with token `least` or a later one.
        std::size_t end = std::string::npos;
        for (const std::string& stop : options.stop) {
          const std::size_t from =
              least < int(stop.size()) ? 0 : static_cast<std::size_t>(least) - stop.size();
          end = std::min(end, free.text.find(stop, from));
        }
        QCOMPARE(held.text, free.text.substr(0, end));
      }
    }
  }

  // Stopped anywhere and continued, an answer under options equals the one that was never stopped.
  void goingOnCountsTheWholeAnswer() {
    Engine& engine = opened("llama", 1);
    for (const Options& options : allOptions()) {
      Generation whole = request(options, 0.9f);
      const Ids expected = answer(engine, whole).outcome.tokens;
      for (const int cut : {1, 7, 20, 39}) {
        if (cut >= int(expected.size())) continue;
        Generation rest = whole;
        rest.answerSoFar.assign(expected.begin(), expected.begin() + cut);
        rest.maxTokens = kTokens - cut;
        rest.speculation = SpeculationOptions::chain(TokenOrigin::kOwnText, 7);
        Ids joined = rest.answerSoFar;
        const Ids more = answer(engine, rest).outcome.tokens;
        joined.insert(joined.end(), more.begin(), more.end());
        QCOMPARE(joined, expected);
      }
    }
  }

  void aSeedIsAText() {
    const Options options = allOptions().back();
    const Generation r = request(options, 1.0f, 77);
    Engine& first = opened("gemma3", 1);
    const Ids expected = answer(first, r).outcome.tokens;
    QVERIFY(answer(first, request(options, 1.0f, 78)).outcome.tokens != expected);
    Generation another = r;
    another.sampling.choice = 1;
    QVERIFY(answer(first, another).outcome.tokens != expected);
    for (const int threads : {1, 2, 3}) {
      Engine again = open("gemma3", threads);  // loaded anew
      fillStore(again, expected);
      QCOMPARE(answer(again, r).outcome.tokens, expected);
      for (std::size_t d = 0; d < std::size(kDrafters); ++d) {
        Generation drafted = r;
        drafted.speculation =
            SpeculationOptions::of({kDrafters[d]}, kShapes[(d + threads) % std::size(kShapes)]);
        drafted.speculation.reference = expected;
        QCOMPARE(answer(again, drafted).outcome.tokens, expected);
      }
    }
  }

  void badEndsAreRefusedByName() {
    Engine& engine = opened("llama", 1);
    const auto fieldOf = [&](auto set) {
      Generation r = request(Options{""}, 0);
      set(r);
      const auto outcome = engine.generator->run(r, {});
      return outcome.status.ok() ? std::string() : outcome.status.error().field;
    };
    QCOMPARE(fieldOf([](Generation& r) { r.minTokens = -1; }), std::string("min_tokens"));
    QCOMPARE(fieldOf([](Generation& r) { r.minTokens = kTokens + 1; }), std::string("min_tokens"));
    QCOMPARE(fieldOf([](Generation& r) { r.minTokens = kTokens; }), std::string());
    QCOMPARE(fieldOf([](Generation& r) { r.maxTokens = -1; }), std::string("max_tokens"));
    QCOMPARE(fieldOf([](Generation& r) { r.stopTokens = {3, 128}; }), std::string("stop_token_ids"));
    QCOMPARE(fieldOf([](Generation& r) { r.stopTokens = {-1}; }), std::string("stop_token_ids"));
    QCOMPARE(fieldOf([](Generation& r) { r.sampling.logitBias = {{128, 1}}; }), std::string("logit_bias"));
    QCOMPARE(fieldOf([](Generation& r) { r.sampling.repetitionPenalty = 0; }),
             std::string("repetition_penalty"));
  }
};

QTEST_APPLESS_MAIN(TestOptions)
#include "test_options.moc"
