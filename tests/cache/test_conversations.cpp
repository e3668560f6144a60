// Eight conversations with SmolLM2 under a budget that holds not quite three of them: what goes is what was
// used longest ago, and a next turn costs what its own tokens do. TANDEM_CONVERSATION_TOKENS asks for longer
// ones than those of every day: 4,000 tokens each take 256 MiB.
#include <QFileInfo>
#include <QtTest>
#include <algorithm>
#include <chrono>

#include "engine/verify/token_stream.h"
#include "tests/cache/histories.h"

using namespace tandem;
using namespace tandem::test;

namespace {

constexpr int kConversations = 8;
constexpr double kMostOfResident = 1.15;  // a next turn's first token, of that of a sequence at hand
constexpr double kSlackMs = 2;

double msSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

class TestConversations : public QObject {
  Q_OBJECT

  Engine engine_;
  int tokens_ = 480;
  std::size_t budget_ = 0;

  std::vector<TokenId> textOf(int conversation) const {
    TokenStream random(engine_.decoder->model().config().vocabulary,
                       static_cast<std::uint64_t>(conversation) + 1);
    std::vector<TokenId> text(static_cast<std::size_t>(tokens_));
    std::ranges::generate(text, [&] { return random.next(); });
    return text;
  }
  Generation turnOf(int conversation, int added) const {
    std::vector<TokenId> text = textOf(conversation);
    for (int i = 0; i < added; ++i)
      text.push_back(100 + i);
    return plainRequest(std::move(text), 1, tokens_ + 200);
  }
  void ask(const Generation& request, PrefixCache& cache) {
    Generation one = request;
    one.cache = &cache;
    const GenerationOutcome outcome = engine_.generator->run(one, {});
    QVERIFY(outcome.status.ok());
    QVERIFY(cache.bytes() <= budget_);
  }
  // Tokens that are known of each conversation.
  std::vector<int> known(const PrefixCache& cache) const {
    std::vector<int> lengths(kConversations, 0);
    for (const CacheEntry& entry : cache.entries()) {
      for (int i = 0; i < kConversations; ++i) {
        const std::vector<TokenId> text = textOf(i);
        const std::size_t same = std::min(entry.first.size(), text.size());
        if (std::equal(entry.first.begin(), entry.first.begin() + same, text.begin()))
          lengths[i] = std::max(lengths[i], entry.tokens);
      }
    }
    return lengths;
  }

 private slots:
  void initTestCase() {
    const QString path = qEnvironmentVariable("TANDEM_MODELS") + "/SmolLM2-135M-Instruct.Q4_1.gguf";
    QVERIFY2(QFileInfo::exists(path),
             "SmolLM2 is not in the folder that TANDEM_MODELS names; ./test fetches it");
    engine_ = openEngine(path.toStdString(), 2);
    if (const int asked = qEnvironmentVariableIntValue("TANDEM_CONVERSATION_TOKENS")) tokens_ = asked;
    budget_ = (std::size_t{256} << 20) / 4000 * static_cast<std::size_t>(tokens_);
  }

  void theLeastRecentlyUsedGoes() {
    PrefixCache cache(engine_.decoder->newSequence(), {.budget = budget_});
    for (int i = 0; i < kConversations; ++i)
      ask(turnOf(i, 0), cache);
    // The last two whole, the beginning of the one before, nothing of the others.
    std::vector<int> lengths = known(cache);
    for (int i = 0; i < 5; ++i)
      QCOMPARE(lengths[i], 0);
    QVERIFY2(lengths[5] >= tokens_ / 2 && lengths[5] < tokens_, qPrintable(QString::number(lengths[5])));
    QVERIFY(lengths[6] >= tokens_ && lengths[7] >= tokens_);
    qInfo("%d tokens each, %zu MiB: of the last three %d, %d and %d are known", tokens_, budget_ >> 20,
          lengths[5], lengths[6], lengths[7]);
    // The sixth is gone on with, so the seventh makes room.
    ask(turnOf(5, 8), cache);
    lengths = known(cache);
    QVERIFY(lengths[5] >= tokens_ + 8 && lengths[7] >= tokens_);
    QVERIFY(lengths[6] >= tokens_ / 2 && lengths[6] < tokens_);
    // What is left has the bits of a cold read.
    for (const int conversation : {5, 6, 7}) {
      GenerationStats stats;
      QVERIFY(sameAsCold(engine_, turnOf(conversation, 9), cache, &stats));
      QVERIFY(stats.cachedTokens >= tokens_ / 2);
    }
  }

  // The machine may be busy with other work: the best of some tries counts.
  void aNextTurnCostsItsTokens() {
    PrefixCache cache(engine_.decoder->newSequence(), {.budget = budget_});
    constexpr int kAdded = 24, kTries = 15;
    ask(turnOf(0, 0), cache);
    const CacheHit hit = cache.find(textOf(0));
    QVERIFY(hit.sequence.length() >= tokens_ - 1);
    double turn = 1e9, resident = 1e9;
    for (int i = 0; i < kTries; ++i) {
      Generation request = turnOf(0, kAdded);
      request.prompt[static_cast<std::size_t>(tokens_) + 1] = 1000 + i;  // another question each time
      request.cache = &cache;
      auto start = std::chrono::steady_clock::now();
      double first = 0;
      const auto outcome = engine_.generator->run(
          request, {.chosen = [&](TokenId, std::span<const float>) { first = msSince(start); }});
      QVERIFY(outcome.status.ok() && outcome.stats.cachedTokens >= tokens_ - 1);
      turn = std::min(turn, first);

      Sequence sequence = hit.sequence.fork();
      const auto own = std::span(request.prompt).subspan(static_cast<std::size_t>(sequence.length()));
      start = std::chrono::steady_clock::now();
      const std::vector<int> last = {static_cast<int>(own.size()) - 1};
      QVERIFY(engine_.decoder->forward(sequence, Batch::chain(own, sequence.length()), last, nullptr).ok());
      resident = std::min(resident, msSince(start));
    }
    qInfo("%d tokens after %d: %.2f ms by the cache, %.2f ms on a sequence at hand: %.3f", kAdded, tokens_,
          turn, resident, turn / resident);
    QVERIFY(turn <= kMostOfResident * resident + kSlackMs);
  }
};

QTEST_APPLESS_MAIN(TestConversations)
#include "test_conversations.moc"
