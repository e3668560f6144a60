#include <QTest>

#include "ui/markdown/code_lexer.h"

using namespace tandem::markdown;

namespace {

// Each coloured span as letter:text, lines split by " / ".
QString coloured(const QString& language, const QString& code) {
  const CodeLanguage* found = findLanguage(language);
  if (!found) return u"unknown"_qs;
  static const char kLetters[] = "ktsncf";
  QStringList lines;
  int state = 0;
  const QStringList source = code.split(u'\n');
  for (const QString& line : source) {
    std::vector<CodeSpan> spans;
    state = lexLine(*found, line, state, spans);
    QStringList words;
    for (const CodeSpan& span : spans) {
      words << QChar::fromLatin1(kLetters[static_cast<int>(span.token)]) + u':' +
                   line.mid(span.start, span.length);
    }
    lines << words.join(u' ');
  }
  return lines.join(u" / "_qs);
}

}  // namespace

class TestMarkdownLexer : public QObject {
  Q_OBJECT

 private slots:
  void colours_data();
  void colours();
  void names();
  void spansStayInTheLine();
};

void TestMarkdownLexer::colours_data() {
  QTest::addColumn<QString>("language");
  QTest::addColumn<QString>("code");
  QTest::addColumn<QString>("expected");
  const auto row = [](const char* language, const char* code, const char* expected) {
    QTest::newRow(language) << QString::fromUtf8(language) << QString::fromUtf8(code)
                            << QString::fromUtf8(expected);
  };
  row("cpp", "int f(\"a\\\"b\", 'c', 0x1F, 1'000.5f); // x",
      "t:int f:f s:\"a\\\"b\" s:'c' n:0x1F n:1'000.5f c:// x");
  row("c", "/* a\nb */ return 1;", "c:/* a / c:b */ k:return n:1");
  row("python", "def f(x): # c\n  \"\"\"doc\n  end\"\"\" + 'x'",
      "k:def f:f c:# c / s:\"\"\"doc / s:  end\"\"\" s:'x'");
  row("ts", "const a = `x\ny`; f(1)", "k:const s:`x / s:y` f:f n:1");
  row("rust", "fn main() { let s: &'a str = \"x\"; }", "k:fn f:main k:let t:str s:\"x\"");
  row("go", "func f() error { return nil }", "k:func f:f t:error k:return k:nil");
  row("java", "public class A { String s = \"x\"; }", "k:public k:class t:String s:\"x\"");
  row("bash", "if [ \"$A\" ]; then echo ${#B}; fi # c", "k:if s:\"$A\" k:then t:echo k:fi c:# c");
  row("json", "{\"a\": \"b\", \"c\": 1.5, \"d\": null}", "t:\"a\" s:\"b\" t:\"c\" n:1.5 t:\"d\" k:null");
  row("html", "<!-- a --><p class=\"b\">for if</p>", "c:<!-- a --> k:p t:class s:\"b\" k:p");
  row("css", ".a { color: red; /* x */ width: 10px }", "t:color c:/* x */ t:width n:10px");
  row("sql", "SELECT count(*) FROM t WHERE a = 'x' -- c", "k:SELECT f:count k:FROM k:WHERE s:'x' c:-- c");
  row("yaml", "a-b: \"c\" # d\n- e: true", "t:a-b s:\"c\" c:# d / t:e k:true");
}

void TestMarkdownLexer::colours() {
  QFETCH(QString, language);
  QFETCH(QString, code);
  QFETCH(QString, expected);
  QCOMPARE(coloured(language, code), expected);
}

void TestMarkdownLexer::names() {
  QVERIFY(findLanguage(u"C++") == findLanguage(u"cpp"));
  QVERIFY(findLanguage(u"TypeScript") == findLanguage(u"js"));
  QVERIFY(findLanguage(u"py") != nullptr);
  QVERIFY(findLanguage(u"") == nullptr);
  QVERIFY(findLanguage(u"brainfuck") == nullptr);
}

// Whatever is written, every span lies in its line and none overlaps the one before.
void TestMarkdownLexer::spansStayInTheLine() {
  const QString nasty =
      u"\"\\\n'\\\n/*\n*/ \"\"\" ''' ` <!-- <a b=\"c\n> --> 1e+ 0x 1. .5 _ $ # // -- \\\n\\"_qs;
  const QStringList names{u"cpp"_qs,  u"python"_qs, u"js"_qs,   u"rust"_qs, u"go"_qs,  u"java"_qs,
                          u"bash"_qs, u"json"_qs,   u"html"_qs, u"css"_qs,  u"sql"_qs, u"yaml"_qs};
  for (const QString& name : names) {
    const CodeLanguage* language = findLanguage(name);
    QVERIFY(language);
    int state = 0;
    for (const QString& line : nasty.split(u'\n')) {
      std::vector<CodeSpan> spans;
      state = lexLine(*language, line, state, spans);
      int at = 0;
      for (const CodeSpan& span : spans) {
        QVERIFY(span.start >= at && span.length > 0);
        at = span.start + span.length;
        QVERIFY(at <= line.size());
      }
    }
  }
}

QTEST_GUILESS_MAIN(TestMarkdownLexer)
#include "test_markdown_lexer.moc"
