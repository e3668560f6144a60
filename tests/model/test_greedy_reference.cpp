// The real models against the recorded greedy texts of the peer, and speculation against plain decoding over
// the same prompts.
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

#include "engine/sampler/sampler.h"
#include "engine/session/generator.h"

using namespace tandem;

namespace {

struct Case {
  std::vector<TokenId> prompt, greedy;
  std::vector<double> gaps;
};

std::vector<TokenId> ids(const QJsonValue& value) {
  std::vector<TokenId> out;
  for (const auto& id : value.toArray())
    out.push_back(id.toInt());
  return out;
}

std::vector<Case> readCases(const QString& file) {
  std::vector<Case> cases;
  std::ifstream in((QStringLiteral(TANDEM_TEST_DATA "/greedy/") + file).toStdString());
  for (std::string line; std::getline(in, line);) {
    const auto object = QJsonDocument::fromJson(QByteArray::fromStdString(line)).object();
    Case c{ids(object["prompt_ids"]), ids(object["greedy_ids"]), {}};
    for (const auto& gap : object["top2_gap"].toArray())
      c.gaps.push_back(gap.toDouble());
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace

class TestGreedyReference : public QObject {
  Q_OBJECT

  std::shared_ptr<const Model> model_;
  std::unique_ptr<Decoder> decoder_;
  QString loaded_;

  void load(const QString& file) {
    if (loaded_ == file) return;
    decoder_.reset();
    auto model = Model::load((qEnvironmentVariable("TANDEM_MODELS") + "/" + file).toStdString());
    QVERIFY2(model.ok(), model.ok() ? "" : model.error().describe().c_str());
    model_ = *model;
    auto decoder = Decoder::create(model_, {});
    QVERIFY(decoder.ok());
    decoder_ = std::move(*decoder);
    loaded_ = file;
  }

  void rows() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("cases");
    QTest::newRow("SmolLM2") << "SmolLM2-135M-Instruct.Q4_1.gguf"
                             << "greedy_smollm2_public.jsonl";
    QTest::newRow("Gemma 3") << "gemma-3-270m-Q4_K_M.gguf"
                             << "greedy_gemma3_public.jsonl";
  }

 private slots:
  void bestTokensAgreeWithThePeer_data() { rows(); }
  void bestTokensAgreeWithThePeer() {
    QFETCH(QString, model);
    QFETCH(QString, cases);
    load(model);
    int positions = 0, agreed = 0;
    double worstGap = 0;
    std::vector<double> differences;
    const auto all = readCases(cases);
    QCOMPARE(int(all.size()), 12);
    for (const Case& c : all) {
      std::vector<TokenId> text = c.prompt;
      text.insert(text.end(), c.greedy.begin(), c.greedy.end() - 1);
      Sequence sequence = decoder_->newSequence();
      // Positions that predict a recorded token: from the prompt's last on.
      for (int done = 0; done < int(text.size());) {
        const int count = std::min<int>(64, int(text.size()) - done);
        std::vector<int> rows(count);
        std::iota(rows.begin(), rows.end(), 0);
        QVERIFY(
            decoder_->forward(sequence, Batch::chain(std::span(text).subspan(done, count), done), rows).ok());
        QVERIFY(decoder_->commit(sequence, rows).ok());
        for (int i = 0; i < count; ++i) {
          const int step = done + i - int(c.prompt.size()) + 1;
          if (step < 0) continue;
          const auto logits = decoder_->logits(i);
          const TokenId best = argmax(logits);
          float second = -INFINITY;
          for (int t = 0; t < int(logits.size()); ++t) {
            if (t != best) second = std::max(second, logits[t]);
          }
          ++positions;
          if (best == c.greedy[step]) {
            ++agreed;
          } else {
            worstGap = std::max(worstGap, c.gaps[step]);
          }
          differences.push_back(std::fabs(double(logits[best]) - second - c.gaps[step]));
        }
        done += count;
      }
    }
    std::nth_element(differences.begin(), differences.begin() + differences.size() / 2, differences.end());
    const double median = differences[differences.size() / 2];
    qInfo(
        "%d of %d positions agree (%.2f %%); largest recorded gap where not: %.3f; median gap difference "
        "%.3f",
        agreed, positions, 100.0 * agreed / positions, worstGap, median);
    QVERIFY(positions > 900);
    QVERIFY(agreed >= 0.975 * positions);
    QVERIFY(worstGap <= 1.0);
    QVERIFY(median <= 0.15);
  }

  void speculationWritesThePlainText_data() { rows(); }
  void speculationWritesThePlainText() {
    QFETCH(QString, model);
    QFETCH(QString, cases);
    load(model);
    Generator generator(*decoder_);
    int drafted = 0, accepted = 0, rejected = 0;
    for (const Case& c : readCases(cases)) {
      GenerationOutcome plain;
      for (const TokenOrigin drafter : {TokenOrigin::kPlain, TokenOrigin::kOwnText, TokenOrigin::kWrong}) {
        Generation request;
        request.prompt = c.prompt;
        request.maxTokens = 96;
        request.speculation =
            drafter == TokenOrigin::kPlain
                ? SpeculationOptions::off()
                : SpeculationOptions::chain(drafter, drafter == TokenOrigin::kWrong ? 3 : 7);
        const GenerationOutcome outcome = generator.run(request, {});
        QVERIFY2(outcome.status.ok(), outcome.status.ok() ? "" : outcome.status.error().describe().c_str());
        if (drafter == TokenOrigin::kPlain) plain = outcome;
        QCOMPARE(outcome.tokens, plain.tokens);
        QCOMPARE(outcome.stats.logitsFingerprint, plain.stats.logitsFingerprint);
        drafted += outcome.stats.drafted;
        accepted += outcome.stats.accepted;
        rejected += outcome.stats.rejected();
      }
    }
    qInfo("drafted %d, accepted %d, rejected %d", drafted, accepted, rejected);
    QVERIFY(drafted >= 200);
    QVERIFY(accepted >= 50);
    QVERIFY(rejected >= 50);
  }
};

QTEST_APPLESS_MAIN(TestGreedyReference)
#include "test_greedy_reference.moc"
