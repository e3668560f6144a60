// The multi-token-prediction block: it changes no bit of the model's own logits, and what it predicts depends
// on the tokens alone, however they were read.
#include <QTemporaryDir>
#include <QtTest>

#include "engine/model/decoder.h"
#include "tests/gguf/tiny_models.h"

using namespace tandem;
using namespace tandem::test;

namespace {

using Logits = std::vector<float>;

Logits copyOf(std::span<const float> logits) {
  return {logits.begin(), logits.end()};
}

}  // namespace

class TestNextn : public QObject {
  Q_OBJECT

  std::unique_ptr<Decoder> open(const char* name) {
    const std::string path = (dir_.path() + "/model.gguf").toStdString();
    const Status written =
        writeTinyModel(std::string(TANDEM_TEST_DATA) + "/tiny-models/" + name + ".json", path);
    auto model = Model::load(path);
    if (!written.ok() || !model.ok()) qFatal("the tiny model can't be made");
    auto decoder = Decoder::create(*model, {.threads = 2});
    return std::move(decoder).value();
  }

  // The tokens read `chunk` at a time.
  Sequence read(Decoder& decoder, std::span<const TokenId> tokens, int chunk) {
    Sequence sequence = decoder.newSequence();
    for (std::size_t done = 0; done < tokens.size(); done += chunk) {
      const auto part = tokens.subspan(done, std::min<std::size_t>(chunk, tokens.size() - done));
      if (!decoder.forward(sequence, Batch::chain(part, sequence.length()), {}).ok()) qFatal("forward");
      if (!decoder.commit(sequence, firstRows(static_cast<int>(part.size()))).ok()) qFatal("commit");
    }
    return sequence;
  }

  // Logits of three predictions in a row, each from the best token of the one before.
  std::vector<Logits> predict(Decoder& decoder, const Sequence& sequence, TokenId token) {
    std::vector<Logits> predictions;
    Sequence ahead = sequence.fork();
    for (int i = 0; i < 3; ++i) {
      if (!decoder.forwardNextn(ahead, token).ok() || !decoder.commitNextn(ahead).ok()) qFatal("nextn");
      predictions.push_back(copyOf(decoder.logits(0)));
      const auto& last = predictions.back();
      token = static_cast<TokenId>(std::max_element(last.begin(), last.end()) - last.begin());
    }
    return predictions;
  }

  QTemporaryDir dir_;
  std::vector<TokenId> text_;

 private slots:
  void initTestCase() {
    for (int i = 0; i < 70; ++i)
      text_.push_back((i * 37 + i * i) % 128);
  }

  void theModelsLogitsAreTheSame() {
    const auto all = firstRows(70);
    std::vector<Logits> logits[2];
    for (const auto& [name, at] : {std::pair("qwen35", 0), std::pair("qwen35-nextn", 1)}) {
      auto decoder = open(name);
      QCOMPARE(bool(decoder->model().weights().nextn), at == 1);
      QVERIFY(decoder->forward(decoder->newSequence(), Batch::chain(text_, 0), all).ok());
      for (int i = 0; i < 70; ++i)
        logits[at].push_back(copyOf(decoder->logits(i)));
    }
    QVERIFY(logits[0] == logits[1]);
  }

  void predictionsDependOnTheTokensAlone() {
    auto decoder = open("qwen35-nextn");
    const Sequence whole = read(*decoder, text_, 70);
    const auto expected = predict(*decoder, whole, 5);
    QVERIFY(expected[0] != expected[1]);
    for (const int chunk : {1, 7, 33}) {
      const Sequence chunked = read(*decoder, text_, chunk);
      QVERIFY(chunked.sameBytes(whole));
      QVERIFY(predict(*decoder, chunked, 5) == expected);
    }
    // The last rows come out of a tree of which another branch was wrong.
    Sequence sequence = read(*decoder, std::span(text_).first(67), 67);
    Batch tree;
    tree.add(text_[67], -1, 67);
    tree.add(99, 0, 67);
    tree.add(98, 1, 67);
    tree.add(text_[68], 0, 67);
    tree.add(text_[69], 3, 67);
    QVERIFY(decoder->forward(sequence, tree, {}).ok());
    QVERIFY(decoder->commit(sequence, std::vector<int>{0, 3, 4}).ok());
    QVERIFY(sequence.sameBytes(whole));
    QVERIFY(predict(*decoder, sequence, 5) == expected);
    // Predicting leaves nothing in the sequence.
    QVERIFY(sequence.sameBytes(whole));
  }
};

QTEST_APPLESS_MAIN(TestNextn)
#include "test_nextn.moc"
