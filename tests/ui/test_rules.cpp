// Rules the QML sources keep: every text element says that it is plain, and nothing names a remote address.
#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QTest>

namespace tandem::testing {

class TestRules : public QObject {
  Q_OBJECT

 private slots:
  void everyTextElementIsPlain() {
    // An element's own lines: from its opening brace to the matching one.
    static const QRegularExpression element(
        QStringLiteral("\\b(?:T\\.)?(Text|Label|TextEdit|TextArea)\\s*\\{"));
    int elements = 0;
    for (const QString& file : sources()) {
      const QString text = read(file);
      for (auto match = element.globalMatch(text); match.hasNext();) {
        const qsizetype open = match.next().capturedEnd();
        ++elements;
        QVERIFY2(body(text, open).contains(QStringLiteral(".PlainText")), qPrintable(file));
      }
      QVERIFY2(!text.contains(QStringLiteral("RichText")) && !text.contains(QStringLiteral("StyledText")) &&
                   !text.contains(QStringLiteral("MarkdownText")) &&
                   !text.contains(QStringLiteral("AutoText")),
               qPrintable(file));
    }
    QVERIFY2(elements >= 6, qPrintable(QString::number(elements)));
  }

  // Controls draw their text through a content item of ours: the styles' own would read markup.
  void noControlUsesItsOwnText() {
    static const QRegularExpression import(QStringLiteral("import QtQuick\\.Controls"));
    for (const QString& file : sources()) {
      QVERIFY2(!read(file).contains(import), qPrintable(file));
    }
  }

  void nothingRemote() {
    for (const QString& file : sources()) {
      QVERIFY2(
          !read(file).contains(QStringLiteral("http:")) && !read(file).contains(QStringLiteral("https:")),
          qPrintable(file));
    }
  }

 private:
  static QStringList sources() {
    QStringList files;
    QDirIterator it(QStringLiteral(TANDEM_SOURCES "/ui"), {QStringLiteral("*.qml")}, QDir::Files,
                    QDirIterator::Subdirectories);
    while (it.hasNext()) {
      files << it.next();
    }
    return files;
  }

  static QString read(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
  }

  static QString body(const QString& text, qsizetype open) {
    int depth = 1;
    qsizetype at = open;
    for (; at < text.size() && depth > 0; ++at) {
      depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
    }
    return text.mid(open, at - open);
  }
};

}  // namespace tandem::testing

QTEST_GUILESS_MAIN(tandem::testing::TestRules)

#include "test_rules.moc"
