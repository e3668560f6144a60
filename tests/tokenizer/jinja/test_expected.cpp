// The interpreter against Python's jinja2: tests/data/jinja holds the templates and what jinja2 makes of
// them.
#include <QTest>

#include "tests/tokenizer/jinja/support.h"

namespace tandem::test {

class TestExpected : public QObject {
  Q_OBJECT
 private slots:
  void snippets_data();
  void snippets();
  void templates_data();
  void templates();
  void modelTemplateAgrees();

 private:
  static void compare(const Rendered& rendered, const Json& expected);
  static void compareChat(const std::string& source, const Json& conversation, const Json& expected);
};

// The same text, or a failure of the same kind; a template's own message word for word.
void TestExpected::compare(const Rendered& rendered, const Json& expected) {
  const std::string got = describe(rendered);
  if (expected.contains("text")) {
    const auto* text = std::get_if<TaggedText>(&rendered);
    QVERIFY2(text != nullptr, got.c_str());
    QCOMPARE(QString::fromStdString(text->text()),
             QString::fromStdString(expected["text"].get<std::string>()));
    return;
  }
  const auto* failure = std::get_if<jinja::Failure>(&rendered);
  QVERIFY2(failure != nullptr, got.c_str());
  QVERIFY2(kindName(failure->kind) == expected["error"].get<std::string>(), got.c_str());
  QVERIFY2(!failure->message.empty(), got.c_str());
  if (expected.contains("message")) QCOMPARE(failure->message, expected["message"].get<std::string>());
}

void TestExpected::snippets_data() {
  QTest::addColumn<QString>("source");
  QTest::addColumn<QString>("expected");
  const Json snippets = readJinjaJson("snippets.json");
  const Json expected = readJinjaJson("expected.json");
  QVERIFY2(snippets.is_object() && expected.is_object(), "tests/data/jinja cannot be read");
  for (const auto& [group, sources] : snippets["groups"].items()) {
    QCOMPARE(sources.size(), expected["snippets"][group].size());
    for (std::size_t i = 0; i < sources.size(); ++i) {
      QTest::addRow("%s %zu", group.c_str(), i)
          << QString::fromStdString(sources[i].get<std::string>())
          << QString::fromStdString(expected["snippets"][group][i].dump());
    }
  }
}

void TestExpected::snippets() {
  QFETCH(QString, source);
  QFETCH(QString, expected);
  static const Json variables = readJinjaJson("snippets.json")["variables"];
  compare(renderSource(source.toStdString(), variables), Json::parse(expected.toStdString()));
}

void TestExpected::compareChat(const std::string& source, const Json& conversation, const Json& expected) {
  const Result<ChatTemplate> parsed = ChatTemplate::parse(source, "<s>", "</s>");
  if (!parsed) {
    QCOMPARE(expected.value("error", ""), std::string("syntax"));
    QVERIFY(parsed.error().code == ErrorCode::kTemplate);
    return;
  }
  const Result<TaggedText> rendered = parsed->render(requestOf(conversation));
  if (expected.contains("text")) {
    QVERIFY2(rendered.ok(), rendered.ok() ? "" : rendered.error().message.c_str());
    QCOMPARE(QString::fromStdString(rendered->text()),
             QString::fromStdString(expected["text"].get<std::string>()));
    return;
  }
  QVERIFY2(!rendered.ok(), rendered.ok() ? rendered->text().c_str() : "");
  QVERIFY(rendered.error().code == ErrorCode::kTemplate);
  if (expected.contains("message"))
    QCOMPARE(rendered.error().message, expected["message"].get<std::string>());
}

void TestExpected::templates_data() {
  QTest::addColumn<QString>("source");
  QTest::addColumn<QString>("conversation");
  QTest::addColumn<QString>("expected");
  const Json conversations = readJinjaJson("conversations.json");
  const Json expected = readJinjaJson("expected.json");
  const std::vector<NamedSource> templates = readTemplates();
  QVERIFY2(templates.size() >= 30, "tests/data/jinja/templates is missing templates");
  QCOMPARE(templates.size(), expected["templates"].size());
  for (const NamedSource& entry : templates) {
    for (const auto& [title, conversation] : conversations.items()) {
      QTest::addRow("%s, %s", entry.name.c_str(), title.c_str())
          << QString::fromStdString(entry.source) << QString::fromStdString(conversation.dump())
          << QString::fromStdString(expected["templates"][entry.name][title].dump());
    }
  }
}

void TestExpected::templates() {
  QFETCH(QString, source);
  QFETCH(QString, conversation);
  QFETCH(QString, expected);
  compareChat(source.toStdString(), Json::parse(conversation.toStdString()),
              Json::parse(expected.toStdString()));
}

void TestExpected::modelTemplateAgrees() {
  const std::string source = modelTemplate();
  QVERIFY2(!source.empty(), "TANDEM_MODELS must name the folder that holds SmolLM2-135M-Instruct.Q4_1.gguf");
  const Json expected = readJinjaJson("expected.json")["model"];
  const Json conversations = readJinjaJson("conversations.json");
  for (const auto& [title, conversation] : conversations.items()) {
    compareChat(source, conversation, expected.at(title));
    if (QTest::currentTestFailed()) QFAIL(("in the conversation: " + title).c_str());
  }
}

}  // namespace tandem::test

QTEST_APPLESS_MAIN(tandem::test::TestExpected)
#include "test_expected.moc"
