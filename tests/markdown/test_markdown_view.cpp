// MessageBody in a real window on the offscreen platform: what it costs, what it survives, what it never
// fetches.
#include <QGuiApplication>
#include <QQmlEngine>
#include <QQuickItem>
#include <QQuickTextDocument>
#include <QQuickView>
#include <QSignalSpy>
#include <QTcpServer>
#include <QTest>
#include <QTextBlock>
#include <QTextDocument>
#include <QTextLayout>
#include <algorithm>
#include <numeric>

#include "tests/markdown/corpus.h"
#include "ui/markdown/markdown_message.h"
#include "ui/markdown/tint_layer.h"

using namespace tandem::markdown;
using test::corpus;
using test::repeated;
using test::threadNanoseconds;

namespace {

constexpr int kWidth = 760;

template <typename T>
QList<T*> descendants(QQuickItem* item) {
  QList<T*> found;
  for (QQuickItem* child : item->childItems()) {
    if (auto* match = qobject_cast<T*>(child)) found << match;
    found << descendants<T>(child);
  }
  return found;
}

// The documents of all text edits below `item`, from top to bottom.
QList<QTextDocument*> documents(QQuickItem* item) {
  QList<QTextDocument*> found;
  for (QQuickItem* child : descendants<QQuickItem>(item)) {
    const QVariant document = child->property("textDocument");
    if (auto* quick = document.value<QQuickTextDocument*>()) found << quick->textDocument();
  }
  return found;
}

QString documentText(QQuickItem* item) {
  QString text;
  for (QTextDocument* document : documents(item))
    text += document->toPlainText() + u'\n';
  return text;
}

}  // namespace

class TestMarkdownView : public QObject {
  Q_OBJECT

 private slots:
  void init();
  void cleanup();
  void showsAllText();
  void documentsFollowTheStream();
  void selectionStaysWhileStreaming();
  void longMessageComesWhole();
  void hostile_data();
  void hostile();
  void nothingIsFetched();
  void tints();
  void rightToLeftAligns();
  void wideTextWraps();
  void colorsChange();
  void streamingIsCheap_data();
  void streamingIsCheap();
  void openingIsCheap();

 private:
  // True when the positions of all blocks are up to date: their column has the height of what is in it.
  bool settled() const;

  MarkdownMessage message_;
  std::unique_ptr<QQuickView> view_;
  QQuickItem* body_ = nullptr;
};

void TestMarkdownView::init() {
  message_.setPlain(false);
  message_.clear();
  view_ = std::make_unique<QQuickView>();
  view_->engine()->addImportPath(u":/qt/qml"_qs);
  view_->setInitialProperties({{u"message"_qs, QVariant::fromValue(&message_)}});
  view_->setSource(QUrl(u"qrc:/qt/qml/Tandem/Markdown/MessageBody.qml"_qs));
  QCOMPARE(view_->status(), QQuickView::Ready);
  view_->setResizeMode(QQuickView::SizeRootObjectToView);
  view_->resize(kWidth, 800);
  body_ = view_->rootObject();
  view_->show();
  QVERIFY(QTest::qWaitForWindowExposed(view_.get()));
}

bool TestMarkdownView::settled() const {
  QCoreApplication::processEvents();
  if (message_.blocks()->rowCount() < message_.blocks()->blockCount()) return false;
  double sum = 0;
  for (QQuickItem* row : body_->childItems().first()->childItems())
    sum += row->isVisible() ? row->height() : 0;
  return qFuzzyCompare(1 + sum, 1 + body_->implicitHeight());
}

void TestMarkdownView::cleanup() {
  view_.reset();
}

void TestMarkdownView::showsAllText() {
  for (const std::string& text : corpus()) {
    message_.setSource(QByteArray::fromStdString(text));
    const auto shown = [&] { return message_.blocks()->rowCount() == message_.blocks()->blockCount(); };
    QTRY_VERIFY(shown());
    QString expected;
    for (int row = 0; row < message_.blocks()->blockCount(); ++row) {
      if (message_.blocks()->leaf(row).kind == LeafKind::kRule) continue;
      expected += message_.blocks()->rendered(row).text + u'\n';
    }
    QString actual = documentText(body_);
    // A table's document has empty lines around it and other marks between its cells.
    for (QString* one : {&expected, &actual}) {
      one->replace(QChar::LineSeparator, u'\n').replace(QChar::Nbsp, u' ');
      one->removeIf([](QChar c) { return c == u'\n' || c == u'\t'; });
    }
    QCOMPARE(actual, expected);
  }
}

// After every step the documents hold what they would hold had the text come at once.
void TestMarkdownView::documentsFollowTheStream() {
  for (const std::string& text : corpus()) {
    if (text.size() > 2000) continue;
    message_.clear();
    for (std::size_t at = 0; at < text.size(); at += 5) {
      message_.append(QByteArray::fromStdString(text.substr(at, 5)));
    }
    message_.finish();
    const QString streamed = documentText(body_);
    QVERIFY(QTest::qWaitFor([&] { return settled(); }));
    const double height = body_->implicitHeight();
    QStringList streamedHtml;
    for (QTextDocument* document : documents(body_))
      streamedHtml << document->toHtml();
    message_.setSource(QByteArray::fromStdString(text));
    QCOMPARE(streamed, documentText(body_));
    QStringList wholeHtml;
    for (QTextDocument* document : documents(body_))
      wholeHtml << document->toHtml();
    QCOMPARE(streamedHtml, wholeHtml);
    QVERIFY(QTest::qWaitFor([&] { return settled(); }));
    QCOMPARE(body_->implicitHeight(), height);
  }
}

void TestMarkdownView::selectionStaysWhileStreaming() {
  message_.append(QByteArray("Some words to select, and **more"));
  QQuickItem* edit = nullptr;
  for (QQuickItem* item : descendants<QQuickItem>(body_)) {
    if (item->inherits("QQuickTextEdit")) edit = item;
  }
  QVERIFY(edit);
  QMetaObject::invokeMethod(edit, "select", Q_ARG(int, 5), Q_ARG(int, 10));
  QVERIFY(body_->property("hasSelection").toBool());
  message_.append(QByteArray("** words\n\nand a paragraph"));
  QCOMPARE(edit->property("selectedText").toString(), u"words"_qs);
}

void TestMarkdownView::longMessageComesWhole() {
  message_.setText(QString::fromStdString(repeated("A paragraph of text.\n\n", 480)));
  QVERIFY(documents(body_).size() < 60);
  QTRY_COMPARE(documents(body_).size(), 480);
  const double height = body_->implicitHeight();
  QVERIFY(height > 480 * 20);
}

void TestMarkdownView::hostile_data() {
  QTest::addColumn<QByteArray>("source");
  const auto row = [](const char* name, const std::string& text) {
    QTest::newRow(name) << QByteArray::fromStdString(text);
  };
  row("4,000 quotes", repeated("> ", 4000) + "x");
  row("100,000 >", repeated(">", 100000));
  row("8,000 items", repeated("- item\n", 8000));
  row("1 MB word", repeated("a", 1 << 20));
  row("1 MB code line", "```\n" + repeated("x = 1; ", 150000));
  row("1 MB code lines", "```c\n" + repeated("x = 1; /* y */\n", 70000));
  row("long table", "a|b\n-|-\n" + repeated("1|2\n", 10000));
  row("wide table",
      repeated("|a", 16) + "\n" + repeated("|-", 16) + "\n" + repeated(repeated("|b c", 16) + "\n", 99));
  row("empty lines", "```\n" + repeated("\n", 100000));
  row("special characters",
      repeated("\xEF\xB7\x90\xEF\xB7\x91\xE2\x80\xA9\xE2\x80\xA8\xEF\xBF\xBC\r\v", 3000));
  row("combining marks", "e" + repeated("\xCC\x81", 20000));
  row("direction marks", repeated("\xE2\x80\xAE\xE2\x80\xAB", 5000));
}

// Everything is shown in the end, and no step holds the thread for long.
void TestMarkdownView::hostile() {
  QFETCH(QByteArray, source);
  std::int64_t worst = 0;
  const auto measured = [&worst](auto step) {
    const std::int64_t begin = threadNanoseconds();
    step();
    worst = std::max(worst, threadNanoseconds() - begin);
  };
  measured([&] { message_.setSource(source); });
  const auto shown = [&] {
    measured([] { QCoreApplication::processEvents(); });
    return message_.blocks()->rowCount() == message_.blocks()->blockCount();
  };
  QTRY_VERIFY_WITH_TIMEOUT(shown(), 60000);
  qInfo("worst step %.0f ms", static_cast<double>(worst) / 1e6);
  QVERIFY(worst < test::kSlowdown * 200'000'000LL);
}

void TestMarkdownView::nothingIsFetched() {
  QTcpServer server;
  QVERIFY(server.listen(QHostAddress::LocalHost));
  QSignalSpy connections(&server, &QTcpServer::newConnection);
  const QString address = u"http://127.0.0.1:%1/i.png"_qs.arg(server.serverPort());
  const QString image = u"![i](%1)"_qs.arg(address);
  const QString tag = u"<img src=\"%1\">"_qs.arg(address);
  const QString text =
      u"%1\n\n%2\n\n# %2\n\n- %1 %2\n\n> %2\n\n```%2\n%2\n```\n\na|b\n-|-\n%1|%2\n\n"
      "[x][y]\n\n[y]: %3\n\n<style>@import url(%3)</style>\n"_qs.arg(image, tag, address);
  message_.setText(text);
  QTest::qWait(300);
  message_.setPlain(true);
  QTest::qWait(200);
  QCOMPARE(connections.count(), 0);

  // The same server notices a text that does fetch.
  QQmlComponent fetching(view_->engine());
  fetching.setData("import QtQuick\nText { property string tag; text: tag }", QUrl());
  std::unique_ptr<QObject> item(fetching.createWithInitialProperties({{u"tag"_qs, tag}}));
  QVERIFY(item);
  QTRY_VERIFY(connections.count() > 0);
}

void TestMarkdownView::tints() {
  message_.setSource("Walk **the** `vec` on\n\n```c\nint a;\nint b;\n```\n",
                     {{5, 0}, {9, 1}, {9, 2}, {8, 0}, {8, 1}, {100, 2}});
  const QList<TintLayer*> layers = descendants<TintLayer>(body_);
  QCOMPARE(layers.size(), 2);
  QTRY_COMPARE(layers[0]->plateCount(), 1);  // the inline code
  QCOMPARE(layers[1]->plateCount(), 0);
  QSignalSpy changes(message_.blocks(), &QAbstractItemModel::dataChanged);
  body_->setProperty("showOrigins", true);
  QTRY_COMPARE(layers[0]->plateCount(), 3);
  QTRY_VERIFY(layers[1]->plateCount() >= 2);
  QCOMPARE(changes.count(), 0);
  double right = 0;
  for (const TintLayer::Plate& plate : layers[0]->plates()) {
    if (plate.origin == 0) continue;
    QVERIFY(plate.box.width() > 4 && plate.box.height() > 10);
    QVERIFY(plate.box.left() >= right - 6);
    right = plate.box.right();
  }
  body_->setProperty("showOrigins", false);
  QTRY_COMPARE(layers[1]->plateCount(), 0);
}

void TestMarkdownView::rightToLeftAligns() {
  message_.setText(u"Left to right.\n\nمرحبا بالعالم\n"_qs);
  const QList<QTextDocument*> shown = documents(body_);
  QCOMPARE(shown.size(), 2);
  QCoreApplication::processEvents();
  const auto line = [&](int index) { return shown[index]->begin().layout()->lineAt(0).naturalTextRect(); };
  QVERIFY(line(0).left() < 1);
  QVERIFY(line(1).left() > kWidth / 2);
  QVERIFY(line(1).right() > kWidth - 4);
}

void TestMarkdownView::wideTextWraps() {
  message_.setText(QString(400, QChar(0x4E2D)) + u"\n\n"_qs + QString(400, u'a'));
  QCoreApplication::processEvents();
  for (QTextDocument* document : documents(body_)) {
    QVERIFY(document->begin().layout()->lineCount() > 3);
    QVERIFY(document->size().width() <= kWidth + 1);
  }
}

void TestMarkdownView::colorsChange() {
  message_.setText(u"a [link](http://x.y)\n\n```c\nint a;\n```\n"_qs);
  const auto linkColor = [&] {
    QTextBlock block = documents(body_)[0]->begin();
    for (auto part = block.begin(); !part.atEnd(); ++part) {
      if (part.fragment().charFormat().isAnchor()) return part.fragment().charFormat().foreground().color();
    }
    return QColor();
  };
  const auto keywordColor = [&] {
    const auto formats = documents(body_)[1]->begin().layout()->formats();
    return formats.isEmpty() ? QColor() : formats[0].format.foreground().color();
  };
  const QColor darkLink = linkColor();
  const QColor darkKeyword = keywordColor();
  QVERIFY(darkLink.isValid() && darkKeyword.isValid());
  body_->property("colors").value<QObject*>()->setProperty("dark", false);
  QVERIFY(linkColor() != darkLink);
  QVERIFY(keywordColor().isValid() && keywordColor() != darkKeyword);
}

void TestMarkdownView::streamingIsCheap_data() {
  QTest::addColumn<QByteArray>("source");
  QTest::addColumn<bool>("tinted");
  const auto typical = QByteArray::fromStdString(test::typicalAnswer());
  QTest::newRow("typical") << typical << false;
  QTest::newRow("typical, tinted") << typical << true;
  QTest::newRow("one code block") << QByteArray::fromStdString("```c\n" +
                                                               repeated("  x = f(1);  // y\n", 2200))
                                  << false;
  QTest::newRow("one table") << QByteArray::fromStdString("a|b\n-|-\n" + repeated("some words|12\n", 700))
                             << false;
}

// 8,000 tokens, each with the layout of its block; what is painted comes on top, once a frame.
void TestMarkdownView::streamingIsCheap() {
  QFETCH(QByteArray, source);
  QFETCH(bool, tinted);
  body_->setProperty("showOrigins", tinted);
  std::vector<std::int64_t> times;
  const qsizetype tokens = std::min<qsizetype>(8000, source.size() * 2 / 9);
  for (qsizetype token = 0; token < tokens; ++token) {
    const QByteArray piece = source.mid(token * 9 / 2, 4 + token % 2);
    const std::int64_t begin = threadNanoseconds();
    message_.append(piece, token % 3 == 0 ? 1 : 0);
    times.push_back(threadNanoseconds() - begin);
    if (token % 33 == 0) QCoreApplication::processEvents();
  }
  const double total =
      static_cast<double>(std::accumulate(times.begin(), times.end(), std::int64_t{0})) / 1e6;
  std::sort(times.begin(), times.end());
  const auto part = [&](double share) {
    return static_cast<double>(
               times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))]) /
           1e6;
  };
  qInfo("%d tokens into the window: %.0f ms, median %.3f ms, 99 %% under %.3f ms, worst %.3f ms",
        static_cast<int>(tokens), total, part(0.5), part(0.99), part(1));
  QVERIFY(total < static_cast<double>(tokens * test::kSlowdown));
  QVERIFY(part(0.99) < 12 * test::kSlowdown);
}

void TestMarkdownView::openingIsCheap() {
  const QByteArray source = QByteArray::fromStdString(test::typicalAnswer());
  std::int64_t worst = 0;
  int steps = 0;
  std::int64_t begin = threadNanoseconds();
  const std::int64_t first = begin;
  message_.setSource(source);
  worst = threadNanoseconds() - begin;
  while (message_.blocks()->rowCount() < message_.blocks()->blockCount()) {
    begin = threadNanoseconds();
    QCoreApplication::processEvents();
    const std::int64_t step = threadNanoseconds() - begin;
    if (step > 1'000'000) ++steps;
    worst = std::max(worst, step);
    QTest::qSleep(1);
  }
  qInfo("40 kB opened in %.0f ms of work, %d steps, worst %.1f ms",
        static_cast<double>(threadNanoseconds() - first) / 1e6, steps, static_cast<double>(worst) / 1e6);
  QVERIFY(worst < test::kSlowdown * 100'000'000LL);
}

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  if (!qEnvironmentVariableIsSet("QT_QUICK_BACKEND")) qputenv("QT_QUICK_BACKEND", "software");
  QGuiApplication app(argc, argv);
  TestMarkdownView test;
  return QTest::qExec(&test, argc, argv);
}

#include "test_markdown_view.moc"
