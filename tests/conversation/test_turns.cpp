// Turns: sent, answered, stopped, refused and failed, and what the store and the journal keep of them.
#include <algorithm>
#include <cmath>

#include "app/conversation/json.h"
#include "app/conversation/turn.h"
#include "tests/conversation/conversation_fixture.h"
#include "tests/storage/store_helpers.h"

using namespace tandem;
using namespace tandem::testing;
using namespace std::chrono_literals;

class TestTurns : public QObject, private ConversationFixture {
  Q_OBJECT

 private slots:
  void init() { start(); }
  void cleanup() { finish(); }

  void sendMakesAConversation();
  void turnIsOnDiskBeforeItIsGenerated();
  void promptIsThePath();
  void systemPromptComesFirst();
  void answersTellWhatTheyDoNotShow();
  void onlyNewMessagesAreAnsweredFromResponses();
  void anAnswerThatWasGivenAgainHasNoRate();
  void completionModeJoinsTheContents();
  void journalOfAnAnswer();
  void originsAndBytesAreKept();
  void sampledAnswersKeepTheirSeed();
  void optionsReachTheBackendAndTheJournal();
  void journalOfAChosenSampling();
  void secondSendIsRefusedWithItsText();
  void emptyTextIsRefused();
  void missingConversationIsRefused();
  void stopKeepsTheText();
  void stopInEveryPhase_data();
  void stopInEveryPhase();
  void stopBeforeTheCommitTakesItBack();
  void failureIsShownInTheAnswer();
  void failureKeepsThePartialText();
  void noModelFailsTheAnswer();
  void promptTooLongLeavesNothing();
  void promptTooLongInANewConversation();
  void twoConversationsAtOnce();
};

void TestTurns::sendMakesAConversation() {
  setAnswer("Canberra.");
  const auto answer = ask(0, "What is the capital of Australia?");
  QCOMPARE(answer.content, std::string("Canberra."));
  QCOMPARE(answer.state, MessageState::kComplete);
  QCOMPARE(answer.model, std::string("Fake 1B"));
  const Seen s = seen();
  QCOMPARE(s.views.at(s.newest).record.title, std::string("What is the capital of Australia?"));
  QCOMPARE(s.path()[0].content, std::string("What is the capital of Australia?"));
  QCOMPARE(s.path()[1].parent, s.path()[0].id);
  QCOMPARE(s.finishes.at(answer.id), 1);
  QVERIFY(listener_->waitFor([](const Seen& now) { return now.list.size() == 1 && now.list[0].tokens > 0; }));
  const auto kept = stored(s.newest);
  QCOMPARE(kept.size(), std::size_t(2));
  QCOMPARE(kept[1].content, answer.content);
  QVERIFY(kept[1].tokenIds == s.ids.at(answer.id));
}

void TestTurns::turnIsOnDiskBeforeItIsGenerated() {
  std::string onDisk;
  backend_->setScript([&](const service::GenerateRequest&) {
    onDisk = askFile(path_, "SELECT group_concat(role || ':' || state || ':' || content, ',') FROM messages");
    return FakeAnswer();
  });
  ask(0, "kept first");
  QCOMPARE(onDisk, std::string("0:0:kept first,1:1:"));
}

void TestTurns::promptIsThePath() {
  setAnswer("one answered");
  ask(0, "one");
  setAnswer("two answered");
  ask(seen().newest, "two");
  const auto requests = backend_->requests();
  QCOMPARE(requests.size(), std::size_t(2));
  QVERIFY(requests[0].messages.size() == 1 && requests[0].messages[0].role == "user");
  const auto& messages = requests[1].messages;
  QCOMPARE(messages.size(), std::size_t(3));
  QVERIFY(messages[0].role == "user" && messages[0].content == "one");
  QVERIFY(messages[1].role == "assistant" && messages[1].content == "one answered");
  QVERIFY(messages[2].role == "user" && messages[2].content == "two");
  QVERIFY(requests[1].rawPrompt.empty() && requests[1].answerSoFar.empty());
  QVERIFY(requests[1].sampling.greedy());
}

void TestTurns::systemPromptComesFirst() {
  service_->setDefaults(AnswerSettings(), "Be brief.");
  ask(0, "hello");
  const ConversationId id = seen().newest;
  service_->setSystemPrompt(id, "Be long.");
  ask(id, "again");
  service_->setSystemPrompt(id, "");
  ask(id, "third");
  service_->setSystemPrompt(0, "For the next one.");
  ask(0, "new");
  ask(0, "newer");
  const auto requests = backend_->requests();
  QVERIFY(requests[0].messages[0].role == "system" && requests[0].messages[0].content == "Be brief.");
  QCOMPARE(requests[1].messages[0].content, std::string("Be long."));
  QCOMPARE(requests[2].messages[0].role, std::string("user"));
  QCOMPARE(requests[3].messages[0].content, std::string("For the next one."));
  QCOMPARE(requests[4].messages[0].content, std::string("Be brief."));
}

void TestTurns::answersTellWhatTheyDoNotShow() {
  ConversationView view;
  const auto messageAfter = [&](FinishReason finish) {
    storage::MessageRecord answer;
    answer.id = 1;
    answer.role = storage::Role::kAssistant;
    answer.content = "Yes.";
    answer.tokenIds = {5, 6, 7};
    GenerationStats stats;
    stats.finish = finish;
    answer.statsJson = statsToJson(stats);
    view.path = {answer};
    return promptOf(view, 2, false).messages.at(0);
  };
  const auto whole = messageAfter(FinishReason::kLength), cut = messageAfter(FinishReason::kStopString);
  QVERIFY(whole.content == "Yes." && whole.tokens == std::vector<TokenId>({5, 6, 7}) && whole.hidden.empty());
  QVERIFY(cut.tokens == whole.tokens && cut.hidden == std::vector<service::HiddenText>({{4}}));
  QVERIFY(messageAfter(FinishReason::kStopToken).tokens == std::vector<TokenId>({5, 6}));
  QVERIFY(messageAfter(FinishReason::kStopToken).hidden.empty());
  // The same where no template marks the messages.
  const auto completion = promptOf(view, 2, true).rawAnswers;
  QVERIFY(completion.size() == 1 && completion[0].tokens == std::vector<TokenId>({5, 6}));
}

void TestTurns::onlyNewMessagesAreAnsweredFromResponses() {
  ask(0, "off by default");
  AnswerSettings settings;
  settings.responseCache = true;
  service_->setDefaults(settings, {});
  const auto answer = ask(0, "one");
  service_->regenerate(answer.id);
  QTRY_COMPARE(backend_->requests().size(), std::size_t(3));
  const auto requests = backend_->requests();
  QVERIFY(!requests[0].fromResponses && requests[1].fromResponses && !requests[2].fromResponses);
  QTRY_COMPARE(journal().size(), std::size_t(3));
}

void TestTurns::anAnswerThatWasGivenAgainHasNoRate() {
  GenerationStats stats;
  stats.fromResponse = true;
  stats.promptTokens = stats.cachedTokens = 9;
  stats.completionTokens = 30;
  stats.decodeMs = 0.01;
  const storage::JournalRow row = journalRow(tandem::Turn(), stats, std::nullopt);
  QCOMPARE(row.cacheSource, std::string("response"));
  QVERIFY(row.decodeRate == 0 && row.prefillRate == 0 && row.status == "ok");
  const auto read = statsFromJson(statsToJson(stats));
  QVERIFY(read && read->fromResponse && read->decodeTokensPerSecond() == 0);
  stats.fromResponse = false;
  QCOMPARE(journalRow(tandem::Turn(), stats, std::nullopt).cacheSource, std::string("prefix"));
  QVERIFY(!statsFromJson(statsToJson(stats))->fromResponse);
}

void TestTurns::completionModeJoinsTheContents() {
  auto model = *backend_->model();
  model.hasChatTemplate = false;
  backend_->setModel(model);
  service_->setDefaults(AnswerSettings(), "not for a completion");
  setAnswer(" upon a time");
  ask(0, "Once");
  ask(seen().newest, ", there");
  const auto requests = backend_->requests();
  QVERIFY(requests[0].messages.empty());
  QCOMPARE(requests[0].rawPrompt, std::string("Once"));
  QCOMPARE(requests[1].rawPrompt, std::string("Once upon a time, there"));
  QCOMPARE(journal().at(1).endpoint, std::string("completion"));
}

void TestTurns::journalOfAnAnswer() {
  FakeAnswer script;
  script.tokensPerPiece = 3;
  script.prefillMs = 20;
  script.tokensPerSecond = 500;
  backend_->setAnswer(script);
  const auto answer = ask(0, "What is the capital of Australia?");
  const auto rows = journal();
  QCOMPARE(rows.size(), std::size_t(1));
  const auto& row = rows[0];
  const auto stats = statsFromJson(answer.statsJson);
  QVERIFY(stats.has_value());
  QVERIFY(std::abs(row.arrivedMs - answer.createdMs) < 1000 && row.arrivedMs > 1'600'000'000'000);
  QCOMPARE(row.session.size(), std::size_t(16));
  QCOMPARE(row.conversation, seen().newest);
  QCOMPARE(row.client, std::string("window"));
  QCOMPARE(row.endpoint, std::string("chat"));
  QCOMPARE(row.model, std::string("Fake 1B"));
  QCOMPARE(row.profile, std::string("portable"));
  QCOMPARE(row.fingerprint, std::string("00ff00ff00ff00ff"));
  QCOMPARE(row.status, std::string("ok"));
  QCOMPARE(row.finishReason, std::string("stop"));
  QCOMPARE(row.promptTokens, stats->promptTokens);
  QVERIFY(row.promptTokens > 0);
  QCOMPARE(row.completionTokens, static_cast<int>(answer.tokenIds.size()));
  QCOMPARE(row.rounds, stats->rounds);
  QVERIFY(row.drafted > 0 && row.accepted > 0);
  QVERIFY(row.acceptedByJson.find("own-text") != std::string::npos);
  QVERIFY(row.prefillMs >= 15 && row.totalMs >= row.prefillMs && row.ttftMs > 0 && row.decodeMs > 0);
  QCOMPARE(row.decodeRate, stats->decodeTokensPerSecond());
  QCOMPARE(row.prefillRate, stats->prefillTokensPerSecond());
  QCOMPARE(row.tokensPerRound, stats->tokensPerRound());
  QCOMPARE(row.cacheSource, std::string("none"));
  QVERIFY(row.sampling.empty() && row.extraJson.empty() && row.error.empty());
  QVERIFY(row.temperature == 0.0f && row.topP == 1.0f && row.topK == 0 && row.minP == 0.0f && row.seed == 0);
  QCOMPARE(row.engineVersion, std::string(TANDEM_VERSION));
}

void TestTurns::originsAndBytesAreKept() {
  FakeAnswer script;
  script.text = "Grüße 🌍 aus 東京, wo es 🦘 gibt.";
  script.tokensPerPiece = 2;
  backend_->setAnswer(script);
  const auto answer = ask(0, "hello");
  QCOMPARE(answer.content, script.text);
  QCOMPARE(answer.origins.size(), answer.tokenIds.size());
  QCOMPARE(answer.textBytes.size(), answer.tokenIds.size());
  std::size_t bytes = 0;
  std::size_t own = 0;
  for (std::size_t i = 0; i < answer.textBytes.size(); ++i) {
    bytes += answer.textBytes[i];
    own += answer.origins[i] == static_cast<std::uint8_t>(TokenOrigin::kOwnText) ? 1 : 0;
  }
  QCOMPARE(bytes, answer.content.size());
  QCOMPARE(static_cast<int>(own), statsFromJson(answer.statsJson)->acceptedBy[1]);
  QCOMPARE(answer.tokenIds.back(), FakeBackend::kEndToken);
  const auto kept = stored(seen().newest).at(1);
  QVERIFY(kept.origins == answer.origins && kept.textBytes == answer.textBytes);
}

void TestTurns::sampledAnswersKeepTheirSeed() {
  AnswerSettings settings;
  settings.sampling.temperature = 0.8f;
  settings.sampling.topK = 40;
  service_->setDefaults(settings, {});
  ask(0, "one");
  ask(seen().newest, "two");
  settings.seedGiven = true;
  settings.sampling.seed = 42;
  service_->setSettings(seen().newest, settings);
  const auto answer = ask(seen().newest, "three");
  const auto requests = backend_->requests();
  QVERIFY(requests[0].sampling.seed != requests[1].sampling.seed);
  QCOMPARE(requests[2].sampling.seed, std::uint64_t(42));
  const auto rows = journal();
  for (std::size_t i = 0; i < 3; ++i) {
    QCOMPARE(rows[i].seed, requests[i].sampling.seed);
    QCOMPARE(rows[i].sampling, std::string("client"));
    QCOMPARE(rows[i].temperature, 0.8f);
    QCOMPARE(rows[i].topK, std::int64_t(40));
  }
  QCOMPARE(samplingFromJson(answer.samplingJson).seed, std::uint64_t(42));
  QCOMPARE(samplingFromJson(stored(seen().newest).at(1).samplingJson).seed, requests[0].sampling.seed);
}

void TestTurns::optionsReachTheBackendAndTheJournal() {
  AnswerSettings settings;
  settings.sampling.repetitionPenalty = 1.2f;
  settings.sampling.logitBias = {{5, -1}};
  settings.minTokens = 1;
  settings.stop = {"secret"};
  settings.stopTokens = {77};
  service_->setDefaults(settings, {});
  const auto answer = ask(0, "one");
  const auto request = backend_->requests().at(0);
  QVERIFY(request.sampling.repetitionPenalty == 1.2f && request.sampling.greedy());
  QVERIFY(request.sampling.logitBias == settings.sampling.logitBias);
  QVERIFY(request.minTokens == 1 && request.stop == settings.stop &&
          request.stopTokens == settings.stopTokens);
  QVERIFY(samplingFromJson(answer.samplingJson).logitBias == settings.sampling.logitBias);
  const auto row = journal().at(0);
  QCOMPARE(row.sampling, std::string("client"));
  QCOMPARE(row.extraJson, std::string(R"({"options":{"logit_bias":1,"min_tokens":1,"repetition_penalty":1.2,)"
                                      R"("stop":1,"stop_token_ids":1}})"));
}

// What the backend samples an agent's turn with is in the ledger, and the answer goes on with it.
void TestTurns::journalOfAChosenSampling() {
  FakeAnswer script;
  script.chosen =
      service::ChosenSampling{.kind = "loop_escape",
                              .reason = "near_repeat",
                              .stepsBack = 2,
                              .params = {.temperature = 0.9f, .topK = 40, .topP = 0.8f, .seed = 77}};
  backend_->setAnswer(script);
  const auto answer = ask(0, "one");
  QCOMPARE(samplingKindFromJson(answer.samplingJson), std::string("loop_escape"));
  QCOMPARE(samplingFromJson(answer.samplingJson).seed, std::uint64_t{77});
  script.chosen->kind = "card";
  script.chosen->stepsBack = 0;
  script.fail = Error{ErrorCode::kInternal, "broken"};
  script.failAfterTokens = 1;
  backend_->setAnswer(script);
  service_->send(seen().newest, "two");
  QTRY_COMPARE(journal().size(), std::size_t(2));
  const auto rows = journal();
  QCOMPARE(rows[0].sampling, std::string("loop_escape"));
  QVERIFY(rows[0].temperature == 0.9f && rows[0].topK == 40 && rows[0].topP == 0.8f && rows[0].seed == 77);
  QCOMPARE(rows[0].extraJson,
           std::string(R"({"loop_escape":{"reason":"near_repeat","seed":77,"steps_back":2}})"));
  QCOMPARE(rows[1].sampling, std::string("card"));
  QCOMPARE(rows[1].extraJson, std::string(R"({"card":{"seed":77}})"));
}

void TestTurns::secondSendIsRefusedWithItsText() {
  setAnswer("word ", 100, true);
  service_->send(0, "first");
  QVERIFY(streaming(10) != 0);
  const ConversationId id = seen().newest;
  service_->send(id, "second");
  const auto refused = failure();
  QVERIFY(refused.has_value());
  QCOMPARE(refused->answer, MessageId(0));
  QCOMPARE(refused->error.code, ErrorCode::kBusy);
  QCOMPARE(refused->draft, std::string("second"));
  QCOMPARE(stored(id).size(), std::size_t(2));
  // Two at once: exactly one is taken.
  service_->stop(id);
  QVERIFY(nextEnd(1).id != 0);
  service_->send(id, "third");
  service_->send(id, "fourth");
  QCOMPARE(failure(2)->draft, std::string("fourth"));
  QVERIFY(streaming(1) != 0);
  QCOMPARE(seen().path().size(), std::size_t(4));
}

void TestTurns::emptyTextIsRefused() {
  service_->send(0, " \n\t");
  QCOMPARE(failure()->error.code, ErrorCode::kInvalidArgument);
  QVERIFY(seen().views.empty());
}

void TestTurns::missingConversationIsRefused() {
  service_->send(4711, "lost?");
  const auto refused = failure();
  QCOMPARE(refused->error.code, ErrorCode::kNotFound);
  QCOMPARE(refused->draft, std::string("lost?"));
  service_->regenerate(4711);
  QCOMPARE(failure(2)->error.code, ErrorCode::kNotFound);
  service_->open(4711);
  QCOMPARE(failure(3)->error.code, ErrorCode::kNotFound);
}

void TestTurns::stopKeepsTheText() {
  setAnswer("word ", 200, true);
  service_->send(0, "go");
  const MessageId answer = streaming(40);
  QVERIFY(answer != 0);
  service_->stop(seen().newest);
  const auto ended = nextEnd(0);
  QCOMPARE(ended.state, MessageState::kStopped);
  QCOMPARE(ended.content, seen().text.at(answer));
  QCOMPARE(stored(seen().newest).at(1).content, ended.content);
  QCOMPARE(journal().at(0).status, std::string("cancelled"));
  QCOMPARE(journal().at(0).finishReason, std::string("cancelled"));
}

void TestTurns::stopInEveryPhase_data() {
  QTest::addColumn<QString>("phase");
  QTest::newRow("queued") << "queued";
  QTest::newRow("prefill") << "prefill";
  QTest::newRow("decode") << "decode";
}

void TestTurns::stopInEveryPhase() {
  QFETCH(QString, phase);
  FakeAnswer script;
  script.endless = true;
  script.tokensPerSecond = 50;
  script.prefillMs = phase == "prefill" ? 5000 : 0;
  backend_->setAnswer(script);
  ConversationId last = 0;
  if (phase == "queued") {
    service_->send(0, "in front");
    QVERIFY(streaming(1) != 0);
    last = seen().newest;
  }
  // On a busy machine a single try may be late through no fault of ours.
  std::chrono::duration<double, std::milli> best = 1h;
  for (int tries = 0; tries < 5 && best >= 200ms; ++tries) {
    service_->send(0, "to be stopped");
    QVERIFY(listener_->waitFor([&](const Seen& s) {
      if (s.newest == last || s.path().empty()) return false;
      const MessageId answer = s.path().back().id;
      return phase == "queued"    ? s.queued.contains(answer)
             : phase == "prefill" ? s.prefilled.contains(answer)
                                  : !s.text.at(answer).empty();
    }));
    last = seen().newest;
    const MessageId answer = seen().path().back().id;
    const auto start = std::chrono::steady_clock::now();
    service_->stop(last);
    QVERIFY(listener_->waitFor([&](const Seen& s) { return s.finished.contains(answer); }));
    best = std::min<decltype(best)>(best, std::chrono::steady_clock::now() - start);
    QVERIFY(listener_->waitFor(
        [&](const Seen& s) { return s.views.at(last).path.back().state == MessageState::kStopped; }));
  }
  qInfo("stopped in %.1f ms", best.count());
  QVERIFY(best < 200ms);
}

void TestTurns::stopBeforeTheCommitTakesItBack() {
  ask(0, "first");
  const ConversationId id = seen().newest;
  auto lock = std::make_unique<WriteLock>(path_);
  QVERIFY(lock->held());
  service_->send(id, "cannot be saved yet");
  QTest::qWait(50);
  service_->stop(id);
  const auto taken = failure();  // although the lock is still held
  QCOMPARE(taken->error.code, ErrorCode::kCancelled);
  QCOMPARE(taken->draft, std::string("cannot be saved yet"));
  lock.reset();
  QVERIFY(ask(id, "second").id != 0);
  QCOMPARE(stored(id).size(), std::size_t(4));
  QCOMPARE(backend_->requests().size(), std::size_t(2));
}

void TestTurns::failureIsShownInTheAnswer() {
  FakeAnswer script;
  script.fail = Error{ErrorCode::kNonFinite, "A logit was not a number.", "logits"};
  backend_->setAnswer(script);
  service_->send(0, "question");
  const auto failed = failure();
  QVERIFY(failed->answer != 0);
  QCOMPARE(failed->error.code, ErrorCode::kNonFinite);
  QVERIFY(failed->draft.empty());
  QVERIFY(listener_->waitFor([](const Seen& s) { return s.path().back().state == MessageState::kFailed; }));
  QCOMPARE(seen().path().back().error, std::string("A logit was not a number."));
  const auto row = journal().at(0);
  QCOMPARE(row.status, std::string("failed"));
  QCOMPARE(row.finishReason, std::string("failed"));
  QCOMPARE(row.error, std::string("non_finite"));  // the code: a sentence could quote the conversation
  // The conversation goes on.
  setAnswer("fine");
  QCOMPARE(ask(seen().newest, "again").content, std::string("fine"));
}

void TestTurns::failureKeepsThePartialText() {
  FakeAnswer script;
  script.fail = Error{ErrorCode::kOutOfMemory, "Out of memory."};
  script.failAfterTokens = 3;
  backend_->setAnswer(script);
  service_->send(0, "question");
  QVERIFY(failure().has_value());
  QVERIFY(listener_->waitFor([](const Seen& s) { return s.path().back().state == MessageState::kFailed; }));
  QVERIFY(!seen().path().back().content.empty());
  QCOMPARE(seen().path().back().tokenIds.size(), std::size_t(3));
  QCOMPARE(stored(seen().newest).back().content, seen().path().back().content);
}

void TestTurns::noModelFailsTheAnswer() {
  backend_->setModel(std::nullopt);
  service_->send(0, "anyone?");
  QCOMPARE(failure()->error.code, ErrorCode::kNotFound);
  QVERIFY(listener_->waitFor([](const Seen& s) { return s.path().back().state == MessageState::kFailed; }));
  QCOMPARE(seen().path()[0].content, std::string("anyone?"));  // the person's words stay
}

void TestTurns::promptTooLongLeavesNothing() {
  setAnswer("answer");
  ask(0, "short");
  const ConversationId id = seen().newest;
  const std::string longText(40'000, 'x');
  service_->send(id, longText);
  const auto refused = failure();
  QVERIFY(refused.has_value());
  QCOMPARE(refused->answer, MessageId(0));
  QCOMPARE(refused->error.code, ErrorCode::kContextLengthExceeded);
  QVERIFY(refused->draft == longText);
  // The view without the turn came first; a stream that was announced has ended.
  QCOMPARE(seen().views.at(id).path.size(), std::size_t(2));
  QCOMPARE(stored(id).size(), std::size_t(2));
  for (const auto& [answer, times] : seen().queued)
    QVERIFY(seen().finishes.contains(answer));
  QCOMPARE(journal().at(1).error, std::string("context_length_exceeded"));
  QCOMPARE(journal().at(1).status, std::string("failed"));
  QCOMPARE(ask(id, "short again").content, std::string("answer"));
}

void TestTurns::promptTooLongInANewConversation() {
  setAnswer("answer");
  service_->send(0, "Too long: " + std::string(40'000, 'x'));
  QCOMPARE(failure()->error.code, ErrorCode::kContextLengthExceeded);
  const ConversationId id = seen().newest;
  QVERIFY(seen().path().empty());
  service_->refreshList();
  QVERIFY(listener_->waitFor([](const Seen& s) { return s.lists >= 3 && s.list.empty(); }));
  // The shortened text is sent in the same place and names it.
  QCOMPARE(ask(id, "Shorter").content, std::string("answer"));
  QCOMPARE(seen().views.at(id).record.title, std::string("Shorter"));
}

void TestTurns::twoConversationsAtOnce() {
  FakeAnswer script;
  script.tokensPerSecond = 300;
  backend_->setScript([script](const service::GenerateRequest& request) {
    FakeAnswer answer = script;
    answer.text = "echo " + request.messages.back().content;
    return answer;
  });
  for (int i = 0; i < 5; ++i)
    service_->send(0, "number " + std::to_string(i));
  QVERIFY(listener_->waitFor([](const Seen& s) {
    if (s.views.size() != 5) return false;
    return std::all_of(s.views.begin(), s.views.end(), [](const auto& view) {
      return view.second.path.back().state == MessageState::kComplete;
    });
  }));
  for (const auto& [id, view] : seen().views) {
    QCOMPARE(view.path[1].content, "echo " + view.path[0].content);
  }
}

QTEST_GUILESS_MAIN(TestTurns)
#include "test_turns.moc"
