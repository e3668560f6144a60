#include <QAbstractItemModelTester>
#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTest>
#include <random>

#include "tests/markdown/corpus.h"
#include "ui/markdown/markdown_message.h"

using namespace tandem::markdown;
using test::corpus;
using test::repeated;

namespace {

// The tints of a whole message, as "origin:text" in order.
QString tinted(MarkdownMessage& message) {
  QStringList out;
  for (int row = 0; row < message.blocks()->blockCount(); ++row) {
    const RenderedBlock& block = message.blocks()->rendered(row);
    for (const TintSpan& span : tintSpans(block, message.source(), message.origins())) {
      out << QString::number(span.origin) + u':' + block.text.mid(span.start, span.length);
    }
  }
  return out.join(u" | "_qs);
}

QStringList visible(MarkdownMessage& message) {
  QStringList out;
  for (int row = 0; row < message.blocks()->blockCount(); ++row)
    out << message.blocks()->rendered(row).text;
  return out;
}

}  // namespace

class TestMarkdownMessage : public QObject {
  Q_OBJECT

 private slots:
  void tints_data();
  void tints();
  void tintsWhileStreaming();
  void tintsCoverAllTheyCan();
  void originsMayComeLater();
  void textIsKeptExactly();
  void codeText();
  void codeTextOfLongCode();
  void modelStaysConsistent();
  void streamedEqualsWhole();
  void growingCodeEqualsWhole();
  void onlyTheTailChanges();
  void rowsComeInPortions();
  void plain();
  void rightToLeft();
  void lexStateGoesOn();
};

void TestMarkdownMessage::tints_data() {
  QTest::addColumn<QByteArray>("source");
  QTest::addColumn<QList<int>>("runs");  // bytes and origin in turn
  QTest::addColumn<QString>("expected");
  QTest::newRow("plain text") << QByteArray("abcdef") << QList<int>{2, 0, 2, 1, 2, 2} << u"1:cd | 2:ef"_qs;
  QTest::newRow("markup has none") << QByteArray("a **b** c") << QList<int>{9, 1} << u"1:a b c"_qs;
  QTest::newRow("run ends in markup")
      << QByteArray("**bold** x") << QList<int>{3, 1, 7, 2} << u"1:b | 2:old x"_qs;
  QTest::newRow("code") << QByteArray("```c\nint a;\nb;\n```\n") << QList<int>{9, 0, 5, 1, 5, 2}
                        << u"1:a;\nb; | 2:"_qs.left(7);
  QTest::newRow("wide characters") << QByteArray("ä€😀x") << QList<int>{2, 0, 3, 1, 4, 2, 1, 3}
                                   << u"1:€ | 2:😀 | 3:x"_qs;
  QTest::newRow("half a character") << QByteArray("a€b") << QList<int>{2, 1, 3, 2} << u"1:a€ | 2:b"_qs;
  QTest::newRow("quote and list") << QByteArray("> - ab\n>   cd\n") << QList<int>{14, 1}
                                  << QString(u"1:ab"_qs + QChar::LineSeparator + u"cd"_qs);
  QTest::newRow("table") << QByteArray("a|b\n-|-\ncc|d\n") << QList<int>{9, 0, 3, 1, 1, 0} << u"1:c | 1:d"_qs;
  QTest::newRow("link") << QByteArray("[ab](http://x.y) c") << QList<int>{2, 0, 1, 1, 15, 0} << u"1:b"_qs;
  QTest::newRow("entity") << QByteArray("a &amp; b") << QList<int>{2, 0, 5, 1, 2, 0} << u"1:&"_qs;
  QTest::newRow("short runs") << QByteArray("abcdef") << QList<int>{1, 1} << u"1:a"_qs;
}

void TestMarkdownMessage::tints() {
  QFETCH(QByteArray, source);
  QFETCH(QList<int>, runs);
  QFETCH(QString, expected);
  std::vector<OriginRun> origins;
  for (qsizetype i = 0; i < runs.size(); i += 2)
    origins.push_back({runs[i], runs[i + 1]});
  MarkdownMessage message;
  message.setSource(source, origins);
  QCOMPARE(tinted(message), expected);
}

void TestMarkdownMessage::tintsWhileStreaming() {
  MarkdownMessage message;
  message.append(QByteArray("Walk "), 0);
  message.append(QByteArray("the **vec"), 1);
  message.append(QByteArray("tor** on"), 1);
  message.append(QByteArray("ce\n\n"), 3);
  message.append(QByteArray("```c\nint"), 0);
  message.append(QByteArray(" x;"), 1);
  QCOMPARE(tinted(message), u"1:the vector on | 3:ce | 1: x;"_qs);
}

// Every byte has an origin: then every visible character of the source has a tint.
void TestMarkdownMessage::tintsCoverAllTheyCan() {
  for (const std::string& text : corpus()) {
    MarkdownMessage message;
    message.setSource(QByteArray::fromStdString(text), {{static_cast<qsizetype>(text.size()), 1}});
    for (int row = 0; row < message.blocks()->blockCount(); ++row) {
      const RenderedBlock& block = message.blocks()->rendered(row);
      int covered = 0;
      int expected = 0;
      for (const TintSpan& span : tintSpans(block, message.source(), message.origins())) {
        QVERIFY(span.start >= 0 && span.start + span.length <= block.text.size());
        covered += span.length;
      }
      for (const TextRun& run : block.runs) {
        if (run.source.size() > 0) expected += run.length;
      }
      QCOMPARE(covered, expected);
    }
  }
}

void TestMarkdownMessage::originsMayComeLater() {
  MarkdownMessage message;
  message.setText(u"abc"_qs);
  QCOMPARE(tinted(message), QString());
  QSignalSpy spy(&message, &MarkdownMessage::originsChanged);
  message.setOrigins({{1, 0}, {1, 2}});
  QCOMPARE(spy.count(), 1);
  QCOMPARE(tinted(message), u"2:b"_qs);
  message.append(QByteArray("d"), 1);
  QCOMPARE(tinted(message), u"2:b | 1:d"_qs);
}

void TestMarkdownMessage::textIsKeptExactly() {
  for (const std::string& text : corpus()) {
    MarkdownMessage message;
    for (std::size_t at = 0; at < text.size(); at += 3)
      message.append(QByteArray::fromStdString(text.substr(at, 3)));
    QVERIFY(message.source() == text);
  }
}

void TestMarkdownMessage::codeText() {
  MarkdownMessage message;
  message.setText(u"a\n\n> ```py\n> x = 1\n>\n>   y\n> ```\n\n```\nlast\n\n```\n```\n```\n"_qs);
  QCOMPARE(message.blocks()->blockCount(), 4);
  QCOMPARE(message.codeText(1), u"x = 1\n\n  y"_qs);
  QCOMPARE(message.codeText(2), u"last\n"_qs);
  QCOMPARE(message.codeText(3), QString());
  QCOMPARE(message.codeText(9), QString());
}

void TestMarkdownMessage::codeTextOfLongCode() {
  const QString code = QString::fromStdString(repeated("int a = 1; /* x\n*/ \n", 7000));
  MarkdownMessage message;
  message.setText(u"```c\n"_qs + code + u"```\nend"_qs);
  QVERIFY(message.blocks()->blockCount() > 3);
  QVERIFY(message.hiddenBytes() > 0);
  const QString expected = code.left(code.size() - 1);
  QCOMPARE(message.codeText(0), expected);
  QCOMPARE(message.codeText(2), expected);
}

void TestMarkdownMessage::modelStaysConsistent() {
  MarkdownMessage message;
  QAbstractItemModelTester tester(message.blocks(), QAbstractItemModelTester::FailureReportingMode::QtTest);
  std::mt19937 random(7);
  for (const std::string& text : corpus()) {
    message.clear();
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + random() % 40;
      message.append(QByteArray::fromStdString(text.substr(at, size)));
      at += size;
    }
    message.finish();
    const auto all = [&] { return message.blocks()->rowCount() == message.blocks()->blockCount(); };
    QTRY_VERIFY(all());
  }
}

void TestMarkdownMessage::streamedEqualsWhole() {
  std::mt19937 random(11);
  for (const std::string& text : corpus()) {
    MarkdownMessage whole;
    whole.setSource(QByteArray::fromStdString(text));
    MarkdownMessage streamed;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + random() % 300;
      streamed.append(QByteArray::fromStdString(text.substr(at, size)));
      visible(streamed);
      at += size;
    }
    streamed.finish();
    QCOMPARE(visible(streamed), visible(whole));
  }
}

// Code is rendered from its last line on; the result must be that of rendering it whole.
void TestMarkdownMessage::growingCodeEqualsWhole() {
  const std::string text = "```c\r\n\n\n  a\r\n\nb\n\n\n\n```\n";
  MarkdownMessage streamed;
  for (std::size_t size = 1; size <= text.size(); ++size) {
    streamed.append(QByteArray(1, text[size - 1]));
    visible(streamed);
    BlockSplitter whole;
    whole.append(std::string_view(text).substr(0, size));
    QCOMPARE(streamed.blocks()->blockCount(), static_cast<int>(whole.leaves().size()));
    for (std::size_t i = 0; i < whole.leaves().size(); ++i) {
      const RenderedBlock expected = renderLeaf(whole.leaves()[i], whole.source());
      const RenderedBlock& actual = streamed.blocks()->rendered(static_cast<int>(i));
      QCOMPARE(actual.text, expected.text);
      QCOMPARE(actual.runs.size(), expected.runs.size());
      for (std::size_t run = 0; run < expected.runs.size(); ++run) {
        QVERIFY(actual.runs[run].sameLook(expected.runs[run]));
        QVERIFY(actual.runs[run].source == expected.runs[run].source);
      }
    }
  }
}

void TestMarkdownMessage::onlyTheTailChanges() {
  MarkdownMessage message;
  message.append(QByteArray("# A\n\nfirst\n\nsecond"));
  QSignalSpy changes(message.blocks(), &QAbstractItemModel::dataChanged);
  QSignalSpy resets(message.blocks(), &QAbstractItemModel::modelReset);
  for (int i = 0; i < 50; ++i)
    message.append(QByteArray(" more"));
  QCOMPARE(changes.count(), 50);
  for (const QList<QVariant>& change : changes) {
    QCOMPARE(change.at(0).toModelIndex().row(), 2);
    QCOMPARE(change.at(2).value<QList<int>>(), QList<int>{BlockModel::kRevision});
  }
  QCOMPARE(resets.count(), 0);
}

void TestMarkdownMessage::rowsComeInPortions() {
  MarkdownMessage message;
  message.setText(QString::fromStdString(repeated("- item\n", 450)));
  QVERIFY(message.blocks()->rowCount() < 60);
  QTRY_COMPARE(message.blocks()->rowCount(), 450);
}

void TestMarkdownMessage::plain() {
  MarkdownMessage message;
  message.setText(u"# *a*\n<b>"_qs);
  QCOMPARE(visible(message), (QStringList{u"a"_qs, u"<b>"_qs}));
  message.setPlain(true);
  QCOMPARE(visible(message), QStringList{u"# *a*\n<b>"_qs});
  QVERIFY(message.isFinished());
  const QFont font;
  QVERIFY(message.naturalWidth(font) > 0);
}

void TestMarkdownMessage::rightToLeft() {
  MarkdownMessage message;
  message.setText(u"abc עברית\n\n123 עברית abc\n\n- مرحبا\n\n```\nעברית\n```"_qs);
  QVERIFY(!message.blocks()->rendered(0).rightToLeft);
  QVERIFY(message.blocks()->rendered(1).rightToLeft);
  QVERIFY(message.blocks()->rendered(2).rightToLeft);
  QVERIFY(!message.blocks()->rendered(3).rightToLeft);
}

// A comment that is open where a long block is cut is still open in the next piece.
void TestMarkdownMessage::lexStateGoesOn() {
  MarkdownMessage message;
  message.setText(u"```c\nint a; /*\n"_qs + QString::fromStdString(repeated("comment\n", 900)) + u"```"_qs);
  QVERIFY(message.blocks()->blockCount() >= 3);
  QCOMPARE(message.blocks()->lexStateBefore(0), 0);
  QVERIFY(message.blocks()->lexStateBefore(1) != 0);
  QCOMPARE(message.blocks()->lexStateBefore(2), message.blocks()->lexStateBefore(1));
}

QTEST_MAIN(TestMarkdownMessage)
#include "test_markdown_message.moc"
