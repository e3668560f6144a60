// Drafts as trees: their order, walking, joining, cutting; and options as words.
#include <QtTest>
#include <cmath>
#include <random>

#include "engine/speculation/merge.h"
#include "engine/speculation/options.h"
#include "engine/speculation/relaxed.h"

using namespace tandem;

namespace {

constexpr auto kOwn = TokenOrigin::kOwnText;
constexpr auto kStored = TokenOrigin::kStore;

// A random draft in depth-first order.
Draft randomDraft(std::mt19937& random, int nodes, TokenOrigin origin) {
  Draft draft;
  std::vector<int> path = {-1};
  while (draft.size() < nodes) {
    while (path.size() > 1 && random() % 3 == 0)
      path.pop_back();
    const TokenId token = static_cast<TokenId>(random() % 40);
    if (childWith(draft, path.back(), token) >= 0) {
      if (path.size() > 1) path.pop_back();
      continue;
    }
    path.push_back(draft.add(token, path.back(), float(random() % 100) / 250.0f, origin));
  }
  return draft;
}

std::vector<TokenId> pathTo(const Draft& draft, int node) {
  std::vector<TokenId> path;
  for (; node >= 0; node = draft.nodes[node].parent)
    path.insert(path.begin(), draft.nodes[node].token);
  return path;
}

}  // namespace

class TestDrafts : public QObject {
  Q_OBJECT

 private slots:
  void acceptWalksTheTree() {
    // 5 -> (6 -> 7), 8 -> 9
    const Draft tree{{{5, -1}, {6, 0}, {7, 1}, {8, 0}, {9, 3}}};
    QVERIFY(wellFormed(tree));
    const auto never = [](TokenId) { return false; };
    const auto answers = [](std::vector<TokenId> tokens) {
      return [tokens, i = std::size_t{0}](int) mutable { return tokens[i++]; };
    };
    Acceptance a = acceptDraft(tree, answers({5, 8, 9, 1}), never);
    QCOMPARE(a.path, (std::vector<int>{0, 3, 4}));
    QCOMPARE(a.next, 1);
    a = acceptDraft(tree, answers({4}), never);
    QVERIFY(a.path.empty());
    QCOMPARE(a.next, 4);
    a = acceptDraft(tree, answers({5, 6, 7, 2}), never);
    QCOMPARE(a.path, (std::vector<int>{0, 1, 2}));
    // A choice that ends the answer is never taken into the path, also when it was drafted.
    a = acceptDraft(tree, answers({5, 6}), [](TokenId t) { return t == 6; });
    QCOMPARE(a.path, (std::vector<int>{0}));
    QCOMPARE(a.next, 6);
    a = acceptDraft(Draft(), answers({3}), never);
    QCOMPARE(a.next, 3);
  }

  void wellFormedKnowsTheOrder() {
    QVERIFY(wellFormed(Draft()));
    QVERIFY(wellFormed(Draft{{{1, -1}, {2, 0}, {1, -1 + 1}, {3, -1}}}));
    QVERIFY(!wellFormed(Draft{{{1, 0}}}));                            // its own parent
    QVERIFY(!wellFormed(Draft{{{1, 1}, {2, -1}}}));                   // a parent that follows
    QVERIFY(!wellFormed(Draft{{{1, -1}, {1, -1}}}));                  // siblings alike
    QVERIFY(!wellFormed(Draft{{{1, -1}, {2, -1}, {3, 0}}}));          // breadth-first
    QVERIFY(!wellFormed(Draft{{{1, -1}, {2, 0}, {3, -1}, {4, 1}}}));  // back into a closed branch
    Draft longest;
    for (int i = 0; i < kMaxDraftNodes; ++i)
      longest.add(1, i - 1, 1, kOwn);
    QVERIFY(wellFormed(longest));
    longest.add(1, kMaxDraftNodes - 1, 1, kOwn);
    QVERIFY(!wellFormed(longest));
  }

  void jointProbabilitiesMultiply() {
    const Draft draft{{{5, -1, 0.5f}, {6, 0, 0.5f}, {7, -1, 0.25f}}};
    QCOMPARE(jointProbabilities(draft), (std::vector<double>{0.5, 0.25, 0.25}));
    QCOMPARE(expectedAccepted(draft), 1.0);
    QCOMPARE(depths(draft), (std::vector<int>{1, 2, 1}));
  }

  void duplicatesAreJoined() {
    const Draft own{{{5, -1, 0.6f, kOwn}, {6, 0, 0.5f, kOwn}}};
    const Draft stored{{{5, -1, 0.4f, kStored}, {6, 0, 0.9f, kStored}, {7, 0, 0.05f, kStored}}};
    const std::vector<Draft> both = {own, stored};
    const Draft all = unite(both);
    QVERIFY(wellFormed(all));
    const Draft expected{{{5, -1, 0.6f, kOwn}, {6, 0, 0.9f, kStored}, {7, 0, 0.05f, kStored}}};
    QVERIFY(all.nodes == expected.nodes);
    // Two drafters that are sure of different tokens cannot both be right.
    const Draft one{{{1, -1, 0.9f, kOwn}}}, other{{{2, -1, 0.6f, kStored}}};
    const std::vector<Draft> rivals = {one, other};
    QVERIFY(std::abs(expectedAccepted(unite(rivals)) - 1) < 1e-6);
  }

  void theBestNodesAreKept() {
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
      const std::vector<Draft> drafts = {randomDraft(random, 1 + int(random() % 31), kOwn),
                                         randomDraft(random, 1 + int(random() % 31), kStored)};
      const Draft whole = unite(drafts);
      const int nodes = 1 + int(random() % 31), depth = 1 + int(random() % 8);
      const Draft tree = best(whole, {.nodes = nodes, .depth = depth, .tree = true});
      const Draft chain = best(whole, {.nodes = nodes, .depth = depth});
      for (const Draft* draft : {&tree, &chain}) {
        QVERIFY(wellFormed(*draft));
        QVERIFY(draft->size() >= 1 && draft->size() <= nodes);
        for (const int d : depths(*draft))
          QVERIFY(d <= depth);
      }
      for (int i = 0; i < chain.size(); ++i)
        QCOMPARE(chain.nodes[i].parent, i - 1);
      QVERIFY(expectedAccepted(chain) <= expectedAccepted(tree) + 1e-9);
      // No node that was left out is likelier than one that was taken, as far as the depth allows it.
      const std::vector<double> joint = jointProbabilities(whole), taken = jointProbabilities(tree);
      const std::vector<int> wholeDepths = depths(whole);
      std::vector<double> allowed;
      for (int i = 0; i < whole.size(); ++i)
        if (wholeDepths[i] <= depth) allowed.push_back(joint[i]);
      std::sort(allowed.begin(), allowed.end(), std::greater<>());
      double sum = 0, bestSum = 0;
      for (int i = 0; i < tree.size(); ++i) {
        sum += taken[i];
        bestSum += allowed[i];
      }
      QVERIFY(std::abs(sum - bestSum) < 1e-9);
      for (int i = 0; i < tree.size(); ++i) {
        bool known = false;
        for (int j = 0; j < whole.size(); ++j)
          known |= pathTo(whole, j) == pathTo(tree, i);
        QVERIFY(known);
      }
    }
  }

  void unlikelyNodesAreLeftOut() {
    const Draft whole{{{5, -1, 0.5f}, {6, 0, 0.1f}, {7, -1, 0.3f}}};
    const Draft cut = best(whole, {.nodes = 31, .depth = 31, .tree = true, .least = 0.1});
    QCOMPARE(cut.size(), 2);
  }

  void relaxedAcceptTakesWhatIsNear() {
    const std::vector<float> logits = {1.0f, 3.0f, 2.5f, 2.9f, -1.0f};
    const Draft draft{{{2, -1}, {3, -1}, {4, -1}}};
    SpeculationOptions options;
    options.relaxTau = 0.2f;
    QCOMPARE(relaxedChoice(draft, -1, logits, 1, options), 3);
    options.relaxTau = 0.05f;
    QCOMPARE(relaxedChoice(draft, -1, logits, 1, options), 1);
    options.relaxTau = 0;
    options.relaxRank = 1;
    QCOMPARE(relaxedChoice(draft, -1, logits, 1, options), 3);
    const Draft second{{{2, -1}}};
    QCOMPARE(relaxedChoice(second, -1, logits, 1, options), 1);
    options.relaxRank = 2;
    QCOMPARE(relaxedChoice(second, -1, logits, 1, options), 2);
    options.relaxTau = 0.1f;  // both must hold
    QCOMPARE(relaxedChoice(second, -1, logits, 1, options), 1);
    QCOMPARE(relaxedChoice(second, 0, logits, 1, options), 1);  // no child there
  }

  void draftersAndShapesByName() {
    SpeculationOptions options;
    for (const char* names :
         {"auto", "off", "own-text", "store,draft,mtp", "half-right,oracle,random,wrong"}) {
      QVERIFY(setDrafters(names, options).ok());
      QCOMPARE(drafterNames(options), std::string(names));
    }
    QVERIFY(setDrafters("own-text,own-text", options).ok());
    QCOMPARE(drafterNames(options), std::string("own-text"));
    for (const char* names : {"magic", "plain", "", "own-text,", ",", "auto,own-text", "off,wrong"})
      QVERIFY(!setDrafters(names, options).ok());
    for (const char* name : {"auto", "chain1", "chain31", "tree1", "tree15"})
      QCOMPARE(draftShapeName(*draftShapeByName(name)), std::string(name));
    for (const char* name : {"", "chain", "chain0", "chain32", "tree-1", "tree1x", "star3"})
      QVERIFY(!draftShapeByName(name).ok());
  }

  void impossibleOptionsAreRefused() {
    QVERIFY(checkSpeculation({}).ok());
    QVERIFY(checkSpeculation(SpeculationOptions::off()).ok());
    for (const TokenOrigin drafter : {TokenOrigin::kOracle, TokenOrigin::kHalfRight}) {
      SpeculationOptions options = SpeculationOptions::chain(drafter, 7);
      QVERIFY(!checkSpeculation(options).ok());
      options.reference = {1};
      QVERIFY(checkSpeculation(options).ok());
    }
    QVERIFY(!checkSpeculation(SpeculationOptions::chain(TokenOrigin::kPlain, 7)).ok());
    for (const int nodes : {-1, 0, 32})
      QVERIFY(!checkSpeculation(SpeculationOptions::tree(kOwn, nodes)).ok());
    SpeculationOptions options;
    options.relaxTau = std::nanf("");
    QVERIFY(!checkSpeculation(options).ok());
    options.relaxTau = 0;
    options.relaxRank = -1;
    QVERIFY(!checkSpeculation(options).ok());
  }
};

QTEST_APPLESS_MAIN(TestDrafts)
#include "test_drafts.moc"
