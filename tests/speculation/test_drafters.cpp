// Drafting and accepting: pure functions and the own-text index.
#include <QtTest>

#include "engine/speculation/drafters/own_text.h"
#include "engine/speculation/drafters/wrong.h"
#include "engine/speculation/options.h"

using namespace tandem;

namespace {

std::vector<TokenId> chain(const Draft& draft) {
  std::vector<TokenId> tokens;
  for (const DraftNode& node : draft.nodes)
    tokens.push_back(node.token);
  return tokens;
}

DraftBudget chainOf(int nodes) {
  return {.nodes = nodes, .depth = nodes};
}

using Ids = std::vector<TokenId>;

}  // namespace

class TestDrafters : public QObject {
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

  void ownTextContinuesTheLongestMatch() {
    OwnTextDrafter drafter;
    drafter.append(Ids{1, 2, 3, 4, 5, 9, 2, 3, 7, 8, 1, 2, 3});
    // "1 2 3" is longer than the more recent "2 3".
    QCOMPARE(chain(drafter.propose(chainOf(3))), (Ids{4, 5, 9}));
    QCOMPARE(chain(drafter.propose(chainOf(1))), (Ids{4}));
    drafter.append(Ids{9});
    QVERIFY(drafter.propose(chainOf(4)).nodes.empty());  // "3 9" never came before
    drafter.append(Ids{2, 3});
    QCOMPARE(chain(drafter.propose(chainOf(2))), (Ids{7, 8}));  // "9 2 3"
  }

  void ownTextTakesTheLatestOccurrence() {
    OwnTextDrafter drafter;
    drafter.append(Ids{1, 2, 30, 1, 2, 40, 1, 2});
    QCOMPARE(chain(drafter.propose(chainOf(1))), (Ids{40}));
  }

  void ownTextContinuesACycle() {
    OwnTextDrafter drafter;
    drafter.append(Ids{7, 8, 9, 7, 8, 9, 7});
    QCOMPARE(chain(drafter.propose(chainOf(8))), (Ids{8, 9, 7, 8, 9, 7, 8, 9}));
    OwnTextDrafter same;
    same.append(Ids{4, 4, 4});
    QCOMPARE(chain(same.propose(chainOf(5))), (Ids{4, 4, 4, 4, 4}));
  }

  void ownTextIsSilentWithoutAMatch() {
    OwnTextDrafter drafter;
    QVERIFY(drafter.propose(chainOf(7)).nodes.empty());
    drafter.append(Ids{1});
    QVERIFY(drafter.propose(chainOf(7)).nodes.empty());
    drafter.append(Ids{2, 3, 4});
    QVERIFY(drafter.propose(chainOf(7)).nodes.empty());
  }

  // Token by token or at once: the index is the same.
  void ownTextGrowsTokenByToken() {
    Ids text;
    for (int i = 0; i < 400; ++i)
      text.push_back((i * i) % 23);
    OwnTextDrafter whole, single;
    whole.append(text);
    for (const TokenId token : text)
      single.append(Ids{token});
    QCOMPARE(chain(whole.propose(chainOf(15))), chain(single.propose(chainOf(15))));
    QCOMPARE(whole.propose(chainOf(15)).size(), 15);
  }

  void wrongIsReproducibleAndInTheVocabulary() {
    WrongDrafter a(50), b(50);
    for (auto* drafter : {&a, &b})
      drafter->append(Ids{1, 2, 3});
    const Draft draft = a.propose(chainOf(31));
    QCOMPARE(draft.size(), 31);
    QCOMPARE(chain(draft), chain(b.propose(chainOf(31))));
    for (const TokenId token : chain(draft))
      QVERIFY(token >= 0 && token < 50);
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
};

QTEST_APPLESS_MAIN(TestDrafters)
#include "test_drafters.moc"
