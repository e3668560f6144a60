// Thinking blocks: where they are, what closes them early, and that drafts move nothing of it.
#include <QTemporaryDir>
#include <QtTest>
#include <random>

#include "engine/session/reasoning.h"
#include "tests/service/text_model.h"
#include "tests/session/engine_of.h"

using namespace tandem;
using namespace tandem::test;

namespace {

using Ids = std::vector<TokenId>;
constexpr std::string_view kClosing = "\n</think>\n\n";

// The text model's tokens are the bytes.
Ids ids(std::string_view text) {
  return Ids(text.begin(), text.end());
}

// The token from which on the text stalls, counted from 1; 0: it never does.
int stallsAt(const Ids& tokens) {
  StallDetector detector;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (detector.push(tokens[i])) return static_cast<int>(i) + 1;
  return 0;
}

}  // namespace

class TestReasoning : public QObject {
  Q_OBJECT

  QTemporaryDir dir_;
  std::string model_;
  std::shared_ptr<const Tokenizer> tokenizer_;

  Reasoning after(std::string_view prompt, std::string_view answer,
                  const ReasoningOptions& options = {}) const {
    Reasoning made(tokenizer_, ReasoningMarks{"<think>", "</think>"}, options);
    made.begin(ids(prompt));
    for (const TokenId token : ids(answer))
      made.push(token);
    return made;
  }
  static Generation request(int tokens, const ReasoningOptions& reasoning) {
    Generation r;
    r.prompt = ids("What is it?<think>\n");
    r.maxTokens = tokens;
    r.endAtEndTokens = false;
    r.reasoning = reasoning;
    r.speculation = SpeculationOptions::off();
    return r;
  }
  static std::string textOf(const Ids& tokens) { return std::string(tokens.begin(), tokens.end()); }

 private slots:
  void initTestCase() {
    model_ = (dir_.path() + "/text.gguf").toStdString();
    TextModelOptions options;
    options.chatTemplate = kThinkingTemplate;
    QVERIFY(writeTextModel(std::string(TANDEM_TEST_DATA) + "/tiny-models/llama.json", model_, options).ok());
    tokenizer_ = openEngine(model_, 1).decoder->model().sharedTokenizer();
  }

  void marksAreThoseOfTheTemplate() {
    QVERIFY((reasoningMarks("{{ x }}</think>") == ReasoningMarks{"<think>", "</think>"}));
    QVERIFY((reasoningMarks("a</reasoning>") == ReasoningMarks{"<reasoning>", "</reasoning>"}));
    QVERIFY((reasoningMarks("[THINK]a[/THINK]") == ReasoningMarks{"[THINK]", "[/THINK]"}));
    QVERIFY(!reasoningMarks("<|im_start|>").has_value());
  }

  void blocksAreFound() {
    const auto found = [this](std::string_view prompt, std::string_view answer) {
      return after(prompt, answer).stats();
    };
    QVERIFY(found("x", "abc").end == ReasoningEnd::kNone);
    QVERIFY(found("x<think>\n", "abc").end == ReasoningEnd::kOpen);
    QCOMPARE(found("x<think>\n", "abc").tokens, 3);
    QVERIFY(found("x", "\n <think>abc").end == ReasoningEnd::kOpen);
    QCOMPARE(found("x", "\n <think>abc").tokens, 3);
    QVERIFY(found("x", "a <think>abc").end == ReasoningEnd::kNone);  // a mark further on is text
    QVERIFY(found("x<think>a", "abc").end == ReasoningEnd::kNone);
    QVERIFY(found("x<think>\n</think>\n", "abc").end == ReasoningEnd::kNone);
    QVERIFY(found("x<think>", "abc</think>de").end == ReasoningEnd::kOwn);
    QCOMPARE(found("x<think>", "abc</think>de").tokens, 11);
    QCOMPARE(found("x<think>", "abc</think>de<think>fgh").tokens, 11);
    Reasoning none(tokenizer_, std::nullopt, {.budget = 1});
    none.begin(ids("<think>"));
    none.push('a');
    QVERIFY(none.stats().end == ReasoningEnd::kNone && !none.forced());
  }

  void aBudgetIsClosedWithTheMark() {
    Reasoning reasoning = after("x<think>", "abcd", {.budget = 5});
    QVERIFY(!reasoning.forced());
    reasoning.push('e');
    std::string closing;
    while (const auto token = reasoning.forced()) {
      closing += static_cast<char>(*token);
      reasoning.push(*token);
    }
    QCOMPARE(closing, std::string(kClosing));
    QVERIFY(reasoning.stats().end == ReasoningEnd::kBudget);
    // A block that ends in time is left alone.
    QVERIFY(after("x<think>", "</think>abcdef", {.budget = 9}).stats().end == ReasoningEnd::kOwn);
    QVERIFY(!after("x<think>", "</think>abcdef", {.budget = 9}).forced());
  }

  void circlesStallAndVariedTextDoesNot() {
    std::mt19937 random(2);
    for (const int vocabulary : {200, 5000, 150000}) {
      Ids varied;
      for (int i = 0; i < 600; ++i)
        varied.push_back(static_cast<TokenId>(random() % static_cast<unsigned>(vocabulary)));
      QCOMPARE(stallsAt(varied), 0);
      for (const int period : {1, 2, 7, 30, 48}) {
        Ids circling = varied;
        for (int i = 0; i < 300; ++i)
          circling.push_back(circling[circling.size() - static_cast<std::size_t>(period)]);
        const int at = stallsAt(circling);
        QVERIFY2(at > 600 && at <= 600 + std::max(120, 4 * period), std::to_string(at).c_str());
      }
    }
    // The same sentences again and again, in changing order and of changing length.
    std::vector<Ids> sentences(4);
    for (Ids& sentence : sentences)
      for (int i = 0; i < 30; ++i)
        sentence.push_back(static_cast<TokenId>(random() % 5000));
    Ids mumbling;
    while (mumbling.size() < 3000) {
      const Ids& sentence = sentences[random() % 4];
      mumbling.insert(mumbling.end(), sentence.begin(), sentence.end());
    }
    QVERIFY(stallsAt(mumbling) > 0 && stallsAt(mumbling) < 1500);
    // A list whose lines share most of their words goes on.
    Ids list;
    for (int line = 0; line < 60; ++line) {
      for (int word = 0; word < 8; ++word)
        list.push_back(word);
      for (int word = 0; word < 4; ++word)
        list.push_back(static_cast<TokenId>(100 + random() % 5000));
    }
    QCOMPARE(stallsAt(list), 0);
  }

  void draftsMoveNothing() {
    Engine engine = openEngine(model_, 1);
    const Ids free = engine.generator->run(request(120, {}), {}).tokens;
    for (const int budget : {1, 2, 13, 40}) {
      const auto plain = engine.generator->run(request(120, {.budget = budget}), {});
      const auto begin = static_cast<std::size_t>(budget);
      QVERIFY(plain.reasoning.end == ReasoningEnd::kBudget);
      QCOMPARE(textOf(plain.tokens).substr(0, begin), textOf(free).substr(0, begin));
      QCOMPARE(textOf(plain.tokens).substr(begin, kClosing.size()), std::string(kClosing));
      QCOMPARE(plain.reasoning.tokens, budget + int(kClosing.size()) - 2);
      for (const SpeculationOptions& speculation : {SpeculationOptions::chain(TokenOrigin::kOwnText, 7),
                                                    SpeculationOptions::tree(TokenOrigin::kRandom, 31),
                                                    SpeculationOptions::chain(TokenOrigin::kOracle, 15),
                                                    SpeculationOptions::chain(TokenOrigin::kWrong, 7)}) {
        Generation r = request(120, {.budget = budget});
        r.speculation = speculation;
        r.speculation.reference = plain.tokens;
        const auto drafted = engine.generator->run(r, {});
        QCOMPARE(drafted.tokens, plain.tokens);
        QVERIFY(drafted.reasoning.end == plain.reasoning.end);
        QCOMPARE(drafted.stats.logitsFingerprint, plain.stats.logitsFingerprint);
      }
      // Stopped in the middle of the closing and continued.
      Generation rest = request(120 - budget - 3, {.budget = budget});
      rest.answerSoFar.assign(plain.tokens.begin(), plain.tokens.begin() + budget + 3);
      const auto more = engine.generator->run(rest, {});
      QCOMPARE(more.tokens, Ids(plain.tokens.begin() + budget + 3, plain.tokens.end()));
      QCOMPARE(more.reasoning.tokens, plain.reasoning.tokens);
    }
  }

  // A model that goes in circles is made to stop thinking; without the option it goes on.
  void aStallIsClosed() {
    Engine engine = openEngine(model_, 1);
    Generation r = request(400, {.stallClose = true});
    for (TokenId token = 3; token < 128; ++token)
      r.sampling.logitBias.push_back({token, token == 'a' || token == 'b' ? 20.0f : 0.0f});
    const auto closed = engine.generator->run(r, {});
    QVERIFY(closed.reasoning.end == ReasoningEnd::kStall);
    QVERIFY(textOf(closed.tokens).find(kClosing) != std::string::npos);
    r.reasoning.stallClose = false;
    const auto open = engine.generator->run(r, {});
    QVERIFY(open.reasoning.end == ReasoningEnd::kOpen);
    QCOMPARE(open.tokens.size(), std::size_t(400));
    r.reasoning.budget = -1;
    QCOMPARE(engine.generator->run(r, {}).status.error().field, std::string("reasoning_budget"));
  }
};

QTEST_APPLESS_MAIN(TestReasoning)
#include "test_reasoning.moc"
