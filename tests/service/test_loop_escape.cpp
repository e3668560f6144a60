// Which turns of recorded agents are repeats (tests/data/agent-turns), and how such turns are sampled.
#include <QDir>
#include <QtTest>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "app/service/agent_sampling.h"
#include "app/service/chat_request.h"
#include "app/service/loop_escape.h"
#include "engine/gguf/encoded_value.h"
#include "tests/gguf/model_copy.h"
#include "tests/service/service_fixture.h"

namespace tandem::test {

using namespace service;

namespace {

using Json = nlohmann::json;
using Policy = std::function<LoopJudgement(const std::vector<PromptMessage>&)>;

struct Recording {
  std::string name;
  std::vector<PromptMessage> messages;
  std::vector<std::string> expected;  // before each answer, and at the end if that is a tool's result
};

std::string text(const Json& json, const char* key) {
  return json.value(key, std::string());
}

PromptMessage messageOf(const Json& json) {
  PromptMessage message{text(json, "role"), text(json, "content")};
  message.toolCallId = text(json, "tool_call_id");
  for (const Json& call : json.value("tool_calls", Json::array())) {
    const Json& function = call.at("function");
    message.toolCalls.push_back({text(function, "name"), text(function, "arguments"), text(call, "id")});
  }
  return message;
}

std::vector<Recording> recordings() {
  std::vector<Recording> all;
  const QDir folder(TANDEM_TEST_DATA "/agent-turns");
  for (const QString& name : folder.entryList({"*.json"})) {
    std::ifstream file(folder.filePath(name).toStdString());
    const Json json = Json::parse(file);
    Recording& recording = all.emplace_back();
    recording.name = name.toStdString();
    for (const Json& message : json.at("messages"))
      recording.messages.push_back(messageOf(message));
    recording.expected = json.at("expected").get<std::vector<std::string>>();
  }
  return all;
}

std::string words(const LoopJudgement& judgement) {
  const std::string name = loopName(judgement.loop);
  return judgement.loop == Loop::kNone ? name : name + ' ' + std::to_string(judgement.stepsBack);
}

// What the policy says before each answer and at the end.
std::vector<std::string> judged(const Policy& policy, const Recording& recording) {
  std::vector<std::string> all;
  std::vector<PromptMessage> before;
  for (const PromptMessage& message : recording.messages) {
    if (message.role == "assistant") all.push_back(words(policy(before)));
    before.push_back(message);
  }
  if (isAgentTurn(before)) all.push_back(words(policy(before)));
  return all;
}

// Wrong policies, which are right about many recordings.

std::vector<PromptMessage> changed(std::vector<PromptMessage> messages,
                                   const std::function<void(PromptMessage&)>& change) {
  for (PromptMessage& message : messages)
    change(message);
  return messages;
}
LoopJudgement neverEscapes(const std::vector<PromptMessage>&) {
  return {};
}
LoopJudgement forgetsResults(const std::vector<PromptMessage>& messages) {
  return judgeLoop(changed(messages, [](PromptMessage& m) {
    if (m.role == "tool") m.content.clear();
  }));
}
LoopJudgement overhearsPeople(const std::vector<PromptMessage>& messages) {
  return judgeLoop(changed(messages, [](PromptMessage& m) {
    if (m.role == "user") m.role = "system";
  }));
}
LoopJudgement looksOneStepBack(const std::vector<PromptMessage>& messages) {
  const LoopJudgement judgement = judgeLoop(messages);
  return judgement.stepsBack > 1 ? LoopJudgement() : judgement;
}
LoopJudgement seesOnlyRepeats(const std::vector<PromptMessage>& messages) {
  const LoopJudgement judgement = judgeLoop(messages);
  return judgement.loop == Loop::kNearRepeat ? LoopJudgement() : judgement;
}
LoopJudgement comparesLetters(const std::vector<PromptMessage>& messages) {
  return judgeLoop(changed(messages, [](PromptMessage& m) {
    for (ToolCall& call : m.toolCalls)
      call.name += call.arguments;
  }));
}
LoopJudgement takesFirstCallOnly(const std::vector<PromptMessage>& messages) {
  return judgeLoop(changed(messages, [](PromptMessage& m) {
    if (m.toolCalls.size() > 1) m.toolCalls.resize(1);
  }));
}

}  // namespace

class TestLoopEscape : public QObject, ServiceFixture {
  Q_OBJECT

 private slots:
  void recordedTurnsAreJudgedAsExpected();
  void wrongPoliciesAreSeen();
  void hostileArgumentsAreHarmless();
  void recommendedSettingsComeFromTheFile();
  void onlyAnAgentsLoopIsSampled();
  void templatesAreGivenTheCalls();
  void theServiceEscapes();
};

void TestLoopEscape::recordedTurnsAreJudgedAsExpected() {
  const auto all = recordings();
  QVERIFY(all.size() >= 12);
  for (const Recording& recording : all) {
    const auto got = judged(judgeLoop, recording);
    QVERIFY2(got == recording.expected, (recording.name + ": " + Json(got).dump()).c_str());
  }
}

void TestLoopEscape::wrongPoliciesAreSeen() {
  const auto all = recordings();
  for (const Policy policy : {neverEscapes, forgetsResults, overhearsPeople, looksOneStepBack,
                              seesOnlyRepeats, comparesLetters, takesFirstCallOnly}) {
    const auto right = std::ranges::count_if(
        all, [&](const Recording& recording) { return judged(policy, recording) == recording.expected; });
    QVERIFY(right > 0 && right < std::ssize(all));
  }
}

void TestLoopEscape::hostileArgumentsAreHarmless() {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  const std::string wide(1'000'000, 'a'), spaced = "{\"a\":\"" + wide + "\"}";
  for (const std::string& one : {deep, wide, spaced, std::string("\xFF\xFE{"), std::string("\0", 1)}) {
    QCOMPARE(compareCalls({"f", one}, {"f", one}), Loop::kRepeat);
    QCOMPARE(compareCalls({"f", one}, {"f", "{}"}), Loop::kNone);
    QVERIFY(sameResult(one, one + "\n"));
  }
  // Results without calls, calls without results, results of unknown calls.
  QVERIFY(judgeLoop({{"tool", "a"}, {"tool", "a"}}).loop == Loop::kNone);
  PromptMessage call{"assistant", ""}, stray{"tool", "b"};
  call.toolCalls = {{"f", "{}", "1"}};
  stray.toolCallId = "2";
  QCOMPARE(words(judgeLoop({call, call, stray})), std::string("repeat 1"));
  QCOMPARE(words(judgeLoop({call, call})), std::string("none"));
}

void TestLoopEscape::recommendedSettingsComeFromTheFile() {
  const auto settingsOf = [this](const std::vector<std::pair<const char*, gguf::EncodedValue>>& values) {
    const std::string plain = write("plain.gguf"), path = folder_.filePath("card.gguf").toStdString();
    auto copy = ModelCopy::of(plain);
    for (const auto& [key, value] : values)
      copy->setValue(key, value);
    if (!copy->write(path)) qFatal("not written");
    const auto file = gguf::File::open(path);
    const SamplingParams s = recommendedSampling(**file);
    return std::tuple(s.temperature, s.topK, s.topP, s.minP);
  };
  const std::tuple usual(0.7f, std::int64_t{20}, 0.95f, 0.0f);
  QCOMPARE(settingsOf({}), usual);
  QCOMPARE(settingsOf({{"general.sampling.temp", gguf::encode(1.0f)},
                       {"general.sampling.top_k", gguf::encode(std::int32_t{64})},
                       {"general.sampling.top_p", gguf::encode(0.9f)},
                       {"general.sampling.min_p", gguf::encode(0.05f)}}),
           std::tuple(1.0f, std::int64_t{64}, 0.9f, 0.05f));
  QCOMPARE(settingsOf({{"general.sampling.temp", gguf::encode(0.0f)},
                       {"general.sampling.top_k", gguf::encode(std::int32_t{-1})},
                       {"general.sampling.top_p", gguf::encode(NAN)},
                       {"general.sampling.min_p", gguf::encode(std::string_view("much"))}}),
           usual);
}

void TestLoopEscape::onlyAnAgentsLoopIsSampled() {
  const auto all = recordings();
  const auto named = [&](const char* name) {
    return std::ranges::find(all, std::string(name), &Recording::name)->messages;
  };
  const SamplingParams card{.temperature = 0.9f, .topK = 40, .topP = 0.8f, .minP = 0.01f};
  GenerateRequest request;
  request.messages = named("exact-loop.json");
  request.sampling.repetitionPenalty = 1.1f;
  const auto chosen = chooseSampling(request, card, 77);
  QVERIFY(chosen);
  QCOMPARE(chosen->kind, std::string("loop_escape"));
  QCOMPARE(chosen->reason, std::string("repeat"));
  QCOMPARE(chosen->stepsBack, 1);
  QCOMPARE(chosen->params.seed, std::uint64_t{77});
  QVERIFY(chosen->params.temperature == 0.9f && chosen->params.topK == 40 && chosen->params.topP == 0.8f &&
          chosen->params.minP == 0.01f && chosen->params.repetitionPenalty == 1.1f);

  auto own = request;
  own.sampling.temperature = 0.5f;
  QVERIFY(!chooseSampling(own, card, 77));
  auto off = request;
  off.agentSampling = AgentSampling::kAsAsked;
  QVERIFY(!chooseSampling(off, card, 77));
  auto continued = request;
  continued.answerSoFar = {5};
  QVERIFY(!chooseSampling(continued, card, 77));

  auto progress = request;
  progress.messages = named("pages.json");
  QVERIFY(!chooseSampling(progress, card, 77));
  progress.agentSampling = AgentSampling::kCard;
  QCOMPARE(chooseSampling(progress, card, 77)->kind, std::string("card"));
  progress.messages.push_back({"user", "Thank you."});
  QVERIFY(!chooseSampling(progress, card, 77));
  request.agentSampling = AgentSampling::kCard;
  QCOMPARE(chooseSampling(request, card, 77)->kind, std::string("loop_escape"));
}

void TestLoopEscape::templatesAreGivenTheCalls() {
  PromptMessage call{"assistant", ""}, result{"tool", "shut"};
  call.toolCalls = {{"look", R"({"to": "door", "at": 1})", "1"}, {"look", "door"}};
  result.toolCallId = "1";
  const ChatRequest request = service::chatRequest({{"user", "Look."}, call, result});
  QVERIFY(request.messages[0].extra.empty());
  QCOMPARE(request.messages[1].extra.dump(),
           std::string(R"({"tool_calls":[{"type":"function","function":{"name":"look",)"
                       R"("arguments":{"to":"door","at":1}},"id":"1"},)"
                       R"({"type":"function","function":{"name":"look","arguments":"door"}}]})"));
  QCOMPARE(request.messages[2].extra.dump(), std::string(R"({"tool_call_id":"1"})"));
}

// Through the real service: a looping turn is sampled with a seed that reproduces it, and the next turn that
// makes progress is greedy, as it would be without all this.
void TestLoopEscape::theServiceEscapes() {
  EngineService service;
  load(service, write("agent.gguf"));
  PromptMessage call{"assistant", ""};
  call.toolCalls = {{"look", "{\"at\": \"door\"}", "1"}};
  const PromptMessage result{"tool", "shut"};
  GenerateRequest request;
  request.messages = {{"user", "Open the door."}, call, result, call, result};
  request.maxTokens = 24;
  const auto tokensOf = [&](const GenerateRequest& what, std::optional<ChosenSampling>* chosen = nullptr) {
    const Answer answer = answered(service, what);
    const auto finished = answer.last<FinishedEvent>();
    if (!finished) qFatal("not finished");
    if (chosen) *chosen = finished->chosen;
    std::vector<TokenId> tokens;
    for (const GenerationEvent& event : answer.events()) {
      const auto* piece = std::get_if<PieceEvent>(&event);
      for (std::size_t i = 0; piece && i < piece->piece.tokens.size(); ++i)
        tokens.push_back(piece->piece.tokens[i].id);
    }
    return tokens;
  };
  std::optional<ChosenSampling> chosen, again, none;
  const auto sampled = tokensOf(request, &chosen), other = tokensOf(request, &again);
  QVERIFY(chosen && again);
  QVERIFY(chosen->params.seed != again->params.seed);
  QVERIFY(sampled != other);

  auto repeated = request;
  repeated.sampling = chosen->params;
  QCOMPARE(tokensOf(repeated, &none), sampled);
  QVERIFY(!none);

  auto greedy = request;
  greedy.agentSampling = AgentSampling::kAsAsked;
  const auto plain = tokensOf(greedy, &none);
  QVERIFY(!none && plain == tokensOf(greedy) && plain != sampled);

  auto progress = request;
  progress.messages.back().content = "open";
  auto plainProgress = progress;
  plainProgress.agentSampling = AgentSampling::kAsAsked;
  QCOMPARE(tokensOf(progress, &none), tokensOf(plainProgress));
  QVERIFY(!none);
}

}  // namespace tandem::test

QTEST_APPLESS_MAIN(tandem::test::TestLoopEscape)
#include "test_loop_escape.moc"
