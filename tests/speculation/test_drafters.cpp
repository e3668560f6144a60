// What the drafters propose, and what they learn.
#include <QElapsedTimer>
#include <QtTest>
#include <random>
#include <set>

#include "engine/speculation/continuation.h"
#include "engine/speculation/drafters/on_purpose.h"
#include "engine/speculation/drafters/own_text.h"
#include "engine/speculation/drafters/store.h"

using namespace tandem;

namespace {

// Speed is asked of what is shipped; a build with a sanitizer is allowed a multiple.
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr double kSlower = 1;
#else
constexpr double kSlower = 20;
#endif

using Ids = std::vector<TokenId>;

std::vector<TokenId> tokensOf(const Draft& draft) {
  std::vector<TokenId> tokens;
  for (const DraftNode& node : draft.nodes)
    tokens.push_back(node.token);
  return tokens;
}

DraftBudget chainOf(int nodes) {
  return {.nodes = nodes, .depth = nodes};
}
DraftBudget treeOf(int nodes) {
  return {.nodes = nodes, .depth = nodes, .tree = true};
}

// An own-text drafter with the counts it learns in.
struct OwnText {
  Calibration calibration{lookupPriors()};
  OwnTextDrafter drafter{calibration};
};

bool isChain(const Draft& draft) {
  for (int i = 0; i < draft.size(); ++i)
    if (draft.nodes[i].parent != i - 1) return false;
  return true;
}

SpeculationOptions withReference(Ids reference) {
  SpeculationOptions options;
  options.reference = std::move(reference);
  options.seed = 11;
  return options;
}

}  // namespace

class TestDrafters : public QObject {
  Q_OBJECT

 private slots:
  void ownTextContinuesTheLongestMatch() {
    OwnText own;
    own.drafter.append(Ids{1, 2, 3, 4, 5, 9, 2, 3, 7, 8, 1, 2, 3});
    // "1 2 3" is longer than the more recent "2 3".
    QCOMPARE(tokensOf(own.drafter.propose(chainOf(3))), (Ids{4, 5, 9}));
    QCOMPARE(tokensOf(own.drafter.propose(chainOf(1))), (Ids{4}));
    own.drafter.append(Ids{9});
    QVERIFY(own.drafter.propose(chainOf(4)).empty());  // "3 9" never came before
    own.drafter.append(Ids{2, 3});
    QCOMPARE(tokensOf(own.drafter.propose(chainOf(2))), (Ids{7, 8}));  // "9 2 3"
  }

  void ownTextTakesTheLatestOccurrence() {
    OwnText own;
    own.drafter.append(Ids{1, 2, 30, 1, 2, 40, 1, 2});
    QCOMPARE(tokensOf(own.drafter.propose(chainOf(1))), (Ids{40}));
  }

  void ownTextContinuesACycle() {
    OwnText own, same;
    own.drafter.append(Ids{7, 8, 9, 7, 8, 9, 7});
    QCOMPARE(tokensOf(own.drafter.propose(chainOf(8))), (Ids{8, 9, 7, 8, 9, 7, 8, 9}));
    same.drafter.append(Ids{4, 4, 4});
    QCOMPARE(tokensOf(same.drafter.propose(chainOf(5))), (Ids{4, 4, 4, 4, 4}));
  }

  void ownTextIsSilentWithoutAMatch() {
    OwnText own;
    QVERIFY(own.drafter.propose(treeOf(7)).empty());
    own.drafter.append(Ids{1});
    QVERIFY(own.drafter.propose(treeOf(7)).empty());
    own.drafter.append(Ids{2, 3, 4});
    QVERIFY(own.drafter.propose(treeOf(7)).empty());
  }

  // Several continuations of one suffix: a branch each.
  void ownTextBranches() {
    OwnText own;
    own.drafter.append(Ids{1, 2, 30, 31, 0, 1, 2, 40, 41, 0, 1, 2, 40, 50, 0, 1, 2});
    const Draft draft = own.drafter.propose(treeOf(31));
    QVERIFY(wellFormed(draft));
    const int fresh = childWith(draft, -1, 40), old = childWith(draft, -1, 30);
    QVERIFY(fresh >= 0 && old >= 0 && fresh < old);
    QVERIFY(draft.nodes[fresh].probability > draft.nodes[old].probability);
    QVERIFY(childWith(draft, fresh, 50) >= 0 && childWith(draft, fresh, 41) >= 0);
    QVERIFY(childWith(draft, old, 31) >= 0);
  }

  // A longer match is believed more, and the deeper node of a chain is what a longer match would be.
  void probabilitiesGrowWithTheMatch() {
    OwnText own;
    own.drafter.append(Ids{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 90, 1, 2});
    const Draft draft = own.drafter.propose(chainOf(8));
    QVERIFY(draft.size() == 8);
    for (int i = 1; i < draft.size(); ++i)
      QVERIFY(draft.nodes[i].probability >= draft.nodes[i - 1].probability);
  }

  // Matches of two tokens that are always followed by something else are soon not believed any more.
  void ownTextLearnsWhatAMatchIsWorth() {
    OwnText own;
    std::mt19937 random(3);
    float first = 0, last = 1;
    for (int i = 0; i < 400; ++i) {
      own.drafter.append(Ids{1, 2});
      const Draft draft = own.drafter.propose(chainOf(1));
      if (!draft.empty()) (first == 0 ? first : last) = draft.nodes[0].probability;
      const Ids next = {100 + int(random() % 100000)};
      own.drafter.observe(next);
      own.drafter.append(next);
    }
    QVERIFY(first > 0.1f);
    QVERIFY(last < 0.05f);
  }

  // Token by token or at once: the index is the same.
  void ownTextGrowsTokenByToken() {
    Ids text;
    for (int i = 0; i < 400; ++i)
      text.push_back((i * i * 7 + i / 9) % 11);
    OwnText whole, single;
    whole.drafter.append(text);
    for (const TokenId token : text)
      single.drafter.append(Ids{token});
    const Draft draft = whole.drafter.propose(treeOf(31));
    QVERIFY(draft.nodes == single.drafter.propose(treeOf(31)).nodes);
    QVERIFY(draft.size() >= 8);
  }

  // At 8,192 tokens a lookup takes under 0.2 ms (the best of several, as others may use the machine), also
  // where every place matches; appending is linear.
  void lookupIsQuick_data() {
    QTest::addColumn<int>("kinds");
    QTest::newRow("one token") << 1;
    QTest::newRow("two tokens") << 2;
    QTest::newRow("words") << 700;
  }
  void lookupIsQuick() {
    QFETCH(int, kinds);
    std::mt19937 random(5);
    Ids text;
    for (int i = 0; i < 8192; ++i)
      text.push_back(static_cast<TokenId>(random() % kinds));
    OwnText own;
    QElapsedTimer timer;
    timer.start();
    own.drafter.append(text);
    const double appendMs = timer.nsecsElapsed() / 1e6;
    double best = 1e9;
    for (int i = 0; i < 50; ++i) {
      timer.restart();
      const Draft draft = own.drafter.propose(treeOf(31));
      best = std::min(best, timer.nsecsElapsed() / 1e6);
      own.drafter.append(Ids{static_cast<TokenId>(random() % kinds)});
    }
    qInfo("append of 8192 tokens %.2f ms, lookup %.4f ms", appendMs, best);
    QVERIFY(best < 0.2 * kSlower);
    QVERIFY(appendMs < 500 * kSlower);
  }

  void storeFindsEarlierTextsAtOnce() {
    MemoryTextStore store;
    Calibration calibration(lookupPriors());
    StoreDrafter drafter(store, calibration);
    drafter.append(Ids{50, 1, 2, 3});
    QVERIFY(drafter.propose(chainOf(4)).empty());
    store.add(Ids{9, 1, 2, 3, 4, 5, 6});
    QCOMPARE(tokensOf(drafter.propose(chainOf(4))), (Ids{4, 5, 6}));  // never beyond the text's end
    store.add(Ids{7, 8});
    drafter.append(Ids{4, 5, 6});
    QVERIFY(drafter.propose(chainOf(4)).empty());  // nor into the next text
    QVERIFY(drafter.propose(chainOf(1)).empty());
    for (const DraftNode& node : drafter.propose(treeOf(4)).nodes)
      QVERIFY(node.origin == TokenOrigin::kStore);
  }

  void onPurposeDraftsAreWellFormed() {
    Ids reference;
    for (int i = 0; i < 600; ++i)
      reference.push_back((i * 7) % 50);
    const SpeculationOptions options = withReference(reference);
    std::vector<std::unique_ptr<Drafter>> drafters;
    drafters.push_back(std::make_unique<WrongDrafter>(50, 11));
    drafters.push_back(std::make_unique<RandomDrafter>(50, options, 0));
    drafters.push_back(std::make_unique<OracleDrafter>(50, options, 0));
    drafters.push_back(std::make_unique<HalfRightDrafter>(50, options, 0));
    std::set<std::size_t> shapes;
    for (const auto& drafter : drafters) {
      drafter->append(Ids{40, 41});
      for (int round = 0; round < 400; ++round) {
        for (const DraftBudget& budget : {chainOf(1 + round % 31), treeOf(1 + round % 31)}) {
          const Draft draft = drafter->propose(budget);
          QVERIFY(wellFormed(draft));
          QVERIFY(draft.size() <= budget.nodes);
          QVERIFY(budget.tree || isChain(draft));
          QVERIFY(draft.nodes == drafter->propose(budget).nodes);
          for (const DraftNode& node : draft.nodes) {
            QVERIFY(node.origin == drafter->origin() && node.token >= 0 && node.token < 50);
            QVERIFY(node.probability >= 0 && node.probability <= 1);
          }
          if (drafter->origin() == TokenOrigin::kRandom && budget.tree) {
            std::size_t shape = 0;
            for (const DraftNode& node : draft.nodes)
              shape = shape * 33 + static_cast<std::size_t>(node.parent + 2);
            shapes.insert(shape);
          }
        }
        drafter->append(Ids{reference[round]});
      }
    }
    QVERIFY2(shapes.size() > 150, qPrintable(QString::number(shapes.size())));
  }

  void shallowBudgetsAreKept() {
    const SpeculationOptions options = withReference(Ids(100, 3));
    RandomDrafter random(50, options, 0);
    OracleDrafter oracle(50, options, 0);
    WrongDrafter wrong(50, 1);
    for (Drafter* drafter : std::initializer_list<Drafter*>{&random, &oracle, &wrong}) {
      for (int depth = 1; depth < 5; ++depth) {
        for (const bool tree : {false, true}) {
          for (const int d : depths(drafter->propose({.nodes = 31, .depth = depth, .tree = tree})))
            QVERIFY(d <= depth);
        }
      }
    }
  }

  // The right path is in every oracle tree, with wrong siblings beside it.
  void oracleKnowsTheAnswer() {
    Ids reference;
    for (int i = 0; i < 60; ++i)
      reference.push_back(i % 50);
    OracleDrafter oracle(50, withReference(reference), 2);
    oracle.append(Ids{9, 0, 1});  // a prompt and two tokens of the answer
    QCOMPARE(tokensOf(oracle.propose(chainOf(4))), (Ids{2, 3, 4, 5}));
    const Draft tree = oracle.propose(treeOf(31));
    int node = -1, right = 2;
    while (childWith(tree, node, reference[right]) >= 0)
      node = childWith(tree, node, reference[right++]);
    QVERIFY(right > 8);
    QVERIFY(tree.size() > right - 2);
    oracle.append(Ids{2, 3, 4});
    QCOMPARE(tokensOf(oracle.propose(chainOf(2))), (Ids{5, 6}));
  }

  void halfRightIsRightHalfOfTheTime() {
    Ids reference;
    for (int i = 0; i < 2000; ++i)
      reference.push_back((i * 13) % 50);
    HalfRightDrafter drafter(50, withReference(reference), 0);
    drafter.append(Ids{1});
    int right = 0;
    for (int i = 0; i < 2000; ++i) {
      right += drafter.propose(chainOf(1)).nodes[0].token == reference[i] ? 1 : 0;
      drafter.append(Ids{reference[i]});
    }
    QVERIFY(right > 900 && right < 1100);
  }
};

QTEST_APPLESS_MAIN(TestDrafters)
#include "test_drafters.moc"
