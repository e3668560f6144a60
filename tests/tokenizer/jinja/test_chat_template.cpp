// ChatTemplate: what the template sees of a request, its errors, and its use from several threads.
#include <QTest>
#include <thread>

#include "tests/tokenizer/jinja/support.h"

namespace tandem::test {
namespace {

std::string textOf(const char* source, const ChatRequest& request) {
  const Result<ChatTemplate> parsed = ChatTemplate::parse(source, "<s>", "</s>");
  if (!parsed) return "error: " + parsed.error().message;
  const Result<TaggedText> rendered = parsed->render(request);
  return rendered.ok() ? rendered->text() : "error: " + rendered.error().message;
}

}  // namespace

class TestChatTemplate : public QObject {
  Q_OBJECT
 private slots:
  void messagesAsTheTemplateSeesThem();
  void variablesNeverReplaceTheRequestsOwn();
  void invalidRequests();
  void ownMessagesComeBackWordForWord();
  void errorsArePlainSentences_data();
  void errorsArePlainSentences();
  void dates();
  void invalidUtf8IsKept();
  void nothingToReach_data();
  void nothingToReach();
  void severalThreads();
};

void TestChatTemplate::messagesAsTheTemplateSeesThem() {
  ChatRequest request;
  request.messages.push_back(
      {.role = "user", .content = "Hi", .extra = {{"name", "Ann"}, {"b", 1}, {"a", 2}}});
  request.messages.push_back({.role = "assistant", .content = nullptr});
  request.messages.push_back({.role = "tool"});
  QCOMPARE(textOf("{{ messages | tojson }}", request),
           std::string(R"([{"role": "user", "content": "Hi", "name": "Ann", "b": 1, "a": 2}, )"
                       R"({"role": "assistant", "content": null}, {"role": "tool"}])"));
  QCOMPARE(textOf("{{ tools }} {{ documents }} {{ add_generation_prompt }}", request),
           std::string("None None True"));
  request.addGenerationPrompt = false;
  request.tools = Json::array({{{"name", "f"}}});
  QCOMPARE(textOf("{{ tools[0].name }} {{ add_generation_prompt }}", request), std::string("f False"));
}

void TestChatTemplate::variablesNeverReplaceTheRequestsOwn() {
  ChatRequest request;
  request.messages.push_back({.role = "user", .content = "own"});
  request.variables = {{"messages", "x"}, {"tools", 5},           {"bos_token", "<evil>"},
                       {"range", 7},      {"enable_thinking", 1}, {"add_generation_prompt", false}};
  QCOMPARE(textOf("{{ messages[0].content }}{{ tools }}{{ bos_token }}{{ enable_thinking }}{{ "
                  "add_generation_prompt }}",
                  request),
           std::string("ownNone<s>1True"));
  // A variable may hide a function, as it may in jinja2.
  QCOMPARE(textOf("{{ range }}", request), std::string("7"));
}

void TestChatTemplate::invalidRequests() {
  const Result<ChatTemplate> parsed = ChatTemplate::parse("x", "", "");
  QVERIFY(parsed.ok());
  ChatRequest request;
  request.variables = 5;
  Result<TaggedText> rendered = parsed->render(request);
  QVERIFY(!rendered.ok() && rendered.error().code == ErrorCode::kInvalidArgument);
  QCOMPARE(rendered.error().field, std::string("variables"));
  request.variables = Json::object();
  request.messages.push_back({.role = "user", .content = "x", .extra = "no object"});
  rendered = parsed->render(request);
  QVERIFY(!rendered.ok() && rendered.error().code == ErrorCode::kInvalidArgument);
  // JSON that is nested without end is refused, not followed.
  Json deep = "end";
  for (int i = 0; i < 1000; ++i)
    deep = Json::array({deep});
  request.messages = {{.role = "user", .content = deep}};
  rendered = parsed->render(request);
  QVERIFY(!rendered.ok() && rendered.error().code == ErrorCode::kBudgetExceeded);
}

void TestChatTemplate::ownMessagesComeBackWordForWord() {
  const Result<ChatTemplate> parsed = ChatTemplate::parse(
      "{{ raise_exception('Conversation roles must alternate: ' ~ messages | length) }}", "", "");
  const Result<TaggedText> rendered = parsed->render({});
  QVERIFY(!rendered.ok());
  QVERIFY(rendered.error().code == ErrorCode::kTemplate);
  QCOMPARE(rendered.error().message, std::string("Conversation roles must alternate: 0"));
  QCOMPARE(rendered.error().field, std::string("tokenizer.chat_template"));
  QCOMPARE(textOf("{{ raise_exception('') }}", {}),
           std::string("error: The chat template refuses this conversation."));
}

void TestChatTemplate::errorsArePlainSentences_data() {
  QTest::addColumn<QString>("source");
  QTest::addColumn<QString>("sentence");
  const auto row = [](const char* source, const char* sentence) {
    QTest::newRow(source) << source << sentence;
  };
  row("\n{% if %}", "The chat template cannot be read: expected an expression (line 2 of the template).");
  row("{{ x | nosuch }}",
      "The chat template cannot be read: no filter named 'nosuch' (line 1 of the template).");
  row("a\n\n{{ x.y }}", "The chat template failed: 'x' is undefined (line 3 of the template).");
  row("{{ messages.foo.bar }}",
      "The chat template failed: 'list object' has no attribute 'foo' (line 1 of the template).");
  row("{{ 1 / 0 }}", "The chat template failed: division by zero (line 1 of the template).");
  row("{{ 9223372036854775807 + 1 }}",
      "The chat template failed: the result of an integer operation does not fit in 64 bits (line 1 of the "
      "template).");
  row("{% for i in range(1000000) %}{% endfor %}",
      "The chat template was stopped because a range has more than 100000 items (line 1 of the template).");
  row("{% include 'x' %}",
      "The chat template cannot be read: the tag 'include' is not supported in chat templates (line 1 of the "
      "template).");
}

void TestChatTemplate::errorsArePlainSentences() {
  QFETCH(QString, source);
  QFETCH(QString, sentence);
  QCOMPARE(QString::fromStdString(textOf(source.toUtf8().constData(), {})), "error: " + sentence);
}

void TestChatTemplate::dates() {
  ChatRequest request;
  request.clock = [] {
    return jinja::CivilTime{2021, 1, 3, 0, 5, 9, 0};
  };  // a Sunday in the last ISO week of 2020
  QCOMPARE(textOf("{{ strftime_now('%G-W%V-%u %a %-I:%M %p %j %U %W') }}", request),
           std::string("2020-W53-7 Sun 12:05 AM 003 01 00"));
  request.clock = {};
  QCOMPARE(textOf("{{ strftime_now('%Y') | length }}", request), std::string("4"));
}

void TestChatTemplate::invalidUtf8IsKept() {
  ChatRequest request;
  const std::string bytes =
      "a\xE6\xAD"
      "b\xFF";
  request.messages.push_back({.role = "user", .content = bytes});
  QCOMPARE(textOf("{{ messages[0].content }}", request), bytes);
  QCOMPARE(textOf("{{ messages[0].content | upper | trim }}|{{ messages[0].content | length }}", request),
           "A\xE6\xAD"
           "B\xFF|5");
  QCOMPARE(textOf("{{ messages[0].content[::-1] }}", request), std::string("\xFF"
                                                                           "b\xAD\xE6"
                                                                           "a"));
}

// Attempts to get at the interpreter's insides: a plain error or an empty text, never anything else.
void TestChatTemplate::nothingToReach_data() {
  QTest::addColumn<QString>("expression");
  for (const char* expression : {"''.__class__.__mro__[1].__subclasses__()",
                                 "cycler.__init__.__globals__.os.popen('id').read()",
                                 "namespace.__init__.__globals__",
                                 "joiner.__init__.__globals__['os']",
                                 "self.__init__.__globals__",
                                 "range.__self__.__import__('os')",
                                 "messages.__class__",
                                 "messages.append(1)",
                                 "request.application",
                                 "(messages|attr('__class__')).x",
                                 "'%s'.__mod__(1)",
                                 "lipsum.__globals__",
                                 "config.items()",
                                 "'{0.__class__.__mro__}'.format(messages)",
                                 "'{0[__class__]}'.format(messages)",
                                 "messages|map(attribute='__class__.x')|list",
                                 "dict.__base__",
                                 "().__class__.__bases__[0]",
                                 "{}.__class__.fromkeys",
                                 "loop.__init__",
                                 "raise_exception.__globals__",
                                 "strftime_now.__closure__",
                                 "[].__reduce__()",
                                 "x.__getattr__('y')",
                                 "messages|selectattr('__class__')|list|tojson",
                                 "namespace(__class__=1).__class__.x",
                                 "''['__class__'].x",
                                 "undefined_thing.__class__.x"}) {
    QTest::newRow(expression) << expression;
  }
}

void TestChatTemplate::nothingToReach() {
  QFETCH(QString, expression);
  const std::string source = "{{ " + expression.toStdString() + " }}";
  const Json variables = {{"messages", {"hi"}}};
  const Rendered rendered = renderSource(source, variables);
  if (const auto* text = std::get_if<TaggedText>(&rendered)) {
    QVERIFY2(text->text().empty() || text->text() == "[]", text->text().c_str());
    return;
  }
  const jinja::FailureKind kind = std::get<jinja::Failure>(rendered).kind;
  QVERIFY2(kind == jinja::FailureKind::kSecurity || kind == jinja::FailureKind::kUndefined ||
               kind == jinja::FailureKind::kRuntime,
           describe(rendered).c_str());
}

void TestChatTemplate::severalThreads() {
  const std::vector<NamedSource> templates = readTemplates();
  const Json conversation = readJinjaJson("conversations.json")["tool result"];
  const ChatRequest request = requestOf(conversation);
  for (const NamedSource& entry : templates) {
    const Result<ChatTemplate> parsed = ChatTemplate::parse(entry.source, "<s>", "</s>");
    if (!parsed) continue;
    std::vector<std::string> results(4);
    std::vector<std::thread> threads;
    for (std::string& result : results) {
      threads.emplace_back([&result, &parsed, &request] {
        for (int i = 0; i < 20; ++i) {
          const Result<TaggedText> rendered = parsed->render(request);
          const std::string text = rendered.ok() ? rendered->text() : rendered.error().message;
          if (i == 0) result = text;
          if (text != result) result += " (changed)";
        }
      });
    }
    for (std::thread& thread : threads)
      thread.join();
    for (const std::string& result : results)
      QCOMPARE(result, results.front());
  }
}

}  // namespace tandem::test

QTEST_APPLESS_MAIN(tandem::test::TestChatTemplate)
#include "test_chat_template.moc"
