// What small vocabularies do: merging, special tokens, end tokens, what they cannot spell.
#include <QTemporaryDir>
#include <QTest>

#include "tests/tokenizer/real_models.h"
#include "tests/tokenizer/small_vocabulary.h"

namespace tandem::test {
namespace {

using gguf::encode;

}  // namespace

class TestVocabulary : public QObject {
  Q_OBJECT
 private slots:
  void mergesByteLevelPieces();
  void ignoresMergesIntoControlTokens();
  void mergesSentencePieces();
  void neverMergesIntoSpecialPieces();
  void putsASpaceBefore();
  void takesSpelledEndTokens();
  void endsHarmonyMessages();
  void takesWholePieces();
  void cannotSpellWhatIsMissing();
  void loadsIdsOnly();
  void listsEndTokensOfRealModels();

 private:
  Result<std::shared_ptr<const Tokenizer>> load(const SmallVocabulary& v,
                                                const TokenizerOptions& options = {}) {
    return v.load(folder_.filePath("vocabulary.gguf").toStdString(), options);
  }

  QTemporaryDir folder_;
};

void TestVocabulary::mergesByteLevelPieces() {
  const auto tokenizer = load(smallByteLevel());
  QVERIFY2(tokenizer, why(tokenizer).c_str());
  // "a" is 98 (97 + 1), "ab" 257, "abc" 258.
  QCOMPARE(showIds(*(*tokenizer)->encode("abcab")), std::string("258 257"));
  QCOMPARE(showIds(*(*tokenizer)->encode("ab ab")), std::string("257 33 257"));
  QCOMPARE(showIds(*(*tokenizer)->encode("bab")), std::string("99 257"));
  QCOMPARE(showIds(*(*tokenizer)->encode("")), std::string());
  QVERIFY(!(*tokenizer)->byteEscape().isActive());
  QVERIFY(!(*tokenizer)->addsBos());
}

void TestVocabulary::ignoresMergesIntoControlTokens() {
  SmallVocabulary v = smallByteLevel();
  v.add("ac", TokenType::kControl);
  v.merges.push_back("a c");
  const auto tokenizer = load(v);
  QVERIFY2(tokenizer, why(tokenizer).c_str());
  QCOMPARE(showIds(*(*tokenizer)->encode("ac")), std::string("98 100"));
  QCOMPARE(showIds(*(*tokenizer)->encode(TaggedText("ac", true))), std::string("259"));
}

void TestVocabulary::mergesSentencePieces() {
  SmallVocabulary v = smallSentencePiece();
  v.set("tokenizer.ggml.add_space_prefix", encode(false));
  const auto tokenizer = load(v);
  QVERIFY2(tokenizer, why(tokenizer).c_str());
  QCOMPARE(showIds(*(*tokenizer)->encode("abc")), std::string("260 264"));
  QCOMPARE(showIds(*(*tokenizer)->encode("ab a")), std::string("263 265"));
  // z has no piece; neither have a space of the text's own spelled U+2581, and a lone lead byte.
  QCOMPARE(showIds(*(*tokenizer)->encode("az")), std::string("260 125"));
  QCOMPARE(showIds(*(*tokenizer)
                        ->encode("\xE2\x96\x81"
                                 "a")),
           std::string("229 153 132 260"));
  QCOMPARE(showIds(*(*tokenizer)->encode("\xE6 a")), std::string("233 265"));
  QCOMPARE((*tokenizer)->decode(*(*tokenizer)->encode("\xE2\x96\x81 a")), std::string("\xE2\x96\x81 a"));
  QVERIFY((*tokenizer)->addsBos());
  QCOMPARE(showIds(*(*tokenizer)->encode("a", Bos::kAsModel)), std::string("1 260"));
}

void TestVocabulary::neverMergesIntoSpecialPieces() {
  SmallVocabulary v = smallSentencePiece();
  v.set("tokenizer.ggml.add_space_prefix", encode(false));
  for (const char* piece : {"<", "0", "x", "4", "1", ">", "s", "<0", "x4", "<0x4", "1>", "<s"}) {
    v.add(piece, TokenType::kNormal, -5);
  }
  const auto tokenizer = load(v);
  QVERIFY2(tokenizer, why(tokenizer).c_str());
  // Both are one merge away from what they spell: the byte token 68 and the control token 1.
  QCOMPARE(showIds(*(*tokenizer)->encode("<0x41>")), std::string("275 276"));
  QCOMPARE(showIds(*(*tokenizer)->encode("<s>")), std::string("277 271"));
}

void TestVocabulary::putsASpaceBefore() {
  const auto loaded = load(smallSentencePiece());
  QVERIFY2(loaded, why(loaded).c_str());
  const Tokenizer& tokenizer = **loaded;
  QVERIFY(tokenizer.vocabulary().addsSpacePrefix());
  QCOMPARE(showIds(*tokenizer.encode("a")), std::string("265"));
  QCOMPARE(showIds(*tokenizer.encode(" a")), std::string("259 265"));
  TaggedText text("<s>", true);
  text.append("a b", false);
  text.append("</s>", true);
  text.append("a", false);
  const auto ids = tokenizer.encode(text);
  QVERIFY(ids);
  QCOMPARE(showIds(*ids), std::string("1 265 259 261 2 265"));
  QCOMPARE(tokenizer.decode(*ids, ControlText::kShown), text.text());
  RandomText random(11);
  for (int i = 0; i < 10000; ++i) {
    const std::string bytes = random.next();
    QVERIFY(tokenizer.decode(*tokenizer.encode(bytes)) == bytes);
  }
}

void TestVocabulary::takesSpelledEndTokens() {
  SmallVocabulary v = smallByteLevel();
  v.add("<|eot_id|>", TokenType::kControl);
  v.add("<end_of_turn>", TokenType::kNormal);
  v.add("</s>", TokenType::kUserDefined);
  v.add("stop", TokenType::kControl);
  v.add("<|eom_id|> ", TokenType::kControl);
  v.set("tokenizer.ggml.eot_token_id", encode(std::uint32_t{262}));
  const auto loaded = load(v);
  QVERIFY2(loaded, why(loaded).c_str());
  QString listed;
  for (const EndToken& token : (*loaded)->vocabulary().endTokens()) {
    QVERIFY((*loaded)->isEndToken(token.id));
    QVERIFY((*loaded)->tokenText(token.id) == token.text);
    listed += QString("%1 %2\n").arg(token.id).arg(QString::fromStdString(token.why));
  }
  QCOMPARE(listed,
           QString("0 tokenizer.ggml.eos_token_id\n259 spelled <|eot_id|>\n260 spelled <end_of_turn>\n"
                   "261 spelled </s>\n262 tokenizer.ggml.eot_token_id\n"));
  QVERIFY(!(*loaded)->isEndToken(263));
  // Spelled so, they are control tokens whatever the file calls them: data does not become one.
  QVERIFY((*loaded)->isControl(260) && (*loaded)->isControl(261));
  QVERIFY((*loaded)->encode("</s>")->size() > 1);
  QCOMPARE(showIds(*(*loaded)->encode(TaggedText("</s>", true))), std::string("261"));
}

void TestVocabulary::endsHarmonyMessages() {
  SmallVocabulary v = smallByteLevel();
  v.add("<|end|>", TokenType::kControl);
  QVERIFY((*load(v))->isEndToken(259));
  v.add("<|return|>", TokenType::kControl);
  v.add("<|call|>", TokenType::kControl);
  const auto loaded = load(v);
  QVERIFY2(loaded, why(loaded).c_str());
  QVERIFY(!(*loaded)->isEndToken(259));
  QVERIFY((*loaded)->isEndToken(260) && (*loaded)->isEndToken(261));
}

void TestVocabulary::takesWholePieces() {
  SmallVocabulary v = smallByteLevel();
  v.add("xyz", TokenType::kNormal);
  v.add("zyx", TokenType::kControl);
  v.set("tokenizer.ggml.bos_token_id", encode(std::uint32_t{0}));
  const auto loaded = load(v, {.preTokenizer = "llama-bpe"});
  QVERIFY2(loaded, why(loaded).c_str());
  // No merge makes "xyz", but the pre-tokenizer takes it whole; not so the control token.
  QCOMPARE(showIds(*(*loaded)->encode("xyz")), std::string("259"));
  QCOMPARE((*loaded)->encode("zyx")->size(), std::size_t{3});
  QVERIFY((*loaded)->addsBos());
}

void TestVocabulary::cannotSpellWhatIsMissing() {
  SmallVocabulary v = smallByteLevel();
  v.tokens[1 + 'q'] = "an unused entry";
  v.tokens[1 + 0xEF] = "another one";
  const auto loaded = load(v);
  QVERIFY2(loaded, why(loaded).c_str());
  QVERIFY((*loaded)->encode("abc"));
  const auto refused = (*loaded)->encode("abq");
  QVERIFY(!refused);
  QVERIFY(refused.error().code == ErrorCode::kUnsupported);
  QVERIFY(refused.error().message.find("byte 113") != std::string::npos);
}

void TestVocabulary::loadsIdsOnly() {
  SmallVocabulary v("test");
  for (int i = 0; i < 128; ++i)
    v.add("tok_" + std::to_string(i), TokenType::kNormal);
  v.dropped = {"tokenizer.ggml.pre", "tokenizer.ggml.merges", "tokenizer.ggml.token_type"};
  const auto loaded = load(v);
  QVERIFY2(loaded, why(loaded).c_str());
  QCOMPARE((*loaded)->vocabSize(), std::size_t{128});
  QVERIFY(!(*loaded)->canEncode());
  QVERIFY(!(*loaded)->encode("tok_1"));
  QVERIFY((*loaded)->encode("tok_1").error().code == ErrorCode::kUnsupported);
  QVERIFY(!(*loaded)->encode(TaggedText("tok_1", true)));
  QCOMPARE((*loaded)->decode(std::vector<TokenId>{1, 2}), std::string("tok_1tok_2"));
  QVERIFY((*loaded)->vocabulary().endTokens().empty());
}

void TestVocabulary::listsEndTokensOfRealModels() {
  const auto list = [](const Tokenizer& tokenizer) {
    QString listed;
    for (const EndToken& token : tokenizer.vocabulary().endTokens()) {
      listed += QString("%1 %2; ").arg(token.id).arg(QString::fromStdString(token.why));
    }
    return listed;
  };
  const auto smol = realTokenizer(kSmolLm2);
  QVERIFY2(smol, why(smol).c_str());
  QCOMPARE(list(**smol), QString("0 spelled <|endoftext|>; 2 tokenizer.ggml.eos_token_id; "));
  QVERIFY((*smol)->byteEscape().isActive());
  const auto gemma = realTokenizer(kGemma3);
  QVERIFY2(gemma, why(gemma).c_str());
  QCOMPARE(list(**gemma),
           QString("1 tokenizer.ggml.eos_token_id; 106 spelled <end_of_turn>; 212 spelled </s>; "));
  QCOMPARE((*gemma)->vocabSize(), std::size_t{262144});
}

}  // namespace tandem::test

QTEST_APPLESS_MAIN(tandem::test::TestVocabulary)
#include "test_vocabulary.moc"
