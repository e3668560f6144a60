#include <QTest>
#include <algorithm>
#include <numeric>
#include <random>

#include "tests/markdown/corpus.h"
#include "ui/markdown/markdown_message.h"
#include "ui/markdown/rendered_block.h"
#include "ui/markdown/splitter.h"

using namespace tandem::markdown;
using test::corpus;
using test::repeated;
using test::threadNanoseconds;

namespace {

std::vector<Leaf> split(const std::string& text, bool plain = false) {
  BlockSplitter splitter(plain);
  splitter.append(text);
  splitter.finish();
  return splitter.leaves();
}

// A short form to compare with: kind, containers and marker, visible text.
QString shape(const std::string& text) {
  static const char kKinds[] = "phctr=";
  QStringList out;
  for (const Leaf& leaf : split(text)) {
    QString one(QChar::fromLatin1(kKinds[static_cast<int>(leaf.kind)]));
    if (leaf.level > 0) one += QString::number(leaf.level);
    if (!leaf.containers.empty()) one += u'/' + QString::fromStdString(leaf.containers);
    if (!leaf.marker.empty()) one += u'(' + QString::fromStdString(leaf.marker) + u')';
    if (leaf.task != TaskBox::kNone) one += leaf.task == TaskBox::kDone ? u"[x]"_qs : u"[ ]"_qs;
    if (leaf.info.size() > 0) {
      one += u'{' + QString::fromStdString(text.substr(leaf.info.begin, leaf.info.size())) + u'}';
    }
    QString shown = renderLeaf(leaf, text).text;
    shown.replace(QChar::LineSeparator, u'|').replace(u'\n', u'|').replace(u'\t', u'+');
    out << one + u':' + shown;
  }
  return out.join(u' ');
}

// Every visible character of the source that is no markup must be shown somewhere, in order of lines.
QString shownText(const std::vector<Leaf>& leaves, const std::string& source) {
  QString all;
  for (const Leaf& leaf : leaves) {
    all += QString::fromStdString(leaf.marker);
    all += QString::fromUtf8(source.data() + leaf.info.begin, leaf.info.size());
    all += renderLeaf(leaf, source).text;
  }
  return all;
}

}  // namespace

class TestMarkdownSplitter : public QObject {
  Q_OBJECT

 private slots:
  void blocks_data();
  void blocks();
  void anyCutsGiveTheSameBlocks();
  void everyPrefixEqualsItsWhole();
  void nothingIsLost();
  void codeIsExact();
  void undecidedLineWaits();
  void hostile_data();
  void hostile();
  void hostileStreamed_data();
  void hostileStreamed();
  void budgets();
  void showMore();
  void manyLinesComeInParts();
  void plain();
  void streamingIsCheap_data();
  void streamingIsCheap();
};

void TestMarkdownSplitter::blocks_data() {
  QTest::addColumn<QString>("source");
  QTest::addColumn<QString>("expected");
  const auto row = [](const char* name, const char* source, const char* expected) {
    QTest::newRow(name) << QString::fromUtf8(source) << QString::fromUtf8(expected);
  };
  row("paragraphs", "a\nb\n\nc", "p:a|b p:c");
  row("headings", "# A #\n## B\nC\n===\nD\n---\n", "h1:A h2:B h1:C h2:D");
  row("no heading", "#a\n####### b", "p:#a|####### b");
  row("rule", "a\n\n---\n* * *\nb", "p:a r: r: p:b");
  row("fence", "```cpp x\nint a;\n\n```\nb", "c{cpp}:int a;| p:b");
  row("open fence", "```\na\n  b", "c:a|  b");
  row("longer fence", "````\n```\n````\nx", "c:``` p:x");
  row("inline fence", "```not a fence``` here", "p:not a fence here");
  row("fence ends text", "a\n```\nb\n```", "p:a c:b");
  row("indented", "    a\n\n      b\nc", "c:a||  b p:c");
  row("no indented", "a\n    b", "p:a|b");
  row("bullets", "- a\n- b\n  - c\n- d", "p/L(•):a p/L(•):b p/LL(•):c p/L(•):d");
  row("numbers", "3. a\n4. b\n\n   more", "p/L(3.):a p/L(4.):b p/L:more");
  row("numbers do not cut text", "in\n1984. it was", "p:in|1984. it was");
  row("one cuts text", "in\n1. it was", "p:in p/L(1.):it was");
  row("unindented code in list", "1. a\n```sh\nb\n```\n2. c", "p/L(1.):a c{sh}:b p/L(2.):c");
  row("code in list", "- a\n  ```\n  b\nc\n  ```\n- d", "p/L(•):a c/L:b|c p/L(•):d");
  row("tasks", "- [ ] a\n- [x] b\n- [y] c", "p/L(•)[ ]:a p/L(•)[x]:b p/L(•):[y] c");
  row("empty item", "-\n- a", "p/L(•): p/L(•):a");
  row("item of items", "- - a", "p/L(•): p/LL(•):a");
  row("quote", "> a\n> b\nc\n\nd", "p/Q:a|b|c p:d");
  row("quote in quote", "> a\n> > b", "p/Q:a p/QQ:b");
  row("list in quote", "> - a\n>   b\n> - c", "p/QL(•):a|b p/QL(•):c");
  row("code in quote", "> ```\n> a\n> ```\nb", "c/Q:a p:b");
  row("quote ends its code", "> ```\n> a\nb", "c/Q:a p:b");
  row("table", "| a | b |\n|---|--:|\n| 1 | 2 |\nx", "t:a+b|1+2 p:x");
  row("table of one dash", "a|b\n-|-\n1|2", "t:a+b|1+2");
  row("table behind text", "x\na|b\n-|-", "p:x t:a+b");
  row("no table", "a|b|c\n-|-", "p:a|b|c|-|-");
  row("odd rows", "a|b\n-|-\n1\n1|2|3|", "t:a+b p:1|1|2|3|");
  row("too many cells", "a|b\n-|-\n|1|2|3|", "t:a+b|1+2|3");
  row("html", "<div>\n\n<b>a</b>", "p:<div> p:<b>a</b>");
  row("definition stays", "[a]: http://x.y", "p:[a]: http://x.y");
  row("windows line ends", "a\r\nb\r\n\r\n```\r\nc\r\n```\r\n", "p:a|b c:c");
}

void TestMarkdownSplitter::blocks() {
  QFETCH(QString, source);
  QFETCH(QString, expected);
  QCOMPARE(shape(source.toStdString()), expected);
}

void TestMarkdownSplitter::anyCutsGiveTheSameBlocks() {
  std::mt19937 random(20240607);
  for (const std::string& text : corpus()) {
    const std::vector<Leaf> whole = split(text);
    for (int round = 0; round < 12; ++round) {
      BlockSplitter splitter;
      const int longest = round < 4 ? 1 + round : 1 + static_cast<int>(text.size() / 7);
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t size = 1 + random() % static_cast<unsigned>(longest);
        splitter.append(std::string_view(text).substr(at, size));
        if (random() % 16 == 0) splitter.finish();  // an answer that was continued
        at += size;
      }
      splitter.finish();
      QVERIFY2(splitter.leaves() == whole, text.substr(0, 60).c_str());
    }
  }
}

void TestMarkdownSplitter::everyPrefixEqualsItsWhole() {
  for (const std::string& text : corpus()) {
    if (text.size() > 2000) continue;
    BlockSplitter streamed;
    std::vector<Leaf> seen;
    for (std::size_t size = 1; size <= text.size(); ++size) {
      const std::size_t first = streamed.append(std::string_view(text).substr(size - 1, 1));
      BlockSplitter whole;
      whole.append(std::string_view(text).substr(0, size));
      QVERIFY2(streamed.leaves() == whole.leaves(), text.substr(0, size).c_str());
      // Leaves before the first one reported are as they were.
      QVERIFY(first <= seen.size() && first <= streamed.leaves().size());
      for (std::size_t i = 0; i < first; ++i)
        QVERIFY(seen[i] == streamed.leaves()[i]);
      seen = streamed.leaves();
    }
  }
}

void TestMarkdownSplitter::nothingIsLost() {
  for (const std::string& text : corpus()) {
    QString shown = shownText(split(text), text);
    // All letters and digits of the source are visible, but for addresses behind links and entity names.
    qsizetype at = 0;
    const bool hidesAddresses = text.find("](") != std::string::npos || text.find('&') != std::string::npos;
    if (hidesAddresses) continue;
    for (const QChar c : QString::fromStdString(text)) {
      if (!c.isLetterOrNumber()) continue;
      if (text.find("[x]") != std::string::npos && (c == u'x' || c == u'X')) continue;  // a ticked box
      at = shown.indexOf(c, at);
      QVERIFY2(at >= 0,
               qPrintable(u"lost '"_qs + c + u"' of "_qs + QString::fromStdString(text.substr(0, 80))));
      ++at;
    }
  }
}

void TestMarkdownSplitter::codeIsExact() {
  const std::string code = "int a;\t// x\n\n   b()  \r\n\"\\\"\xE2\x82\xAC\xF0\x9F\x98\x80 `~` \n\xFF\n";
  for (const std::string& fence : {std::string("```"), std::string("~~~~")}) {
    const std::string text = "before\n" + fence + "c\n" + code + fence + "\nafter";
    const std::vector<Leaf> leaves = split(text);
    QCOMPARE(leaves.size(), std::size_t{3});
    QVERIFY(leafBytes(leaves[1], text) == code);
  }
}

void TestMarkdownSplitter::undecidedLineWaits() {
  BlockSplitter splitter;
  splitter.append("Title\n--");
  QCOMPARE(splitter.leaves().size(), std::size_t{1});
  QCOMPARE(static_cast<int>(splitter.leaves()[0].kind), static_cast<int>(LeafKind::kParagraph));
  splitter.append(" text");
  QCOMPARE(splitter.leaves()[0].lines.size(), std::size_t{2});

  BlockSplitter ended;
  ended.append("Title\n--");
  ended.finish();
  QCOMPARE(static_cast<int>(ended.leaves()[0].kind), static_cast<int>(LeafKind::kHeading));
}

void TestMarkdownSplitter::hostile_data() {
  QTest::addColumn<QByteArray>("source");
  const auto row = [](const char* name, const std::string& text) {
    QTest::newRow(name) << QByteArray::fromStdString(text);
  };
  std::string deep;
  for (int i = 1; i <= 4000; ++i)
    deep += repeated(">", i % 200) + " level\n";
  row("4,000 quotes in lines", deep);
  row("4,000 quotes in one line", repeated("> ", 4000) + "x");
  row("100,000 >", repeated(">", 100000));
  row("8,000 items", repeated("- item\n", 8000));
  row("4,000 nested items", repeated("- ", 4000) + "x");
  row("1 MB line", repeated("abcdefg ", 131072));
  row("1 MB word", repeated("a", 1 << 20));
  row("1 MB code line", "```\n" + repeated("x = 1; ", 150000));
  row("1 MB of brackets", repeated("[", 1 << 20));
  row("1 MB of stars", repeated("*a ", 350000));
  row("1 MB of backticks", repeated("`", 1 << 20));
  row("backticks of all lengths", [] {
    std::string text;
    for (int i = 1; i < 1400; ++i)
      text += repeated("`", i) + " ";
    return text;
  }());
  row("links without end", repeated("[a](", 250000));
  row("images in images", repeated("![", 3000) + repeated("](http://a)", 3000));
  row("dollars", repeated("$a ", 300000));
  row("math without end", repeated("\\(", 500000));
  row("wide table", repeated("|a", 50000) + "\n" + repeated("|-", 50000) + "\n" + repeated("|b", 50000));
  row("long table", "a|b\n-|-\n" + repeated("1|2\n", 100000));
  row("empty lines", repeated("\n", 1 << 20));
  row("entities", repeated("&amp;", 200000));
  row("angle brackets", repeated("<a", 500000));
  row("zero bytes", std::string(1 << 20, '\0'));
}

void TestMarkdownSplitter::hostile() {
  QFETCH(QByteArray, source);
  const std::string text = source.toStdString();
  const std::int64_t begin = threadNanoseconds();
  const std::vector<Leaf> leaves = split(text);
  qsizetype shown = 0;
  for (const Leaf& leaf : leaves)
    shown += renderLeaf(leaf, text).text.size();
  const std::int64_t elapsed = (threadNanoseconds() - begin) / 1'000'000;
  QVERIFY2(elapsed < 400 * test::kSlowdown, qPrintable(QString::number(elapsed) + u" ms"_qs));
  QVERIFY(leaves.size() <= kMaxRichLeaves + kShownStep / 1000);
  for (const Leaf& leaf : leaves) {
    QVERIFY(leaf.bytes <= kMaxCode);
    QVERIFY(leaf.containers.size() <= kMaxDepth);
  }
  QVERIFY(shown <= source.size());
}

void TestMarkdownSplitter::hostileStreamed_data() {
  hostile_data();
}

// The same, as an answer of up to 8,000 pieces with the tail rendered each time.
void TestMarkdownSplitter::hostileStreamed() {
  QFETCH(QByteArray, source);
  const std::string text = source.left(32 << 10).toStdString();
  const std::size_t piece = std::max<std::size_t>(8, text.size() / 8000);
  const std::int64_t begin = threadNanoseconds();
  BlockSplitter splitter;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    splitter.append(std::string_view(text).substr(at, piece));
    if (!splitter.leaves().empty()) renderLeaf(splitter.leaves().back(), splitter.source());
  }
  splitter.finish();
  const std::int64_t elapsed = (threadNanoseconds() - begin) / 1'000'000;
  QVERIFY2(elapsed < 4000 * test::kSlowdown, qPrintable(QString::number(elapsed) + u" ms"_qs));
  QVERIFY(splitter.leaves() == split(text));
}

void TestMarkdownSplitter::budgets() {
  const std::string items = repeated("- item\n", 5000);
  const std::vector<Leaf> leaves = split(items);
  QCOMPARE(static_cast<int>(leaves[kMaxRichLeaves - 1].kind), static_cast<int>(LeafKind::kParagraph));
  QCOMPARE(static_cast<int>(leaves[kMaxRichLeaves].kind), static_cast<int>(LeafKind::kPlain));
  QCOMPARE(shownText(leaves, items).count(u"item"_qs), 5000);

  const std::string line = repeated("word ", 20000);
  const std::vector<Leaf> pieces = split(line);
  QVERIFY(pieces.size() > 20);
  QCOMPARE(static_cast<int>(pieces[0].kind), static_cast<int>(LeafKind::kParagraph));
  QVERIFY(pieces[1].continues);
  QCOMPARE(shownText(pieces, line).remove(u' ').size(), 20000 * 4);
}

void TestMarkdownSplitter::showMore() {
  const std::string text = repeated("A paragraph of some words.\n\n", 40000);
  BlockSplitter splitter;
  splitter.append(text);
  splitter.finish();
  QVERIFY(splitter.hiddenBytes() > 0);
  QVERIFY(splitter.hiddenBytes() < text.size());
  std::size_t before = splitter.hiddenBytes();
  while (splitter.hiddenBytes() > 0) {
    splitter.showMore();
    QVERIFY(splitter.hiddenBytes() < before);
    before = splitter.hiddenBytes();
  }
  QCOMPARE(shownText(splitter.leaves(), text).count(u"paragraph"_qs), 40000);
}

void TestMarkdownSplitter::manyLinesComeInParts() {
  const std::string text = "```\n" + repeated("\n", 20000) + "```\nend";
  BlockSplitter splitter;
  splitter.append(text);
  splitter.finish();
  QVERIFY(splitter.leaves().size() <= 1 + kShownLines / kMaxCodeLines);
  QCOMPARE(splitter.hiddenBytes(), text.size() - 4 - (kShownLines - 1));
  for (int i = 0; i < 3; ++i)
    splitter.showMore();
  QCOMPARE(splitter.hiddenBytes(), std::size_t{0});
  QVERIFY(renderLeaf(splitter.leaves().back(), text).text == u"end"_qs);
}

void TestMarkdownSplitter::plain() {
  const std::string text = "# no *title*\n\n- `x` <b>\n    ```\n";
  const std::vector<Leaf> leaves = split(text, true);
  QCOMPARE(leaves.size(), std::size_t{1});
  QCOMPARE(renderLeaf(leaves[0], text).text.toStdString() + "\n", text);
}

void TestMarkdownSplitter::streamingIsCheap_data() {
  QTest::addColumn<QByteArray>("source");
  QTest::newRow("typical") << QByteArray::fromStdString(test::typicalAnswer());
  QTest::newRow("one paragraph") << QByteArray::fromStdString(repeated("the *same* `words` again, ", 1500));
  QTest::newRow("one code block") << QByteArray::fromStdString("```c\n" +
                                                               repeated("  x = f(1);  // y\n", 2200));
}

// 8,000 tokens of 4.5 bytes, one by one; what changed is rendered each time.
void TestMarkdownSplitter::streamingIsCheap() {
  QFETCH(QByteArray, source);
  const std::string text = source.left(36000).toStdString();
  QCOMPARE(text.size(), std::size_t{36000});
  std::vector<std::int64_t> times;
  MarkdownMessage message;
  for (qsizetype token = 0; token < 8000; ++token) {
    const QByteArray piece = source.mid(token * 9 / 2, 4 + token % 2);
    const std::int64_t begin = threadNanoseconds();
    message.append(piece);
    message.blocks()->rendered(message.blocks()->blockCount() - 1);
    times.push_back(threadNanoseconds() - begin);
  }
  const double total =
      static_cast<double>(std::accumulate(times.begin(), times.end(), std::int64_t{0})) / 1e6;
  std::sort(times.begin(), times.end());
  const auto at = [&](std::size_t index) { return static_cast<double>(times[index]) / 1e6; };
  qInfo("8,000 tokens: %.0f ms, median %.3f ms, 99.9 %% under %.3f ms, worst %.3f ms", total, at(4000),
        at(7991), at(7999));
  QVERIFY(total < 600 * test::kSlowdown);
  QVERIFY(at(7991) < 2 * test::kSlowdown);
}

QTEST_GUILESS_MAIN(TestMarkdownSplitter)
#include "test_markdown_splitter.moc"
