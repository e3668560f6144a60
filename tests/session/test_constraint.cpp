// Structured output through the whole loop: whatever is drafted, an answer that must have a form is the one
// that plain decoding writes, it has the form, and a request that cannot have it is refused before anything
// is written.
#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/agreement/reference_choice.h"
#include "engine/constraint/constraint_cache.h"
#include "engine/sampler/chooser.h"
#include "tests/service/text_model.h"
#include "tests/session/engine_of.h"

using namespace tandem;
using namespace tandem::test;

namespace {

using Ids = std::vector<TokenId>;

std::string textOf(const Tokenizer& tokenizer, const Ids& tokens) {
  std::string text;
  for (const TokenId token : tokens)
    text += tokenizer.decode(token);
  return text;
}

}  // namespace

class TestConstraint : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    const std::string path = folder_.filePath("text.gguf").toStdString();
    const Status written = writeTextModel(TANDEM_TEST_DATA "/tiny-models/llama.json", path);
    QVERIFY2(written.ok(), written.ok() ? "" : written.error().describe().c_str());
    engine_ = openEngine(path, 1);
    tokenizer_ = engine_.decoder->model().sharedTokenizer();
    cache_ = std::make_unique<ConstraintCache>(tokenizer_);
    prompt_ = *tokenizer_->encode("user: give me a value of that form, please.\nassistant: ");
  }

  // Ten answers to each schema, the first greedy, each again with drafts. What they are goes to a file, for
  // check_answers.py.
  void draftsChangeNothing() {
    std::ifstream file(TANDEM_SCHEMAS);
    std::ofstream answers(TANDEM_ANSWERS);
    int schemas = 0, ended = 0, accepted = 0, rejected = 0;
    for (std::string line; std::getline(file, line); ++schemas) {
      const auto constraint = cache_->find(ConstraintSpec::jsonSchema(line));
      if (!constraint.ok()) {
        // The vocabulary of this model is ASCII: what needs other characters cannot be written with it.
        QCOMPARE(constraint.error().code, ErrorCode::kInvalidArgument);
        continue;
      }
      for (int number = 0; number < kSeeds; ++number) {
        const auto seed = static_cast<std::uint64_t>(number == 0 ? 0 : schemas * kSeeds + number);
        Generation request = requestOf(*constraint, seed);
        const Ids plain = tokensOf(request);
        checkForm(**constraint, line, plain);
        ended += !plain.empty() && tokenizer_->isEndToken(plain.back());
        answers << nlohmann::json{{"schema", line}, {"text", textOf(*tokenizer_, plain)}}.dump() << "\n";
        const auto drafters = draftersOf(plain, seed);
        request.speculation = drafters[static_cast<std::size_t>(schemas + number) % drafters.size()];
        const GenerationOutcome outcome = engine_.generator->run(request, {});
        QVERIFY2(outcome.status.ok(), line.c_str());
        QVERIFY2(outcome.tokens == plain, line.c_str());
        accepted += outcome.stats.accepted;
        rejected += outcome.stats.rejected();
      }
    }
    qInfo("%d schemas, %d answers ended, %d drafted tokens accepted, %d rejected", schemas, ended, accepted,
          rejected);
    QVERIFY(schemas >= 200);
    QVERIFY(ended >= kSeeds * schemas * 9 / 10);
    QVERIFY(accepted > 1000 && rejected > 1000);
  }

  // The other kinds of form, with penalties, biases and filters on.
  void optionsStandBesideForms() {
    ConstraintSpec tools{.kind = ConstraintSpec::Kind::kToolCalls,
                         .text =
                             "[{\"name\":\"f\",\"parameters\":{\"type\":\"object\",\"properties\":{\"x\":{"
                             "\"type\":\"integer\"}},"
                             "\"required\":[\"x\"],\"additionalProperties\":false}},{\"name\":\"g\"}]"};
    tools.maxCalls = 2;
    for (const ConstraintSpec& spec :
         {ConstraintSpec::jsonObject(), ConstraintSpec::regex("[a-d]{4,9}( [0-9]+)?"),
          ConstraintSpec::choice({"yes", "no"}), ConstraintSpec::grammar("root ::= \"(\" root* \")\""),
          tools}) {
      const auto constraint = cache_->find(spec);
      QVERIFY2(constraint.ok(), constraint.ok() ? "" : constraint.error().describe().c_str());
      for (std::uint64_t seed = 0; seed < 6; ++seed) {
        Generation request = requestOf(*constraint, seed);
        request.sampling.repetitionPenalty = 1.3f;
        request.sampling.noRepeatNgramSize = 3;
        request.sampling.topK = seed % 2 == 0 ? 0 : 12;
        request.sampling.topP = seed % 3 == 0 ? 1.0f : 0.8f;
        request.sampling.logprobs = 2;
        request.minTokens = 5;
        request.sampling.logitBias = {{static_cast<TokenId>('}'), -2.0f}, {static_cast<TokenId>('a'), 3.0f}};
        const Ids plain = tokensOf(request);
        Matcher matcher = (*constraint)->start();
        for (const TokenId token : plain)
          QVERIFY(matcher.advance(token));
        QVERIFY(matcher.atDeadEnd());  // the end token was written
        for (const SpeculationOptions& drafts : draftersOf(plain, seed)) {
          request.speculation = drafts;
          QVERIFY(tokensOf(request) == plain);
        }
      }
    }
  }

  // Exactly as many tokens as the form takes are enough; one fewer is refused with the figure.
  void theLengthIsChecked() {
    const auto constraint = cache_->find(ConstraintSpec::jsonSchema(
        "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"minLength\":3}},\"required\":["
        "\"name\"],\"additionalProperties\":false}"));
    QVERIFY(constraint.ok());
    const int fewest = (*constraint)->start().shortestToEnd();
    QCOMPARE(fewest, 15);  // {"name":"…"} and the end token, a token each
    Generation request = requestOf(*constraint, 1);
    request.maxTokens = fewest;
    const GenerationOutcome exact = engine_.generator->run(request, {});
    QVERIFY(exact.status.ok());
    QCOMPARE(static_cast<int>(exact.tokens.size()), fewest);
    QVERIFY(exact.stats.finish == FinishReason::kEndToken);
    QVERIFY(nlohmann::json::parse(textOf(*tokenizer_, exact.tokens), nullptr, false).is_object());
    request.maxTokens = fewest - 1;
    const GenerationOutcome refused = engine_.generator->run(request, {});
    QVERIFY(!refused.status.ok());
    QCOMPARE(refused.status.error().code, ErrorCode::kInvalidArgument);
    QCOMPARE(refused.status.error().field, std::string("max_tokens"));
    QVERIFY(refused.tokens.empty());
  }

  // An answer that was stopped goes on inside its form; one that left it is refused.
  void anAnswerGoesOn() {
    const auto constraint = cache_->find(ConstraintSpec::regex("[a-z]{10}[0-9]{10}"));
    QVERIFY(constraint.ok());
    Generation request = requestOf(*constraint, 7);
    const Ids whole = tokensOf(request);
    QCOMPARE(whole.size(), std::size_t{21});
    request.answerSoFar = Ids(whole.begin(), whole.begin() + 8);
    QVERIFY(tokensOf(request) == Ids(whole.begin() + 8, whole.end()));
    request.answerSoFar = {static_cast<TokenId>('0')};
    const GenerationOutcome refused = engine_.generator->run(request, {});
    QVERIFY(!refused.status.ok());
    QCOMPARE(refused.status.error().field, std::string("constraint"));
  }

  // A form that takes too much to follow ends the answer behind the tokens that were chosen, and no other.
  void whatCannotBeFollowedKeepsItsTokens() {
    const auto constraint = cache_->find(ConstraintSpec::grammar(
        "root ::= s \"b\"\ns ::= \"a\" s \"c\" | \"a\" s \"d\" | \"a\" t \"d\" | \"a\"\n"
        "t ::= \"a\" t \"c\" | \"a\" s \"c\" | \"a\""));
    QVERIFY2(constraint.ok(), constraint.ok() ? "" : constraint.error().describe().c_str());
    for (const bool drafts : {false, true}) {
      Generation request = requestOf(*constraint, 0);
      request.maxTokens = 0;
      request.sampling.logitBias = {{static_cast<TokenId>('a'), 100.0f}};
      request.sampling.logprobs = 1;
      if (drafts) request.speculation = SpeculationOptions::chain(TokenOrigin::kOwnText, 7);
      Ids told, chosen;
      std::size_t textBytes = 0, logprobs = 0;
      const GenerationOutcome outcome = engine_.generator->run(
          request, {.piece =
                        [&](const TextPiece& piece) {
                          for (const PieceToken& token : piece.tokens)
                            told.push_back(token.id);
                          textBytes += piece.text.size();
                          logprobs += piece.logprobs.size();
                        },
                    .chosen = [&](TokenId token, std::span<const float>) { chosen.push_back(token); }});
      QVERIFY(!outcome.status.ok());
      QCOMPARE(outcome.status.error().code, ErrorCode::kBudgetExceeded);
      QVERIFY(outcome.tokens == Ids(outcome.tokens.size(), 'a') && !outcome.tokens.empty());
      QVERIFY(told == outcome.tokens && chosen == outcome.tokens);
      QCOMPARE(textBytes, told.size());
      QCOMPARE(logprobs, told.size());
      int accepted = 0;
      for (const int tokens : outcome.stats.acceptedBy)
        accepted += tokens;
      QCOMPARE(accepted, outcome.stats.completionTokens);
    }
  }

  void whatCannotBeIsRefused() {
    const auto constraint = cache_->find(ConstraintSpec::choice({"a"}));
    QVERIFY(constraint.ok());
    Generation request = requestOf(*constraint, 0);
    request.endAtEndTokens = false;
    QVERIFY(!engine_.generator->run(request, {}).status.ok());
    request = requestOf(*constraint, 0);
    request.speculation = SpeculationOptions::chain(TokenOrigin::kWrong, 4);
    request.speculation.relaxTau = 1;
    QVERIFY(!engine_.generator->run(request, {}).status.ok());
  }

  // Whether the mask is made or not, the choice is that of the long way, which makes it.
  void choicesAreThoseOfTheLongWay() {
    const auto constraint = cache_->find(ConstraintSpec::regex("[a-m]{1,30}[0-4]{1,30}"));
    QVERIFY(constraint.ok());
    std::mt19937 random(5);
    std::normal_distribution<float> normal(0, 2);
    int masked = 0;
    constexpr int kTopKs[] = {0, 1, 7, 40, 200};
    for (int run = 0; run < 231; ++run) {
      SamplingParams p;
      p.temperature = run % 4 == 0 ? 0.0f : 0.8f;
      p.topK = kTopKs[run % 5];
      p.minP = run % 3 == 2 ? 0.05f : 0.0f;
      p.topP = run % 7 < 2 ? 0.9f : 1.0f;
      p.repetitionPenalty = run % 2 ? 1.2f : 1.0f;
      const bool ties = run % 11 < 4;
      p.seed = static_cast<std::uint64_t>(run) + 1;
      constexpr int kLeft = 40;
      Chooser chooser(p, 0, {});
      chooser.begin(prompt_);
      Matcher matcher = (*constraint)->start();
      chooser.constrain(matcher, kLeft);
      Ids answer;
      while (static_cast<int>(answer.size()) < kLeft && !matcher.atDeadEnd()) {
        std::vector<float> logits(tokenizer_->vocabSize());
        for (float& logit : logits)
          logit = ties ? std::round(normal(random)) : normal(random);
        const TokenMask mask = matcher.mask(kLeft - static_cast<int>(answer.size()));
        const TokenId expected = agreement::referenceChoice(logits, p, prompt_, answer, {}, &mask);
        QCOMPARE(chooser.choose(logits), expected);
        masked += agreement::referenceChoice(logits, p, prompt_, answer) != expected;
        chooser.push(expected);
        QVERIFY(matcher.advance(expected));
        answer.push_back(expected);
      }
    }
    QVERIFY(masked > 200);
  }

  // Where a form takes too many places to follow, the choice says so, and no other token is taken for the one
  // that could not be tried.
  void aFormTooLargeToFollowIsTold() {
    const auto constraint = cache_->find(
        ConstraintSpec::grammar("root ::= \"a\" root b | \"a\" root c | \"\"\nb ::= \"b\"?\nc ::= \"c\"?"));
    QVERIFY(constraint.ok());
    std::vector<float> logits(tokenizer_->vocabSize(), 0.0f);
    logits['a'] = 100;
    logits[tokenizer_->vocabulary().endTokens().front().id] = 50;
    for (const std::int64_t topK : {0, 5, 200}) {
      for (const float temperature : {0.0f, 1.0f}) {
        Chooser chooser({.temperature = temperature, .topK = topK, .seed = 1}, 0, {});
        chooser.begin(prompt_);
        chooser.constrain((*constraint)->start(), 100);
        int written = 0;
        for (; written < 50; ++written) {
          const TokenId token = chooser.choose(logits);
          if (!chooser.status().ok()) break;
          QCOMPARE(token, static_cast<TokenId>('a'));
          chooser.push(token);
        }
        QVERIFY(written > 5 && written < 50);
        QCOMPARE(chooser.status().error().code, ErrorCode::kBudgetExceeded);
      }
    }
  }

  // Going down a drafted path and back up leaves the choice as it was. The planted fault: a matcher that is
  // not taken back is found by the same comparison.
  void aDraftedPathIsTakenBack() {
    const auto constraint = cache_->find(ConstraintSpec::regex("ab*c|b+d"));
    QVERIFY(constraint.ok());
    std::vector<float> logits(tokenizer_->vocabSize(), 0.0f);
    logits['d'] = 3;
    logits['c'] = 2;
    logits['b'] = 1;
    const auto afterDraft = [&](bool takenBack) {
      Chooser chooser(SamplingParams(), 0, {});
      chooser.begin(prompt_);
      chooser.constrain((*constraint)->start(), 10);
      chooser.push('a');
      if (takenBack) chooser.pop();
      return chooser.choose(logits);
    };
    Chooser fresh(SamplingParams(), 0, {});
    fresh.begin(prompt_);
    fresh.constrain((*constraint)->start(), 10);
    QCOMPARE(fresh.choose(logits), static_cast<TokenId>('b'));
    QCOMPARE(afterDraft(true), fresh.choose(logits));
    QVERIFY(afterDraft(false) != fresh.choose(logits));
  }

 private:
  Generation requestOf(std::shared_ptr<const Constraint> constraint, std::uint64_t seed) const {
    Generation request;
    request.prompt = prompt_;
    request.maxTokens = std::max(48, constraint->start().shortestToEnd());
    request.constraint = std::move(constraint);
    request.sampling.temperature = seed == 0 ? 0.0f : 0.9f;
    request.sampling.seed = seed;
    request.speculation = SpeculationOptions::off();
    return request;
  }

  Ids tokensOf(const Generation& request) {
    const GenerationOutcome outcome = engine_.generator->run(request, {});
    if (!outcome.status.ok()) qWarning("%s", outcome.status.error().describe().c_str());
    return outcome.tokens;
  }

  std::vector<SpeculationOptions> draftersOf(const Ids& plain, std::uint64_t seed) const {
    SpeculationOptions half = SpeculationOptions::tree(TokenOrigin::kHalfRight, 15);
    half.reference = plain;
    half.seed = seed;
    return {SpeculationOptions::chain(TokenOrigin::kWrong, 7), half,
            SpeculationOptions::chain(TokenOrigin::kOwnText, 7)};
  }

  void checkForm(const Constraint& constraint, const std::string& schema, const Ids& tokens) const {
    Matcher matcher = constraint.start();
    for (const TokenId token : tokens)
      QVERIFY2(matcher.advance(token), schema.c_str());
    QVERIFY2(matcher.atDeadEnd(), schema.c_str());
    const std::string text = textOf(*tokenizer_, tokens);
    QVERIFY2(!nlohmann::json::parse(text, nullptr, false).is_discarded(), (schema + " gave " + text).c_str());
  }

  static constexpr int kSeeds = 10;

  QTemporaryDir folder_;
  Engine engine_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::unique_ptr<ConstraintCache> cache_;
  Ids prompt_;
};

QTEST_APPLESS_MAIN(TestConstraint)
#include "test_constraint.moc"
