#include <QTest>

#include "ui/markdown/inline_parser.h"

using namespace tandem::markdown;

namespace {

// The runs with their styles as one string: <b>…</b> and so on, links as <a address>…</a>.
QString marked(const std::string& text, bool cell = false) {
  const InlineText parsed = parseInline(text, cell);
  QString out;
  for (const InlineRun& run : parsed.runs) {
    QString open;
    QString close;
    const auto tag = [&](std::uint8_t style, const char* name) {
      if (!(run.style & style)) return;
      open += u'<' + QString::fromLatin1(name) + u'>';
      close.prepend(u"</"_qs + QString::fromLatin1(name) + u'>');
    };
    if (run.link >= 0) {
      open += u"<a "_qs + QString::fromStdString(parsed.links[static_cast<std::size_t>(run.link)]) + u'>';
      close.prepend(u"</a>"_qs);
    }
    tag(kStyleBold, "b");
    tag(kStyleItalic, "i");
    tag(kStyleStrike, "s");
    tag(kStyleCode, "c");
    tag(kStyleMath, "m");
    tag(kStyleImage, "img");
    const std::string shown = run.shown.empty() ? text.substr(run.begin, run.end - run.begin) : run.shown;
    out += open + QString::fromStdString(shown) + close;
  }
  return out;
}

}  // namespace

class TestMarkdownInline : public QObject {
  Q_OBJECT

 private slots:
  void styles_data();
  void styles();
  void cellBars();
  void runsAreInOrder();
};

void TestMarkdownInline::styles_data() {
  QTest::addColumn<QString>("source");
  QTest::addColumn<QString>("expected");
  const auto row = [](const char* source, const char* expected) {
    QTest::newRow(source) << QString::fromUtf8(source) << QString::fromUtf8(expected);
  };
  row("plain", "plain");
  row("**b** *i* _j_ __c__ ~~s~~", "<b>b</b> <i>i</i> <i>j</i> <b>c</b> <s>s</s>");
  row("***both***", "<b><i>both</i></b>");
  row("**a *b* c**", "<b>a </b><b><i>b</i></b><b> c</b>");
  row("*a **b** c*", "<i>a </i><b><i>b</i></b><i> c</i>");
  row("** a ** * b *", "** a ** * b *");
  row("2*3*4 snake_case_name __init__.py", "2<i>3</i>4 snake_case_name <b>init</b>.py");
  row("**open", "**open");
  row("*a**", "<i>a</i>*");
  row("**a*", "*<i>a</i>");
  row("~one~ ~~~three~~~", "~one~ ~~~three~~~");
  row("中文**粗体**和**“强调”**的", "中文<b>粗体</b>和<b>“强调”</b>的");
  row("`a*b*` ``x ` y`` `open", "<c>a*b*</c> <c>x ` y</c> `open");
  row("` a ` `  `", "<c>a</c> <c>  </c>");
  row("`a\nb`", "<c>a</c><c> </c><c>b</c>");
  row("[a *b*](http://x.y)", "<a http://x.y>a </a><a http://x.y><i>b</i></a>");
  row("[a](<http://x.y/z w> \"t\")", "<a http://x.y/z w>a</a>");
  row("[a](http://x.y/(z))", "<a http://x.y/(z)>a</a>");
  row("[](http://x.y)", "<a http://x.y>http://x.y</a>");
  row("[a](mailto:b@c.d)", "<a mailto:b@c.d>a</a>");
  row("[a](javascript:alert(1))", "[a](javascript:alert(1))");
  row("[a](file:///etc/passwd)", "[a](file:///etc/passwd)");
  row("[a](b.md) [c] [d][e]", "[a](b.md) [c] [d][e]");
  row("[a [b](http://i.n) c](http://o.ut)", "[a <a http://i.n>b</a> c](<a http://o.ut>http://o.ut</a>)");
  row("[https://good.org](http://bad.org)", "<a http://bad.org>https://good.org</a>");
  row("![cat](http://x.y/c.png)",
      "<a http://x.y/c.png><img>cat</img></a><a http://x.y/c.png><img> </img></a>"
      "<a http://x.y/c.png><img>(http://x.y/c.png)</img></a>");
  row("![](c.png)", "<img>(c.png)</img>");
  row("<http://a.b> <c@d.e> <b>x</b>", "<a http://a.b>http://a.b</a> <a mailto:c@d.e>c@d.e</a> <b>x</b>");
  row("see https://a.b/c_d_e. and (http://f.g)",
      "see <a https://a.b/c_d_e>https://a.b/c_d_e</a>. and "
      "(<a http://f.g>http://f.g</a>)");
  row("www.a.b **https://c.d** xhttp://e.f",
      "<a https://www.a.b>www.a.b</a> "
      "<a https://c.d><b>https://c.d</b></a> xhttp://e.f");
  row("std::vector<int> a < b && c > d", "std::vector<int> a < b && c > d");
  row("<img src=\"http://x.y\">", "<img src=\"<a http://x.y>http://x.y</a>\">");
  row("\\*a\\* \\\\ \\n \\[x\\]", "*a* \\ \\n <m>\\[x\\]</m>");
  row("\\(a_1 * b_2 * c\\)", "<m>\\(a_1 * b_2 * c\\)</m>");
  row("\\[ open and *i*", "\\[ open and <i>i</i>");
  row("$a_1 * b$ costs $5 and $10 or $$x*y*z$$", "<m>$a_1 * b$</m> costs $5 and $10 or <m>$$x*y*z$$</m>");
  row("&amp; &lt;b&gt; &#65;&#x42; &bogus; &#0; &", "& <b> AB &bogus; &#0; &");
  row("a\nb", "a\nb");
  row("a\\\nb", "a\nb");
}

void TestMarkdownInline::styles() {
  QFETCH(QString, source);
  QFETCH(QString, expected);
  QCOMPARE(marked(source.toStdString()), expected);
}

void TestMarkdownInline::cellBars() {
  QCOMPARE(marked("a \\| b `c \\| d`", true), u"a | b <c>c </c><c>| d</c>"_qs);
  QCOMPARE(marked("`c \\| d`"), u"<c>c \\| d</c>"_qs);
}

void TestMarkdownInline::runsAreInOrder() {
  const std::string text = "**a** [b `c`](http://d.e) ![f](g) \\*h &amp; i\nj";
  std::uint32_t at = 0;
  for (const InlineRun& run : parseInline(text).runs) {
    QVERIFY(run.begin >= at);
    QVERIFY(run.end > run.begin || !run.shown.empty());
    QVERIFY(run.end <= text.size());
    at = run.end;
  }
}

QTEST_GUILESS_MAIN(TestMarkdownInline)
#include "test_markdown_inline.moc"
