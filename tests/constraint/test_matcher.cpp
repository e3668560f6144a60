// Matchers over small vocabularies: what the masks say, against a search that knows nothing of grammars.
#include <QTest>
#include <algorithm>
#include <random>

#include "engine/constraint/constraint.h"
#include "tests/tokenizer/small_vocabulary.h"

using namespace tandem;
using namespace tandem::test;

namespace {

std::shared_ptr<const TokenTrie> trieOf(SmallVocabulary vocabulary,
                                        const std::vector<std::string>& more = {}) {
  for (const std::string& token : more)
    vocabulary.add(token, TokenType::kUserDefined);
  const auto tokenizer = vocabulary.load("constraint_vocabulary.gguf");
  if (!tokenizer.ok()) qFatal("%s", tokenizer.error().describe().c_str());
  return std::make_shared<const TokenTrie>(*tokenizer);
}

// Single bytes, and tokens that run over the borders of JSON's parts.
std::shared_ptr<const TokenTrie> jsonTrie() {
  return trieOf(smallByteLevel(), {"{\"", "\":", "\": ", "\",", "\"}", "\"}]", "},{", "[1", "12", "true",
                                   "null}", " \"", "aaaa", "é", "\xC3", "\\u00", "[[[["});
}

std::shared_ptr<const Constraint> compiled(const ConstraintSpec& spec,
                                           std::shared_ptr<const TokenTrie> trie) {
  const auto constraint = Constraint::compile(spec, std::move(trie));
  if (!constraint.ok()) qFatal("%s", constraint.error().describe().c_str());
  return *constraint;
}

std::vector<ConstraintSpec> specs() {
  return {
      ConstraintSpec::jsonObject(),
      ConstraintSpec::jsonSchema(
          "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},"
          "\"b\":{\"type\":\"string\",\"maxLength\":6}},\"required\":[\"b\"]}}"),
      ConstraintSpec::regex("(ab|[a-c]{2,5})*x"), ConstraintSpec::choice({"abc", "aaaab", "b", "true", "ab"}),
      ConstraintSpec::grammar("root ::= \"[\" (root | [1-3]{1,3}) \"]\"")};
}

// Whether the token may follow, told by walking its bytes one single-byte token at a time.
bool followsByBytes(Matcher matcher, const TokenTrie& trie, TokenId token) {
  const std::string_view bytes = trie.bytesOf(token);
  for (const char byte : bytes) {
    if (!matcher.advance(static_cast<TokenId>(static_cast<unsigned char>(byte)) + 1)) return false;
  }
  return !bytes.empty();
}

// The fewest tokens to an end by trying all token texts, the end token counted; `limit` when it is more.
int fewestBySearch(const Matcher& from, std::size_t vocabulary, int limit) {
  std::vector<Matcher> level{from};
  for (int tokens = 1; tokens < limit; ++tokens) {
    std::vector<Matcher> next;
    for (const Matcher& matcher : level) {
      if (matcher.canEnd()) return tokens;
      for (std::size_t id = 0; id < vocabulary; ++id) {
        Matcher behind = matcher;
        if (!behind.advance(static_cast<TokenId>(id)) || behind.atDeadEnd()) continue;
        if (std::find(next.begin(), next.end(), behind) == next.end()) next.push_back(behind);
      }
    }
    level = std::move(next);
  }
  return limit;
}

// A random text through the masks; calls `at` before each token.
template <class At>
void randomWalk(const Constraint& constraint, const TokenTrie& trie, unsigned seed, int tokens,
                const At& at) {
  std::mt19937 random(seed);
  Matcher matcher = constraint.start();
  std::vector<TokenId> path;
  for (int left = tokens; left > 0; --left) {
    std::vector<TokenId> allowed;
    matcher.mask(left).forEach([&](TokenId id) { allowed.push_back(id); });
    QVERIFY2(!allowed.empty(), "the mask is empty");
    at(matcher, path, left, allowed[random() % allowed.size()]);
    const TokenId token = allowed[random() % allowed.size()];
    QVERIFY(matcher.advance(token));
    path.push_back(token);
    if (trie.isEndToken(token)) return;
  }
  QFAIL("the text did not end");
}

}  // namespace

class TestMatcher : public QObject {
  Q_OBJECT

 private slots:
  // Every mask on random texts has just the tokens whose bytes may follow.
  void masksAreWhatBytesAllow() {
    const auto trie = jsonTrie();
    for (const ConstraintSpec& spec : specs()) {
      const auto constraint = compiled(spec, trie);
      for (unsigned seed = 0; seed < 10; ++seed) {
        randomWalk(*constraint, *trie, seed, 30, [&](const Matcher& matcher, const auto&, int left, TokenId) {
          const TokenMask mask = matcher.mask();
          for (std::size_t i = 0; i < trie->vocabSize(); ++i) {
            const auto id = static_cast<TokenId>(i);
            if (trie->isEndToken(id)) {
              QCOMPARE(mask.allows(id), matcher.canEnd());
            } else {
              QCOMPARE(mask.allows(id), followsByBytes(matcher, *trie, id));
            }
          }
          const TokenMask limited = matcher.mask(left);
          for (std::size_t i = 0; i < trie->vocabSize(); ++i)
            QCOMPARE(limited.allows(static_cast<TokenId>(i)), matcher.allows(static_cast<TokenId>(i), left));
        });
      }
    }
  }

  // A mask of another place differs: the check above can fail.
  void aMaskFromTheWrongStateIsSeen() {
    const auto trie = jsonTrie();
    const auto constraint = compiled(ConstraintSpec::jsonObject(), trie);
    Matcher matcher = constraint->start();
    const Matcher stale = matcher;  // the planted fault: a matcher that was not advanced
    QVERIFY(matcher.advance('{' + 1));
    int wrong = 0;
    for (std::size_t i = 0; i < trie->vocabSize(); ++i)
      wrong += stale.mask().allows(static_cast<TokenId>(i)) !=
               followsByBytes(matcher, *trie, static_cast<TokenId>(i));
    QVERIFY(wrong > 0);
  }

  // Drafted paths are walked on copies; what is left behind is as a fresh replay would have it.
  void aRejectedDraftLeavesNothing() {
    const auto trie = jsonTrie();
    for (const ConstraintSpec& spec : specs()) {
      const auto constraint = compiled(spec, trie);
      int lasting = 0;  // drafts that would show if they were not taken back
      for (unsigned seed = 0; seed < 20; ++seed) {
        randomWalk(*constraint, *trie, seed, 24,
                   [&](const Matcher& matcher, const auto& path, int left, TokenId drafted) {
                     const TokenMask before = matcher.mask(left);
                     Matcher draft = matcher;
                     std::mt19937 random(seed);
                     for (int i = 0; i < 8 && draft.advance(drafted); ++i) {
                       std::vector<TokenId> allowed;
                       draft.mask().forEach([&](TokenId id) { allowed.push_back(id); });
                       if (allowed.empty()) break;
                       drafted = allowed[random() % allowed.size()];
                     }
                     lasting += !(draft == matcher);
                     Matcher replayed = constraint->start();
                     for (const TokenId token : path)
                       QVERIFY(replayed.advance(token));
                     QVERIFY(matcher.mask(left) == before);
                     QVERIFY(replayed.mask(left) == before);
                     QCOMPARE(replayed.canEnd(), matcher.canEnd());
                     QCOMPARE(replayed.shortestToEnd(), matcher.shortestToEnd());
                   });
      }
      QVERIFY(lasting > 0);
    }
  }

  // shortestToEnd is met exactly, and where few texts exist it is the true minimum.
  void theShortestWayIsKept() {
    const auto trie = jsonTrie();
    for (const ConstraintSpec& spec : specs()) {
      const auto constraint = compiled(spec, trie);
      for (unsigned seed = 0; seed < 10; ++seed) {
        const int fewest = constraint->start().shortestToEnd();
        QVERIFY(constraint->start().checkLength(fewest).ok());
        const Status refused = constraint->start().checkLength(fewest - 1);
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().field, std::string("max_tokens"));
        randomWalk(*constraint, *trie, seed, fewest,
                   [&](const Matcher& matcher, const auto&, int left, TokenId) {
                     QCOMPARE(matcher.shortestToEnd(), left);
                   });
        randomWalk(*constraint, *trie, seed, fewest + 5,
                   [&](const Matcher& matcher, const auto&, int left, TokenId) {
                     QVERIFY(matcher.shortestToEnd() <= left);
                     QVERIFY(matcher.shortestToEnd() >= fewestBySearch(matcher, trie->vocabSize(), 4));
                   });
      }
    }
    QCOMPARE(compiled(ConstraintSpec::regex("a{8}"), trie)->start().shortestToEnd(), 3);
    QCOMPARE(compiled(ConstraintSpec::regex("a{9}"), trie)->start().shortestToEnd(), 4);
    QCOMPARE(compiled(ConstraintSpec::choice({"abc", "true"}), trie)->start().shortestToEnd(), 2);
  }

  void endTokensOnlyAtAnEnd() {
    const auto trie = jsonTrie();
    const TokenId end = trie->endTokens().front();
    const auto constraint = compiled(ConstraintSpec::choice({"a", "ab"}), trie);
    Matcher matcher = constraint->start();
    QVERIFY(!matcher.mask().allows(end) && !matcher.canEnd() && !matcher.advance(end));
    QVERIFY(matcher.advance('a' + 1));
    QVERIFY(matcher.mask().allows(end) && matcher.mask().allows('b' + 1));
    QCOMPARE(matcher.mask(1).count(), std::size_t{1});
    QVERIFY(matcher.advance('b' + 1));
    QCOMPARE(matcher.mask().count(), std::size_t{1});
    QCOMPARE(matcher.shortestToEnd(), 1);
    QVERIFY(matcher.advance(end));
    QVERIFY(matcher.atDeadEnd() && !matcher.canEnd() && !matcher.advance('a' + 1));
    QCOMPARE(matcher.mask().count(), std::size_t{0});
    QCOMPARE(matcher.shortestToEnd(), 0);
  }

  // Control, unknown and unused tokens never stand in constrained text, whatever they spell.
  void specialTokensAreLeftOut() {
    SmallVocabulary vocabulary = smallByteLevel();
    vocabulary.add("aa", TokenType::kControl);
    vocabulary.add("bb", TokenType::kUnused);
    vocabulary.add("cc", TokenType::kUserDefined);
    const auto trie = trieOf(vocabulary);
    const auto constraint = compiled(ConstraintSpec::regex("[a-c]*"), trie);
    const auto last = static_cast<TokenId>(trie->vocabSize()) - 1;
    QVERIFY(constraint->start().mask().allows(last));
    QVERIFY(!constraint->start().mask().allows(last - 1));
    QVERIFY(!constraint->start().mask().allows(last - 2));
    QVERIFY(!constraint->start().allows(last - 2, 100));
  }

  void sentencePieceTokens() {
    const auto trie = trieOf(smallSentencePiece());
    const auto constraint = compiled(ConstraintSpec::regex("ab c\xC3\xA9"), trie);
    for (unsigned seed = 0; seed < 20; ++seed) {
      std::string text;
      Matcher matcher = constraint->start();
      std::mt19937 random(seed);
      while (!matcher.canEnd()) {
        std::vector<TokenId> allowed;
        matcher.mask().forEach([&](TokenId id) { allowed.push_back(id); });
        const TokenId token = allowed.at(random() % allowed.size());
        QVERIFY(matcher.advance(token));
        text += trie->bytesOf(token);
      }
      QCOMPARE(text, std::string("ab c\xC3\xA9"));
    }
  }

  // What only bytes without a token could write is refused before anything is generated.
  void textThatNoTokenWritesIsRefused() {
    SmallVocabulary vocabulary = smallByteLevel();
    vocabulary.tokens['z' + 1] = "zz";
    const auto trie = trieOf(vocabulary);
    for (const ConstraintSpec& spec : {ConstraintSpec::choice({"z"}), ConstraintSpec::regex("a+z"),
                                       ConstraintSpec::grammar("root ::= \"a\" root | \"z\"")}) {
      const auto constraint = Constraint::compile(spec, trie);
      QVERIFY(!constraint.ok());
      QCOMPARE(constraint.error().code, ErrorCode::kInvalidArgument);
    }
    QVERIFY(Constraint::compile(ConstraintSpec::choice({"z", "y"}), trie).ok());
  }

  // A text that needs ever more states ends in an error, not in more memory.
  void statesAreBounded() {
    const auto trie = jsonTrie();
    const auto constraint =
        compiled(ConstraintSpec::grammar("root ::= (\"a\" | \"aa\" | \"aaa\"){0,5000} \"b\""), trie);
    Matcher matcher = constraint->start();
    while (matcher.status().ok() && matcher.advance('a' + 1)) {
    }
    if (matcher.status().ok()) return;  // it stayed within bounds up to the last repeat
    QCOMPARE(matcher.status().error().code, ErrorCode::kBudgetExceeded);
    QVERIFY(matcher.atDeadEnd());
    QCOMPARE(matcher.mask().count(), std::size_t{0});
  }

  void deepTextsNeedNoStack() {
    const auto trie = jsonTrie();
    const auto constraint =
        compiled(ConstraintSpec::jsonSchema("{\"type\":\"array\",\"items\":{\"$ref\":\"#\"}}"), trie);
    Matcher matcher = constraint->start();
    for (int i = 0; i < 20000; ++i)
      QVERIFY(matcher.advance('[' + 1));
    QCOMPARE(matcher.shortestToEnd(), 20001);
    for (int i = 0; i < 20000; ++i)
      QVERIFY(matcher.advance(']' + 1));
    QVERIFY(matcher.canEnd());
  }
};

QTEST_APPLESS_MAIN(TestMatcher)
#include "test_matcher.moc"
