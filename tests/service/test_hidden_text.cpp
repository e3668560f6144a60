// What was hidden of an answer is in the next prompt again: the thinking block, a forced closing, the opening
// of a block by the prompt, a stop string. An edited answer is another text.
#include <QTest>
#include <functional>

#include "app/service/answer_memory.h"
#include "app/service/hidden_text.h"
#include "app/service/prompt.h"
#include "tests/service/service_fixture.h"

namespace tandem::test {
namespace {

using namespace service;
using Ids = std::vector<TokenId>;

// Both write the context that the model had when an answer is followed by a message.
constexpr char kPlain[] = "{% for m in messages %}<|start|>{{ m.content }}{% endfor %}<|start|>";
constexpr char kOpens[] =
    "{% for m in messages %}<|start|>{{ m.content }}{% endfor %}<|start|><think>\n{# </think> #}";

struct Copy {
  std::string copy, text;
  std::vector<HiddenText> hidden;
  bool same;
};

std::vector<Copy> copies() {
  const std::string thought = "<think>a  b</think>\n\nHello  you.\n";
  const std::vector<HiddenText> block = {{0, 19}};
  std::vector<Copy> rows;
  for (const char* same :
       {"\n\nHello  you.\n", "Hello  you.\n", " \tHello  you.\n", "<think>a  b</think>\n\nHello  you.\n",
        "<think>a  b</think>Hello  you.\n", "\n<think>a  b</think> \r\n Hello  you.\n"})
    rows.push_back({same, thought, block, true});
  for (const char* edited :
       {"Hello you.\n", "hello  you.\n", "Hello  you.", "Hello  you.\n\n", "Hello  you.\nMore.",
        "<think>a b</think>\n\nHello  you.\n", "a  b\n\nHello  you.\n", "<think>a  b</think>", ""})
    rows.push_back({edited, thought, block, false});
  const std::string note = "One. [note] Two.";
  for (const char* same : {"One.  Two.", "One.Two.", "One.\n\nTwo.", "One. [note]Two.", note.c_str()})
    rows.push_back({same, note, {{5, 6}}, true});
  for (const char* edited : {"One. Two. ", " One. Two.", "One . Two.", "One. [NOTE] Two.", "One. note Two."})
    rows.push_back({edited, note, {{5, 6}}, false});
  const std::string stopped = "Yes, sir.\nUser:";
  for (const char* same : {"Yes, sir.", "Yes, sir. \n", "Yes, sir.\nUser:", "Yes, sir.User:\n"})
    rows.push_back({same, stopped, {{9, std::string::npos}}, true});
  for (const char* edited : {"Yes, sir", "Yes,sir.", "Yes, sir.\nUser", "Yes, sir.\nUser: x"})
    rows.push_back({edited, stopped, {{9, std::string::npos}}, false});
  const std::vector<HiddenText> two = {{0, 3}, {6, 2}};
  for (const char* same : {"bc", "b c", "<a> b ## c", "<a>bc", "b##c"})
    rows.push_back({same, "<a> b ## c", two, true});
  for (const char* edited : {"c", "##bc", "<a>b", "bd"})
    rows.push_back({edited, "<a> b ## c", two, false});
  rows.push_back({"plain ", "plain ", {}, true});
  rows.push_back({"plain", "plain ", {}, false});
  return rows;
}

std::string withoutSpace(std::string_view text) {
  std::string left;
  for (const char c : text)
    if (std::isspace(static_cast<unsigned char>(c)) == 0) left += c;
  return left;
}

std::string shownOf(const Copy& row) {
  std::string shown = row.text;
  for (auto hidden = row.hidden.rbegin(); hidden != row.hidden.rend(); ++hidden)
    shown.erase(hidden->begin, hidden->bytes);
  return shown;
}

Ids joined(std::initializer_list<Ids> parts) {
  Ids all;
  for (const Ids& part : parts)
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

// The text model's tokens are the bytes.
Ids bytes(std::string_view text) {
  return Ids(text.begin(), text.end());
}

const Ids kStart = {kTextModelStart};

}  // namespace

class TestHiddenText : public QObject, ServiceFixture {
  Q_OBJECT

  std::string plain_, opens_, drops_;

  // The prompt after an answer with these ids, of which the reader's copy is `content`.
  static Ids nextPrompt(const std::string& path, PromptMessage answer) {
    const auto model = Model::load(path);
    if (!model.ok()) qFatal("no model");
    GenerateRequest request;
    request.messages = {{"user", "Hi"}, std::move(answer), {"user", "Go on"}};
    const auto ids = promptIds(**model, request);
    return ids.ok() ? *ids : Ids();
  }
  static GenerateRequest client(std::vector<PromptMessage> messages) {
    GenerateRequest request;
    request.messages = std::move(messages);
    request.recallsAnswers = true;
    request.maxTokens = 60;
    return request;
  }
  static Ids promptOf(const Answer& answer) {
    const auto ended = answer.last<FinishedEvent>();
    return ended ? ended->prompt : Ids();
  }
  // What the model's context held when the answer had ended, the template's end of it left to the template.
  static Ids contextOf(const Answer& answer) {
    Ids ids = idsOf(answer);
    while (!ids.empty() && ids.back() == kTextModelEnd)
      ids.pop_back();
    return joined({promptOf(answer), ids});
  }

 private slots:
  void initTestCase() {
    QVERIFY(folder_.isValid());
    plain_ = write("plain.gguf", {.chatTemplate = std::string(kPlain) + "{# </think> #}"});
    opens_ = write("opens.gguf", {.chatTemplate = kOpens});
    drops_ = write("drops.gguf", {.chatTemplate = kThinkingTemplate});
  }

  void onlySpaceBesideWhatIsHiddenMayDiffer() {
    using Comparison = std::function<bool(const Copy&)>;
    const Comparison wrong[] = {
        [](const Copy& r) { return withoutSpace(r.copy) == withoutSpace(shownOf(r)); },
        [](const Copy& r) { return r.copy == shownOf(r) || r.copy == r.text; },
        [](const Copy& r) { return r.text.ends_with(r.copy) || r.text.starts_with(r.copy); },
        [](const Copy&) { return true; },
    };
    std::vector<int> mistakes(std::size(wrong));
    for (const Copy& row : copies()) {
      QVERIFY2(isCopy(row.copy, row.text, row.hidden) == row.same, row.copy.c_str());
      for (std::size_t i = 0; i < std::size(wrong); ++i)
        mistakes[i] += wrong[i](row) != row.same ? 1 : 0;
    }
    // The rows tell each wrong comparison from the right one.
    for (const int count : mistakes)
      QVERIFY(count > 0);
    QVERIFY(!isCopy("abc", "abc", std::vector<HiddenText>{{4, 1}}));
  }

  // An id that no text spells shows that the ids themselves are in the prompt.
  void promptsHoldWhatTheModelWrote() {
    const Ids thought = joined({bytes("<think>ab"), kStart, bytes("</think>\n\n")});
    const Ids written = joined({thought, bytes("Hello "), kStart, bytes("you ")});
    const std::string text = "<think>ab</think>\n\nHello you ";
    const std::vector<HiddenText> block = {{0, 17}};
    const auto prompt = [](const Ids& answer) {
      return joined({kStart, bytes("Hi"), kStart, answer, kStart, bytes("Go on"), kStart});
    };
    for (const char* copy : {"Hello you ", "\n\nHello you ", "\nHello you ",
                             "<think>ab</think>\n\nHello you ", " <think>ab</think> Hello you "})
      QVERIFY2(
          nextPrompt(plain_, {.role = "assistant", .content = copy, .tokens = written, .hidden = block}) ==
              prompt(written),
          copy);
    for (const char* edited : {"Hello you", "Hello You ", "Hello  you ", "<think>AB</think>\n\nHello you "})
      QVERIFY2(
          nextPrompt(plain_, {.role = "assistant", .content = edited, .tokens = written, .hidden = block}) ==
              prompt(bytes(edited)),
          edited);
    // Without hidden stretches only the whole text is a copy.
    QVERIFY(nextPrompt(plain_, {.role = "assistant", .content = text, .tokens = written}) == prompt(written));
    QVERIFY(nextPrompt(plain_, {.role = "assistant", .content = "Hello you ", .tokens = written}) ==
            prompt(bytes("Hello you ")));
    // A hidden stretch in the middle, with white space on both sides.
    const Ids noted = joined({bytes("One. "), kStart, bytes("[note] Two.")});
    for (const char* copy : {"One. Two.", "One.Two.", "One.\n \nTwo.", "One. [note] Two."})
      QVERIFY2(
          nextPrompt(plain_, {.role = "assistant", .content = copy, .tokens = noted, .hidden = {{5, 6}}}) ==
              prompt(noted),
          copy);
    // The ids' end token is left to the template.
    QVERIFY(nextPrompt(plain_, {.role = "assistant",
                                .content = text,
                                .tokens = joined({written, {kTextModelEnd}})}) == prompt(written));
  }

  // A template that leaves earlier thoughts out has its way, whatever the copy brings.
  void theTemplatesRuleWins() {
    const Ids written = bytes("<think>ab</think>\n\nHello");
    const Ids expected =
        joined({kStart, bytes("Hi"), kStart, bytes("\n\nHello"), kStart, bytes("Go on"), kStart});
    for (const char* copy : {"Hello", "\n\nHello", "<think>ab</think>\n\nHello"})
      QVERIFY2(nextPrompt(drops_,
                          {.role = "assistant", .content = copy, .tokens = written, .hidden = {{0, 17}}}) ==
                   expected,
               copy);
  }

  void theOpeningByThePromptComesBack() {
    const Ids written = joined({bytes("a"), kStart, bytes("b</think>\n\nHello")});
    const Ids expected = joined({kStart, bytes("Hi"), kStart, bytes("<think>\n"), written, kStart,
                                 bytes("Go on"), kStart, bytes("<think>\n")});
    for (const char* copy : {"Hello", "\nHello", "ab</think>\n\nHello", "<think>\nab</think>\n\nHello",
                             "<think>ab</think>Hello"})
      QVERIFY2(nextPrompt(opens_,
                          {.role = "assistant", .content = copy, .tokens = written, .hidden = {{0, 10}}}) ==
                   expected,
               copy);
    QVERIFY(nextPrompt(opens_,
                       {.role = "assistant", .content = "hello", .tokens = written, .hidden = {{0, 10}}}) ==
            joined({kStart, bytes("Hi"), kStart, bytes("hello"), kStart, bytes("Go on"), kStart,
                    bytes("<think>\n")}));
  }

  // A client's conversation: three turns, each with copies that lack the thoughts.
  void aClientsConversationGoesOn() {
    EngineOptions options;
    options.cache.budget = std::size_t{64} << 20;
    EngineService service(options);
    load(service, plain_);
    GenerateRequest first = client({{"user", "Hi"}});
    first.constraint = ConstraintSpec::regex("<think>[a-z]{3,9} [a-z]{3}</think>\n\n[A-Z]{4} [a-z]{3,8}");
    const Answer answer = answered(service, first);
    const std::string text = textOf(answer);
    const std::size_t end = text.find("</think>");
    QVERIFY(end != std::string::npos);
    const std::string shown = text.substr(end + 10);
    const Ids expected = joined({contextOf(answer), kStart, bytes("Go on"), kStart});
    for (const std::string& copy : {shown, text, "\n\n" + shown, text.substr(0, end + 8) + " " + shown}) {
      GenerateRequest next = client({{"user", "Hi"}, {"assistant", copy}, {"user", "Go on"}});
      const Answer second = answered(service, next);
      QVERIFY2(promptOf(second) == expected, copy.c_str());
      // All but the last token was read already.
      QVERIFY(second.last<FinishedEvent>()->stats.cachedTokens >=
              static_cast<int>(contextOf(answer).size()) - 1);
      next.messages.push_back({"assistant", textOf(second)});
      next.messages.push_back({"user", "And"});
      QVERIFY(promptOf(answered(service, next)) == joined({contextOf(second), kStart, bytes("And"), kStart}));
    }
    // Edited, or in another conversation.
    const std::string edited = shown + "!";
    QVERIFY(promptOf(answered(service, client({{"user", "Hi"}, {"assistant", edited}, {"user", "Go on"}}))) ==
            joined({kStart, bytes("Hi"), kStart, bytes(edited), kStart, bytes("Go on"), kStart}));
    QVERIFY(promptOf(answered(service, client({{"user", "Ho"}, {"assistant", shown}, {"user", "Go on"}}))) ==
            joined({kStart, bytes("Ho"), kStart, bytes(shown), kStart, bytes("Go on"), kStart}));
    // A request that does not ask for it gets its own words.
    GenerateRequest own = client({{"user", "Hi"}, {"assistant", shown}, {"user", "Go on"}});
    own.recallsAnswers = false;
    QVERIFY(promptOf(answered(service, own)) ==
            joined({kStart, bytes("Hi"), kStart, bytes(shown), kStart, bytes("Go on"), kStart}));
  }

  void aForcedClosingComesBack() {
    EngineService service;
    load(service, opens_);
    GenerateRequest first = client({{"user", "Hi"}});
    first.reasoning.budget = 7;
    first.maxTokens = 40;
    const Answer answer = answered(service, first);
    const std::string text = textOf(answer);
    const std::string closing = "\n</think>\n\n";
    const std::size_t end = text.find(closing);
    QVERIFY(end != std::string::npos);
    QVERIFY(answer.last<FinishedEvent>()->reasoning.end == ReasoningEnd::kBudget);
    for (const std::string& copy : {text.substr(end + closing.size()), text, "<think>" + text}) {
      const Answer second =
          answered(service, client({{"user", "Hi"}, {"assistant", copy}, {"user", "Go on"}}));
      QVERIFY2(
          promptOf(second) == joined({contextOf(answer), kStart, bytes("Go on"), kStart, bytes("<think>\n")}),
          copy.c_str());
    }
  }

  void aStopStringComesBack() {
    EngineService service;
    load(service, plain_);
    const std::string whole = textOf(answered(service, client({{"user", "Hello"}})));
    QVERIFY(whole.size() > 12);
    GenerateRequest first = client({{"user", "Hello"}});
    first.stop = {whole.substr(8, 3)};
    const Answer answer = answered(service, first);
    QVERIFY(answer.last<FinishedEvent>()->stats.finish == FinishReason::kStopString);
    const std::string shown = textOf(answer);
    const Ids next = joined({kStart, bytes("Go on"), kStart});
    QVERIFY(idsOf(answer).size() > bytes(shown).size());
    QVERIFY(
        promptOf(answered(service, client({{"user", "Hello"}, {"assistant", shown}, {"user", "Go on"}}))) ==
        joined({contextOf(answer), next}));
    // A stop token ends an answer as an end token does.
    GenerateRequest token = client({{"user", "Hi there"}});
    token.stopTokens = {idsOf(answered(service, token)).at(5)};
    const Answer ended = answered(service, token);
    QVERIFY(ended.last<FinishedEvent>()->stats.finish == FinishReason::kStopToken);
    Ids ids = contextOf(ended);
    ids.pop_back();
    QVERIFY(promptOf(answered(
                service, client({{"user", "Hi there"}, {"assistant", textOf(ended)}, {"user", "Go on"}}))) ==
            joined({ids, next}));
  }

  // The same ids, once shown whole and once cut at a stop string, in either order and again.
  void oneAnswerIsShownInTwoWays() {
    const std::vector<PromptMessage> asked = {{"user", "Hi"}};
    const service::WrittenAnswer whole = {.tokens = bytes("Yes. END"), .text = "Yes. END"};
    service::WrittenAnswer cut = whole;
    cut.hidden = {{5, std::string::npos}};
    for (const auto& order : {std::vector{whole, cut}, {cut, whole}, {whole, cut, whole, cut}}) {
      AnswerMemory memory;
      for (const service::WrittenAnswer& answer : order)
        memory.keep(asked, answer);
      for (const char* copy : {"Yes. END", "Yes. "}) {
        auto messages = asked;
        messages.push_back({"assistant", copy});
        memory.recall(messages);
        QVERIFY2(messages.back().tokens == whole.tokens, copy);
      }
      AnswerMemory twice;
      twice.keep(asked, whole);
      twice.keep(asked, cut);
      QCOMPARE(memory.bytes(), twice.bytes());
    }
  }

  void theMemoryKeepsToItsBudget() {
    const auto conversation = [](int number) {
      return std::vector<PromptMessage>{{"user", "question " + std::to_string(number)}};
    };
    const auto knows = [&](AnswerMemory& memory, int number) {
      auto messages = conversation(number);
      messages.push_back({"assistant", "yes"});
      memory.recall(messages);
      return messages.back().tokens == bytes("(x) yes");
    };
    AnswerMemory memory(8000);
    for (int i = 0; i < 200; ++i) {
      memory.keep(conversation(i), {.tokens = bytes("(x) yes"), .text = "(x) yes", .hidden = {{0, 3}}});
      QVERIFY(memory.bytes() <= 8000);
      QVERIFY(knows(memory, i));
      if (i > 0) QVERIFY(knows(memory, 1));  // asked for each time, so it stays
    }
    QVERIFY(!knows(memory, 100));
    // The same messages by other speakers or calls are others.
    std::vector<PromptMessage> other = {{"system", "question 1"}, {"assistant", "yes"}};
    memory.recall(other);
    QVERIFY(other.back().tokens.empty());
    other = {{"user", "question 1"}, {"assistant", "yes"}};
    other.back().toolCalls = {{"f", "{}"}};
    memory.recall(other);
    QVERIFY(other.back().tokens.empty());
  }
};

}  // namespace tandem::test

QTEST_GUILESS_MAIN(tandem::test::TestHiddenText)
#include "test_hidden_text.moc"
