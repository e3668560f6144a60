// Thousands of broken templates, the same ones every time: none may crash, hang, or do anything but give a
// text or an error.
#include <QTest>
#include <random>

#include "tests/tokenizer/jinja/support.h"

namespace tandem::test {
namespace {

constexpr int kMutations = 8000;

// Pieces that break templates in interesting places.
constexpr const char* kPieces[] = {"{{",
                                   "}}",
                                   "{%",
                                   "%}",
                                   "{#",
                                   "#}",
                                   "-%}",
                                   "{%-",
                                   "{% raw %}",
                                   "{% endraw %}",
                                   "{% endfor %}",
                                   "{% endif %}",
                                   "{% else %}",
                                   "{% for x in messages %}",
                                   "{% if x %}",
                                   "{% set x = x %}",
                                   "{% break %}",
                                   "{% macro m(a, b=m) %}",
                                   "{% endmacro %}",
                                   "{% call m() %}",
                                   "{% endcall %}",
                                   "{% filter join %}",
                                   "{{ m() }}",
                                   "{{ caller() }}",
                                   "|",
                                   "|tojson",
                                   "|join(",
                                   "|map('join')",
                                   "|sort",
                                   "|list",
                                   "is ",
                                   "not ",
                                   "in ",
                                   "(",
                                   ")",
                                   "[",
                                   "]",
                                   "{",
                                   "}",
                                   "'",
                                   "\"",
                                   "\\",
                                   ".",
                                   "..",
                                   ",",
                                   ":",
                                   "~",
                                   "*",
                                   "**",
                                   "//",
                                   "%",
                                   "-",
                                   "==",
                                   "<",
                                   "1",
                                   "0",
                                   "9223372036854775807",
                                   "1e308",
                                   "-1",
                                   "''",
                                   "[]",
                                   "{}",
                                   "none",
                                   "loop",
                                   "loop.last",
                                   "messages",
                                   "tools",
                                   "range(9)",
                                   "namespace()",
                                   "*messages",
                                   "**tools",
                                   "[::-1]",
                                   "[::0]",
                                   "[1:",
                                   ".items()",
                                   ".split('')",
                                   "\xff",
                                   "\xf0\x9f",
                                   "\0",
                                   "\n",
                                   "é"};

class Mutator {
 public:
  explicit Mutator(const std::vector<std::string>& seeds) : seeds_(seeds) {}

  std::string next() {
    std::string source = seeds_[below(seeds_.size())];
    for (std::size_t i = 1 + below(4); i > 0; --i)
      mutate(source);
    return source;
  }

 private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  void mutate(std::string& source) {
    const std::size_t at = below(source.size() + 1);
    const std::size_t length = std::min(below(12), source.size() - at);
    switch (below(6)) {
      case 0:
        source.erase(at, length);
        break;
      case 1:
        source.insert(at, kPieces[below(std::size(kPieces))]);
        break;
      case 2:
        source.replace(at, length, kPieces[below(std::size(kPieces))]);
        break;
      case 3:
        source.insert(below(source.size() + 1), source.substr(at, below(60)));
        break;
      case 4:
        if (at < source.size()) source[at] = static_cast<char>(below(256));
        break;
      default: {
        const std::string& other = seeds_[below(seeds_.size())];
        source = source.substr(0, at) + other.substr(below(other.size() + 1));
      }
    }
  }

  const std::vector<std::string>& seeds_;
  std::mt19937 random_{20240726};
};

}  // namespace

class TestMutations : public QObject {
  Q_OBJECT
 private slots:
  void neverCrashesOrHangs();
};

void TestMutations::neverCrashesOrHangs() {
  std::vector<std::string> seeds;
  for (const NamedSource& entry : readTemplates())
    seeds.push_back(entry.source);
  const Json snippets = readJinjaJson("snippets.json");
  for (const auto& [group, sources] : snippets["groups"].items()) {
    for (const Json& source : sources)
      seeds.push_back(source.get<std::string>());
  }
  QVERIFY(seeds.size() > 400);
  Json variables = readJinjaJson("conversations.json")["tool result"];
  for (const auto& [name, value] : snippets["variables"].items()) {
    if (!variables.contains(name)) variables[name] = value;
  }

  Mutator mutator(seeds);
  int texts = 0;
  int failures = 0;
  for (int i = 0; i < kMutations; ++i) {
    const std::string source = mutator.next();
    const double begin = threadSeconds();
    const Rendered rendered = renderSource(source, variables);
    const double seconds = threadSeconds() - begin;
    QVERIFY2(inTime(seconds, 0.2), source.c_str());
    if (const auto* text = std::get_if<TaggedText>(&rendered)) {
      ++texts;
      QCOMPARE(originsOf(*text).size(), text->size());
    } else {
      ++failures;
      const auto& failure = std::get<jinja::Failure>(rendered);
      QVERIFY(failure.kind == jinja::FailureKind::kRaised || !failure.message.empty());
    }
  }
  // Both kinds must occur, or the mutations are too tame or too wild to test anything.
  QVERIFY2(texts > kMutations / 20 && failures > kMutations / 20,
           (std::to_string(texts) + " texts, " + std::to_string(failures) + " failures").c_str());
}

}  // namespace tandem::test

QTEST_APPLESS_MAIN(tandem::test::TestMutations)
#include "test_mutations.moc"
