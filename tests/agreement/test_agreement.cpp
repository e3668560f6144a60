// The gate on tiny models: every drafter in every shape passes, and what is wrong on purpose does not.
#include <QTemporaryDir>
#include <QtTest>
#include <random>

#include "engine/agreement/agreement.h"
#include "engine/agreement/in_company.h"
#include "engine/gguf/encoded_value.h"
#include "tests/agreement/swapped_commit.h"
#include "tests/gguf/model_copy.h"
#include "tests/gguf/tiny_models.h"
#include "tests/model/faulty_kernels.h"
#include "tests/model/quantized_tiny.h"

using namespace tandem;
using namespace tandem::test;
using agreement::Cell;
using agreement::CellResult;
using agreement::Gate;
using agreement::GateOptions;

namespace {

constexpr const char* kModels[] = {"llama",    "gemma3", "qwen3",     "gemma2",
                                   "qwen3moe", "qwen35", "qwen35moe", "qwen3next"};
constexpr int kVocabulary = 128;

// A prompt of random ids; its second half repeats its first, for the drafters that look things up.
std::vector<TokenId> randomPrompt(int length, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<TokenId> prompt;
  for (int i = 0; i < length; ++i)
    prompt.push_back(i < length / 2 ? static_cast<TokenId>(random() % kVocabulary) : prompt[i - length / 2]);
  return prompt;
}

std::string text(const std::vector<std::string>& lines) {
  std::string joined;
  for (const std::string& line : lines)
    joined += (joined.empty() ? "" : "; ") + line;
  return joined;
}

bool contains(const std::vector<std::string>& lines, std::string_view part) {
  return text(lines).find(part) != std::string::npos;
}

// Kernels that add in another order from four rows on.
kernels::KernelSet otherOrderFromFourRows() {
  static const kernels::KernelSet* base = &kernels::bestKernels();
  static kernels::KernelSet reversed;
  reversed = plantFaults(*base, kVocabulary).front().kernels;
  kernels::KernelSet faulty = *base;
  faulty.matmulQuantized = [](const kernels::PackedMatrix& w, const kernels::QuantizedRows& x, int rows,
                              int groupBegin, int groupEnd, float* out, std::size_t outStride) {
    (rows < 4 ? *base : reversed).matmulQuantized(w, x, rows, groupBegin, groupEnd, out, outStride);
  };
  return faulty;
}

}  // namespace

class TestAgreement : public QObject {
  Q_OBJECT

  struct Engines {
    std::shared_ptr<const Model> model;
    std::unique_ptr<Decoder> plain, subject;
    std::unique_ptr<Generator> generator;  // on the subject
  };
  Engines open(const char* name, const kernels::KernelSet* subjectKernels = nullptr,
               kernels::CacheType cacheType = kernels::CacheType::kF16) {
    Engines engines;
    auto model = Model::load(path(name));
    if (!model.ok()) qFatal("%s", model.error().describe().c_str());
    engines.model = *model;
    auto plain = Decoder::create(engines.model, {.threads = 1, .cacheType = cacheType});
    auto subject =
        Decoder::create(engines.model, {.kernels = subjectKernels, .threads = 1, .cacheType = cacheType});
    if (!plain.ok() || !subject.ok()) qFatal("no decoder");
    engines.plain = std::move(*plain);
    engines.subject = std::move(*subject);
    engines.generator = std::make_unique<Generator>(*engines.subject);
    return engines;
  }
  std::string path(const char* name) const { return (dir_.path() + "/" + name + ".gguf").toStdString(); }
  static std::vector<Cell> cells(const char* drafters, const char* shapes, const char* parallel = "1") {
    auto made = agreement::cellsOf(drafters, shapes, "plain", parallel);
    if (!made.ok()) qFatal("%s", made.error().describe().c_str());
    return std::move(*made);
  }
  // The sum over random prompts.
  static CellResult runCell(Gate& gate, const Cell& cell, std::span<const std::vector<TokenId>> prompts) {
    CellResult sum;
    for (std::size_t p = 0; p < prompts.size(); ++p) {
      if (Status s = gate.usePrompt(prompts[p]); !s.ok()) qFatal("%s", s.error().describe().c_str());
      auto result = gate.run(cell);
      if (!result.ok()) qFatal("%s", result.error().describe().c_str());
      sum.add(*result, static_cast<int>(p));
    }
    return sum;
  }
  QTemporaryDir dir_;

 private slots:
  void initTestCase() {
    std::vector<const char*> names(std::begin(kModels), std::end(kModels));
    names.push_back("qwen35-nextn");
    for (const char* name : names) {
      QVERIFY(
          writeTinyModel(std::string(TANDEM_TEST_DATA) + "/tiny-models/" + name + ".json", path(name)).ok());
    }
    QVERIFY(writeQuantizedTiny(path("llama"), path("quantized")).ok());
    QVERIFY(writeQuantizedTiny(path("qwen35moe"), path("quantizedHybrid")).ok());
  }

  void everyCellWritesThePlainText_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<int>("tokens");
    QTest::addColumn<QString>("drafters");
    QTest::addColumn<QString>("shapes");
    for (const char* name : kModels) {
      QTest::addRow("%s, 64 tokens", name)
          << QString(name) << 64 << QString(kDrafters) << QString("chain7,chain15,tree15,tree31");
      QTest::addRow("%s, 192 tokens", name)
          << QString(name) << 192 << QString(kDrafters) << QString("chain15,tree31");
    }
    QTest::addRow("its own multi-token prediction")
        << QString("qwen35-nextn") << 64 << QString("mtp,mtp+wrong") << QString("chain7,tree15");
    QTest::addRow("several drafters in one tree")
        << QString("qwen35") << 64 << QString("own-text+store+half-right,oracle+random+wrong")
        << QString("tree31");
  }
  void everyCellWritesThePlainText() {
    QFETCH(QString, model);
    QFETCH(int, tokens);
    QFETCH(QString, drafters);
    QFETCH(QString, shapes);
    Engines engines = open(model.toUtf8().constData());
    Gate gate(*engines.plain, *engines.generator, {.tokens = tokens, .endAtEndTokens = false});
    const std::vector<TokenId> prompts[] = {randomPrompt(16, 1), randomPrompt(33, 2), randomPrompt(48, 3)};
    for (const Cell& cell : cells(drafters.toUtf8().constData(), shapes.toUtf8().constData())) {
      const CellResult sum = runCell(gate, cell, prompts);
      std::vector<std::string> failures = failuresOf(cell, sum);
      // Some of these models write nothing that a lookup could find, or nothing else.
      if (cell.drafter == "own-text" || cell.drafter == "store") {
        std::erase_if(failures, [](const std::string& failure) { return failure.ends_with(" nothing"); });
      }
      QVERIFY2(failures.empty(), (cell.name() + ": " + text(failures)).c_str());
      QCOMPARE(sum.tokens, std::int64_t(tokens) * 3);
      QCOMPARE(sum.acceptedRows, sum.tokens);
      if (sum.rejected > 0) QVERIFY(sum.rejectedRows > 0 && sum.rejectedRows <= sum.rejected);
    }
  }

  // A quantised cache is exact to itself, alone and among others.
  void aQuantizedCacheWritesItsOwnPlainText() {
    for (const auto type : {kernels::CacheType::kVq8, kernels::CacheType::kQ8}) {
      for (const char* model : {"llama", "gemma3", "qwen35"}) {
        Engines engines = open(model, nullptr, type);
        const auto subject =
            agreement::inCompany(*engines.subject, engines.generator->speculation(), nullptr);
        Gate gate(*engines.plain, subject, {.tokens = 64, .endAtEndTokens = false});
        const std::vector<TokenId> prompts[] = {randomPrompt(33, 2), randomPrompt(70, 4)};
        for (const char* parallel : {"1", "4"}) {
          for (const Cell& cell : cells("half-right,wrong,oracle,random", "chain7,tree31", parallel)) {
            const CellResult sum = runCell(gate, cell, prompts);
            const auto failures = failuresOf(cell, sum);
            QVERIFY2(failures.empty(), (cell.name() + ": " + text(failures)).c_str());
            QCOMPARE(sum.differingTokens, 0);
            QCOMPARE(sum.differingBits, std::uint64_t{0});
          }
        }
      }
    }
  }

  // Of the rounds that reject something about one in twenty is compared, and the first one always.
  void theShareOfRejectedRowsIsFivePercent() {
    Engines engines = open("llama");
    Gate gate(*engines.plain, *engines.generator, {.tokens = 200, .endAtEndTokens = false});
    std::vector<std::vector<TokenId>> prompts;
    for (int seed = 1; seed <= 6; ++seed)
      prompts.push_back(randomPrompt(16, seed));
    const CellResult sum = runCell(gate, cells("wrong", "chain7").front(), prompts);
    const double share = static_cast<double>(sum.rejectedRows) / static_cast<double>(sum.rejected);
    QVERIFY2(share > 0.03 && share < 0.09, std::to_string(share).c_str());
  }

  void everyPlantedKernelFaultIsCaught_data() {
    QTest::addColumn<int>("fault");
    const auto faults = plantFaults(kernels::bestKernels(), kVocabulary);
    for (std::size_t f = 0; f < faults.size(); ++f)
      QTest::addRow("rule %s, %s", faults[f].rule, faults[f].name) << int(f);
  }
  void everyPlantedKernelFaultIsCaught() {
    QFETCH(int, fault);
    const auto faults = plantFaults(kernels::bestKernels(), kVocabulary);
    // Rules 6 and 7 are those of recurrent layers and mixtures of experts.
    const std::string_view rule = faults[fault].rule;
    Engines engines =
        open(rule == "6" || rule == "7" ? "quantizedHybrid" : "quantized", &faults[fault].kernels);
    Gate gate(*engines.plain, *engines.generator, {.tokens = 24, .endAtEndTokens = false});
    const std::vector<TokenId> prompts[] = {randomPrompt(70, 1)};
    const Cell cell = cells("half-right", "chain7").front();
    const CellResult sum = runCell(gate, cell, prompts);
    QVERIFY(sum.differingBits > 0);
    qInfo("%s", text(failuresOf(cell, sum)).c_str());
  }

  // A kernel that adds in another order from four rows on: the cells that never have four pass, and those
  // that do are named.
  void anotherOrderAtFourRowsFailsItsCellsOnly() {
    const kernels::KernelSet faulty = otherOrderFromFourRows();
    Engines engines = open("quantized", &faulty);
    Gate gate(*engines.plain, *engines.generator, {.tokens = 32, .endAtEndTokens = false});
    const std::vector<TokenId> prompts[] = {{5, 9, 5}};
    for (const Cell& cell : cells("wrong,half-right", "chain1,chain2,chain3,chain7,tree15")) {
      const CellResult sum = runCell(gate, cell, prompts);
      const bool fourRows = cell.shape != "chain1" && cell.shape != "chain2";
      QVERIFY2((sum.differingBits > 0) == fourRows, cell.name().c_str());
      QVERIFY2(contains(failuresOf(cell, sum), "differing logit bits") == fourRows, cell.name().c_str());
    }
  }

  // Among the rows of three other requests.
  void everyCellWritesThePlainTextInCompany() {
    for (const char* model : {"llama", "qwen35"}) {
      Engines engines = open(model);
      const auto subject = agreement::inCompany(*engines.subject, engines.generator->speculation(), nullptr);
      Gate gate(*engines.plain, subject, {.tokens = 32, .endAtEndTokens = false});
      const std::vector<TokenId> prompts[] = {randomPrompt(16, 1), randomPrompt(70, 2)};
      for (const Cell& cell : cells("half-right,oracle,random", "chain7,tree31", "4")) {
        const CellResult sum = runCell(gate, cell, prompts);
        const auto failures = failuresOf(cell, sum);
        QVERIFY2(failures.empty(), (cell.name() + ": " + text(failures)).c_str());
        QCOMPARE(sum.acceptedRows, std::int64_t{64});
      }
    }
  }

  // The kernel that adds in another order from four rows on: a chain of one has two rows alone, and more
  // among others.
  void aFaultOfManyRowsIsCaughtInCompany() {
    const kernels::KernelSet faulty = otherOrderFromFourRows();
    Engines engines = open("quantized", &faulty);
    const std::vector<TokenId> prompts[] = {{5, 9, 5}};
    const Cell cell = cells("wrong", "chain1", "4").front();
    const GateOptions options{.tokens = 32, .endAtEndTokens = false};
    Gate alone(*engines.plain, *engines.generator, options);
    QCOMPARE(runCell(alone, cell, prompts).differingBits, std::uint64_t{0});
    Gate gate(*engines.plain,
              agreement::inCompany(*engines.subject, engines.generator->speculation(), nullptr), options);
    QVERIFY(runCell(gate, cell, prompts).differingBits > 0);
  }

  // The drafter is wrong in every guess, so only rejected rows can tell.
  void aFaultInRejectedRowsAloneIsCaught() {
    const auto faults = plantFaults(kernels::bestKernels(), kVocabulary);
    const auto later = std::find_if(faults.begin(), faults.end(), [](const Fault& fault) {
      return std::string_view(fault.name) == "other quantisation for later rows";
    });
    QVERIFY(later != faults.end());
    Engines engines = open("quantized", &later->kernels);
    Gate gate(*engines.plain, *engines.generator, {.tokens = 24, .endAtEndTokens = false});
    const std::vector<TokenId> prompts[] = {{7}};
    const Cell cell = cells("wrong", "chain7").front();
    const CellResult sum = runCell(gate, cell, prompts);
    QCOMPARE(sum.differingTokens, 0);
    QVERIFY(sum.differingBits > 0);
  }

  void aRejectedRowInTheCacheIsCaught() {
    Engines engines = open("llama");
    const std::vector<TokenId> prompts[] = {randomPrompt(20, 4)};
    const Cell cell = cells("oracle", "tree2").front();
    const GateOptions options{.tokens = 41, .endAtEndTokens = false};
    Gate exact(*engines.plain, swappedCommit(*engines.subject, false), options);
    const CellResult right = runCell(exact, cell, prompts);
    QVERIFY2(failuresOf(cell, right).empty(), text(failuresOf(cell, right)).c_str());
    Gate gate(*engines.plain, swappedCommit(*engines.subject, true), options);
    const CellResult wrong = runCell(gate, cell, prompts);
    QVERIFY(contains(failuresOf(cell, wrong), "differing logit bits"));
  }

  void aTextThatDiffersIsReported() {
    Engines engines = open("llama");
    // Answers with the plain tokens, but for the eleventh, and stops after the thirtieth.
    const agreement::Subject liar = [](const Cell&, const Generation& request,
                                       const GenerationCallbacks& callbacks,
                                       const std::shared_ptr<TextStore>&) {
      GenerationOutcome outcome;
      outcome.tokens = request.speculation.reference;
      outcome.tokens.resize(30);
      outcome.tokens[10] ^= 1;
      std::vector<float> row(kVocabulary);
      for (const TokenId token : outcome.tokens)
        callbacks.chosen(token, row);
      return outcome;
    };
    Gate gate(*engines.plain, liar, {.tokens = 40, .endAtEndTokens = false});
    const std::vector<TokenId> prompts[] = {randomPrompt(20, 4)};
    const Cell cell = cells("oracle", "chain7").front();
    const CellResult sum = runCell(gate, cell, prompts);
    QCOMPARE(sum.differingTokens, 11);
    QCOMPARE(sum.differingPrompts, 1);
    QCOMPARE(sum.acceptedRows, 11);  // behind the difference nothing is compared
    QVERIFY(sum.first.has_value());
    QCOMPARE(sum.first->token, 10);
    QCOMPARE(sum.first->gapUlps, agreement::topTwoGapUlps(gate.plain().logits[10]));
    QVERIFY(contains(failuresOf(cell, sum), "11 differing tokens"));
  }

  void aDifferenceBehindTheEndIsSaidSo() {
    Engines engines = open("llama");
    const std::vector<TokenId> prompt = randomPrompt(20, 4);
    const auto plain = agreement::decodePlain(*engines.plain, prompt, 40, false);
    QVERIFY(plain.ok());
    auto copy = ModelCopy::of(path("llama"));
    QVERIFY(copy.ok());
    copy->setValue("tokenizer.ggml.eos_token_id", gguf::encode(static_cast<std::uint32_t>(plain->tokens[5])));
    QVERIFY(copy->write(path("ends")).ok());
    Engines ending = open("ends");
    for (const int place : {2, 20}) {
      const agreement::Subject liar = [place](const Cell&, const Generation& request,
                                              const GenerationCallbacks&, const std::shared_ptr<TextStore>&) {
        GenerationOutcome outcome;
        outcome.tokens = request.speculation.reference;
        outcome.tokens[place] ^= 1;
        return outcome;
      };
      Gate gate(*ending.plain, liar, {.tokens = 40, .endAtEndTokens = false});
      QVERIFY(gate.usePrompt(prompt).ok());
      const auto result = gate.run(cells("oracle", "chain7").front());
      QVERIFY(result.ok());
      QCOMPARE(result->differingTokens, 1);
      QCOMPARE(result->first->token, place);
      QCOMPARE(result->first->afterEnd, place == 20);
    }
    Gate toTheEnd(*ending.plain, *ending.generator, {.tokens = 40});
    QVERIFY(toTheEnd.usePrompt(prompt).ok());
    QVERIFY(toTheEnd.plain().tokens.size() <= 6);
  }

  void nothingPassesByDoingNothing() {
    const auto failuresFor = [](const char* drafter, const char* shape, CellResult result) {
      result.prompts = 1;
      result.acceptedRows = 64;
      return failuresOf(cells(drafter, shape).front(), result);
    };
    for (const char* drafter : {"own-text", "store", "half-right"}) {
      const auto failures = failuresFor(drafter, "chain7", {});
      QVERIFY(contains(failures, "drafted nothing") && contains(failures, "accepted nothing"));
      QVERIFY(contains(failures, "rejected nothing"));
    }
    QVERIFY(contains(failuresFor("wrong", "chain7", {.drafted = 5, .accepted = 5}), "rejected nothing"));
    QVERIFY(contains(failuresFor("random", "tree15", {}), "drafted nothing"));
    QVERIFY(contains(failuresFor("oracle", "tree15", {.drafted = 5, .accepted = 5}), "rejected nothing"));
    QVERIFY(
        contains(failuresFor("wrong", "chain7", {.drafted = 5, .rejected = 5}), "compared no rejected row"));
    QVERIFY(failuresFor("oracle", "chain7", {.drafted = 5, .accepted = 5}).empty());
    QVERIFY(failuresFor("auto", "auto", {}).empty());
    QVERIFY(contains(failuresOf(cells("off", "auto").front(), {.prompts = 1}), "compared no row"));
  }

  void gapsAreCountedInBf16Ulps() {
    using agreement::topTwoGapUlps;
    QCOMPARE(topTwoGapUlps(std::vector<float>{1.0f, 1.0f - 1.0f / 128, 0}), 1.0);
    QCOMPARE(topTwoGapUlps(std::vector<float>{-4, 3, 2}), 64.0);
    QCOMPARE(topTwoGapUlps(std::vector<float>{8, 8, 1}), 0.0);
    QCOMPARE(topTwoGapUlps(std::vector<float>{-2.5f, -2.5f - 1.0f / 64}), 1.0);
  }

  void cellsAreReadAndRefused() {
    const auto made = cells("own-text,wrong+own-text", "chain7,tree31");
    QCOMPARE(made.size(), std::size_t(4));
    QCOMPARE(made[2].name(), std::string("wrong+own-text chain7"));
    QCOMPARE(made[2].speculation.drafters.size(), std::size_t(2));
    QVERIFY(made[3].speculation.shape.kind == DraftShape::Kind::kTree);
    QCOMPARE(made[3].speculation.shape.nodes, 31);
    for (const char* bad : {"", "own-text,", "nobody"})
      QVERIFY(!agreement::cellsOf(bad, "chain7").ok());
    for (const char* bad : {"", "chain0", "tree32", "chain7,,tree7"})
      QVERIFY(!agreement::cellsOf("wrong", bad).ok());
  }

  void whatCannotBeDecodedIsAnError() {
    Engines engines = open("llama");
    Gate gate(*engines.plain, *engines.generator, {.tokens = 64});
    QVERIFY(gate.usePrompt({}).error().code == ErrorCode::kInvalidArgument);
    QVERIFY(gate.usePrompt({kVocabulary}).error().code == ErrorCode::kInvalidArgument);
    const auto longPrompt = std::vector<TokenId>(engines.model->config().contextLength - 10, 1);
    QVERIFY(gate.usePrompt(longPrompt).error().code == ErrorCode::kContextLengthExceeded);
    std::atomic<bool> cancel{true};
    Gate stopped(*engines.plain, *engines.generator, {.cancel = &cancel});
    QVERIFY(stopped.usePrompt({1, 2}).error().code == ErrorCode::kCancelled);
  }

 private:
  static constexpr const char* kDrafters = "own-text,store,half-right,wrong,oracle,random";
};

QTEST_APPLESS_MAIN(TestAgreement)
#include "test_agreement.moc"
