// A draft model: cut from the target, it drafts and the text stays the plain one; one of another vocabulary
// is refused with the reason.
#include <QTemporaryDir>
#include <QtTest>

#include "engine/gguf/encoded_value.h"
#include "engine/session/generator.h"
#include "engine/speculation/drafters/draft_model.h"
#include "engine/speculation/vocabulary_match.h"
#include "tests/gguf/model_copy.h"
#include "tests/gguf/tiny_models.h"
#include "tests/service/text_model.h"
#include "tests/speculation/layer_skipping.h"

using namespace tandem;
using namespace tandem::test;

namespace {

DraftBudget budgetOf(int nodes, bool tree) {
  return {.nodes = nodes, .depth = nodes, .tree = tree};
}

}  // namespace

class TestDraftModel : public QObject {
  Q_OBJECT

  QTemporaryDir dir_;
  std::shared_ptr<const Model> target_;
  std::string path(const char* name) const { return (dir_.path() + "/" + name + ".gguf").toStdString(); }
  std::unique_ptr<DraftModel> draft(const char* name) {
    auto loaded = DraftModel::load(path(name), *target_, {.threads = 1});
    if (!loaded.ok()) qFatal("%s", loaded.error().describe().c_str());
    return std::move(*loaded);
  }

 private slots:
  void initTestCase() {
    QVERIFY(writeTextModel(std::string(TANDEM_TEST_DATA) + "/tiny-models/llama.json", path("target")).ok());
    QVERIFY(skipLayers(path("target"), {0, 2}, path("cut")).ok());
    QVERIFY(!skipLayers(path("target"), {0, 9}, path("none")).ok());
    target_ = *Model::load(path("target"));
  }

  void aCutModelDraftsAndTheTextStays() {
    auto decoder = Decoder::create(target_, {.threads = 1});
    QVERIFY(decoder.ok());
    Generator generator(**decoder);
    generator.speculation().draftModel = draft("cut");
    QCOMPARE(generator.speculation().draftModel->model().config().layers, 2);
    Generation r;
    for (int i = 0; i < 20; ++i)
      r.prompt.push_back(50 + i % 9);
    r.maxTokens = 80;
    r.endAtEndTokens = false;
    r.speculation = SpeculationOptions::off();
    const auto plain = generator.run(r, {});
    const Sequence cache = generator.sequence();
    for (const DraftShape& shape :
         {DraftShape{DraftShape::Kind::kChain, 7}, {DraftShape::Kind::kTree, 15}, {}}) {
      r.speculation = SpeculationOptions::of({TokenOrigin::kDraftModel}, shape);
      const auto outcome = generator.run(r, {});
      QCOMPARE(outcome.tokens, plain.tokens);
      QCOMPARE(outcome.stats.logitsFingerprint, plain.stats.logitsFingerprint);
      QVERIFY(generator.sequence().sameBytes(cache));
      if (shape.kind != DraftShape::Kind::kAuto) QVERIFY(outcome.stats.drafted > 0);
      qInfo("drafted %d, accepted %d", outcome.stats.drafted, outcome.stats.accepted);
    }
  }

  // What it has read along the accepted path is not read again, and gives the same guesses as a fresh one.
  void catchingUpGivesTheGuessesOfAFreshOne() {
    const auto model = draft("cut");
    const auto other = draft("cut");
    Calibration calibration(DraftModelDrafter::priors()), second(DraftModelDrafter::priors());
    DraftModelDrafter drafter(*model, calibration);
    std::vector<TokenId> text = {50, 60, 70, 80, 90};
    drafter.append(text);
    for (int round = 0; round < 30; ++round) {
      const bool tree = round % 2 == 1;
      const Draft draft = drafter.propose(budgetOf(6, tree));
      QVERIFY(wellFormed(draft) && !draft.empty() && draft.size() <= 6);
      DraftModelDrafter fresh(*other, second);
      fresh.append(text);
      const Draft expected = fresh.propose(budgetOf(6, tree));
      QCOMPARE(draft.size(), expected.size());
      for (int i = 0; i < draft.size(); ++i)
        QVERIFY(draft.nodes[i].token == expected.nodes[i].token &&
                draft.nodes[i].parent == expected.nodes[i].parent);
      // The target takes the first few, then says something else; every third round the drafter is not asked.
      std::vector<TokenId> next;
      for (int node = -1; static_cast<int>(next.size()) < round % 4;) {
        int chosen = -1;
        for (int i = node + 1; i < draft.size(); ++i)
          if (draft.nodes[i].parent == node) chosen = i;
        if (chosen < 0) break;
        next.push_back(draft.nodes[chosen].token);
        node = chosen;
      }
      next.push_back(30 + round);
      if (round % 3 == 0) next.push_back(31);
      drafter.append(next);
      text.insert(text.end(), next.begin(), next.end());
    }
  }

  // Past its own context a draft model falls silent; the text goes on.
  void aFullDraftContextIsSilent() {
    auto copy = ModelCopy::of(path("cut"));
    QVERIFY(copy.ok());
    copy->setValue("llama.context_length", gguf::encode(std::uint32_t{32}));
    QVERIFY(copy->write(path("short")).ok());
    const auto model = draft("short");
    Calibration calibration(DraftModelDrafter::priors());
    DraftModelDrafter drafter(*model, calibration);
    drafter.append(std::vector<TokenId>(30, 50));
    QVERIFY(!drafter.propose(budgetOf(8, false)).empty());
    drafter.append(std::vector<TokenId>(10, 51));
    QVERIFY(drafter.propose(budgetOf(8, false)).empty());
  }

  void anotherVocabularyIsRefused() {
    const auto refused = [this](const std::string& file, const char* words) {
      const auto loaded = DraftModel::load(file, *target_, {.threads = 1});
      return !loaded.ok() && loaded.error().code == ErrorCode::kUnsupported &&
             loaded.error().message.find(words) != std::string::npos;
    };
    auto copy = ModelCopy::of(path("target"));
    QVERIFY(copy.ok());
    copy->setValue("tokenizer.ggml.eos_token_id", gguf::encode(std::uint32_t{77}));
    QVERIFY(copy->write(path("end")).ok());
    QVERIFY(refused(path("end"), "ends a text"));
    QVERIFY(writeTinyModel(std::string(TANDEM_TEST_DATA) + "/tiny-models/llama.json", path("spelled")).ok());
    QVERIFY(refused(path("spelled"), "vocabulary is another one"));
    QVERIFY(DraftModel::load(path("nowhere"), *target_, {}).error().code == ErrorCode::kNotFound);
    QVERIFY(vocabularyFingerprint(target_->tokenizer().vocabulary()) !=
            vocabularyFingerprint((*Model::load(path("spelled")))->tokenizer().vocabulary()));
  }
};

QTEST_APPLESS_MAIN(TestDraftModel)
#include "test_draft_model.moc"
