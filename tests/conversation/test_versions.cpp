// Versions of messages: regenerated, continued, edited, branched off, stepped through.
#include "app/conversation/json.h"
#include "tests/conversation/conversation_fixture.h"

using namespace tandem;
using namespace tandem::testing;
using namespace std::chrono_literals;

class TestVersions : public QObject, private ConversationFixture {
  Q_OBJECT

 private slots:
  void init() { start(); }
  void cleanup() { finish(); }

  void regenerateKeepsTheEarlierAnswer();
  void regenerateWithoutItsSampling();
  void failedRegenerateChangesNothing();
  void regenerateWithoutAModelChangesNothing();
  void regenerateInTheMiddleKeepsWhatFollowed();
  void stoppedAndContinuedEqualsUninterrupted();
  void continueOfASampledAnswerKeepsItsSeed();
  void continueCompletesACutCharacter();
  void continueIsRefusedForWholeAnswers();
  void failedContinueChangesNothing();
  void interruptedAnswerGoesOn();
  void editMakesAVersion();
  void editTooLongBringsBackTheOld();
  void editOfAnAnswerIsRefused();
  void branchCopiesThePath();
  void branchOfAStreamingAnswer();
  void stepAndSelectVersions();
};

void TestVersions::regenerateKeepsTheEarlierAnswer() {
  setAnswer("first answer");
  const auto first = ask(0, "question");
  setAnswer("second answer");
  service_->regenerate(first.id);
  const auto second = nextEnd(1);
  QCOMPARE(second.content, std::string("second answer"));
  QCOMPARE(second.version, 2);
  QCOMPARE(second.versionCount, 2);
  service_->regenerate(second.id);
  const auto third = nextEnd(2);
  QCOMPARE(third.version, 3);

  const auto requests = backend_->requests();
  QVERIFY(requests[0].sampling.greedy());
  for (int i = 1; i <= 2; ++i) {
    const SamplingParams& sampling = requests[static_cast<std::size_t>(i)].sampling;
    QVERIFY(sampling.temperature == 0.7f && sampling.topP == 0.95f && sampling.topK == 20 &&
            sampling.minP == 0);
    QCOMPARE(requests[static_cast<std::size_t>(i)].messages.size(), std::size_t(1));
    const auto row = journal().at(static_cast<std::size_t>(i));
    QCOMPARE(row.sampling, std::string("regenerate"));
    QCOMPARE(row.seed, sampling.seed);
    QCOMPARE(row.extraJson, R"({"regenerate":{"seed":)" + std::to_string(sampling.seed) + "}}");
    QVERIFY(row.temperature == 0.7f && row.topP == 0.95f && row.topK == 20);
  }
  QVERIFY(requests[1].sampling.seed != requests[2].sampling.seed);
  QCOMPARE(samplingFromJson(second.samplingJson).seed, requests[1].sampling.seed);
  QVERIFY(store_->read([&](storage::Reader& reader) {
    const auto versions = reader.versions(first.id);
    return versions && versions->at(0).content == "first answer" ? Status() : Status(Error{});
  }));
}

void TestVersions::regenerateWithoutItsSampling() {
  AnswerSettings settings;
  settings.regenerateSamples = false;
  service_->setDefaults(settings, {});
  const auto first = ask(0, "question");
  service_->regenerate(first.id);
  QVERIFY(nextEnd(1).version == 2);
  QVERIFY(backend_->requests()[1].sampling.greedy());
  QVERIFY(journal().at(1).sampling.empty() && journal().at(1).extraJson.empty());
}

void TestVersions::failedRegenerateChangesNothing() {
  setAnswer("first answer");
  const auto first = ask(0, "question");
  FakeAnswer script;
  script.fail = Error{ErrorCode::kOutOfMemory, "Out of memory."};
  backend_->setAnswer(script);
  service_->regenerate(first.id);
  const auto failed = failure();
  QCOMPARE(failed->error.code, ErrorCode::kOutOfMemory);
  QCOMPARE(failed->answer, MessageId(0));
  const auto path = stored(seen().newest);
  QCOMPARE(path.size(), std::size_t(2));
  QCOMPARE(path[1].id, first.id);
  QCOMPARE(path[1].versionCount, 1);
  QCOMPARE(seen().path()[1].id, first.id);
  QCOMPARE(journal().at(1).status, std::string("failed"));
}

void TestVersions::regenerateWithoutAModelChangesNothing() {
  const auto first = ask(0, "question");
  backend_->setModel(std::nullopt);
  service_->regenerate(first.id);
  QCOMPARE(failure()->error.code, ErrorCode::kNotFound);
  QCOMPARE(stored(seen().newest).at(1).versionCount, 1);
  QCOMPARE(journal().size(), std::size_t(1));
}

void TestVersions::regenerateInTheMiddleKeepsWhatFollowed() {
  const auto first = ask(0, "one");
  const ConversationId id = seen().newest;
  ask(id, "two");
  service_->regenerate(first.id);
  const auto again = nextEnd(2);
  QCOMPARE(seen().path().size(), std::size_t(2));
  service_->stepVersion(again.id, -1);
  QVERIFY(listener_->waitFor([](const Seen& s) { return s.path().size() == 4; }));
  QCOMPARE(stored(id).at(2).content, std::string("two"));
}

void TestVersions::stoppedAndContinuedEqualsUninterrupted() {
  const std::string text = "The quick brown 🦊 jumps over the lazy 犬 and runs away.";
  setAnswer(text);
  const auto whole = ask(0, "tell me");
  setAnswer(text, 30);
  service_->send(0, "tell me");
  QVERIFY(streaming(12) != 0);
  service_->stop(seen().newest);
  auto cut = nextEnd(1);
  QCOMPARE(cut.state, MessageState::kStopped);
  QVERIFY(cut.content.size() < text.size());
  setAnswer(text, 200);
  service_->continueAnswer(cut.id);
  const auto joined = nextEnd(2);
  QCOMPARE(joined.id, cut.id);
  QCOMPARE(joined.state, MessageState::kComplete);
  QCOMPARE(joined.content, text);
  QVERIFY(joined.tokenIds == whole.tokenIds);
  QVERIFY(joined.textBytes == whole.textBytes);
  QVERIFY(backend_->requests()[2].answerSoFar == cut.tokenIds);

  const auto before = statsFromJson(cut.statsJson);
  const auto after = statsFromJson(joined.statsJson);
  QCOMPARE(after->completionTokens, static_cast<int>(joined.tokenIds.size()));
  QVERIFY(after->rounds > before->rounds && after->decodeMs > before->decodeMs);
  QCOMPARE(after->ttftMs, before->ttftMs);
  QCOMPARE(after->promptTokens, before->promptTokens);
  QCOMPARE(after->finish, FinishReason::kEndToken);
  // The rows are each request's own.
  const auto rows = journal();
  QCOMPARE(rows[1].completionTokens + rows[2].completionTokens, after->completionTokens);
  QCOMPARE(rows[2].status, std::string("ok"));
  QCOMPARE(stored(seen().newest).at(1).content, text);
}

void TestVersions::continueOfASampledAnswerKeepsItsSeed() {
  AnswerSettings settings;
  settings.maxTokens = 3;
  service_->setDefaults(settings, {});
  const auto first = ask(0, "question");
  QCOMPARE(first.state, MessageState::kLength);
  service_->regenerate(first.id);
  const auto sampled = nextEnd(1);
  service_->setDefaults(AnswerSettings(), {});
  service_->continueAnswer(sampled.id);
  QCOMPARE(nextEnd(2).state, MessageState::kComplete);
  const auto requests = backend_->requests();
  QCOMPARE(requests[2].sampling.seed, requests[1].sampling.seed);
  QCOMPARE(requests[2].sampling.temperature, 0.7f);
  QCOMPARE(journal().at(2).sampling, std::string("regenerate"));
  QCOMPARE(journal().at(2).seed, requests[1].sampling.seed);
  service_->continueAnswer(first.id);
  QVERIFY(nextEnd(3).state == MessageState::kComplete);
  QVERIFY(backend_->requests()[3].sampling.greedy());
}

// An answer cut inside a character was shown with U+FFFD; going on, the character is completed in its place.
void TestVersions::continueCompletesACutCharacter() {
  const std::string text = "ab 🌍 cd";
  setAnswer(text);
  AnswerSettings settings;
  settings.maxTokens = 3;  // "ab", " ", and half of the globe
  service_->setDefaults(settings, {});
  const auto cut = ask(0, "question");
  QCOMPARE(cut.content, std::string("ab "));
  QVERIFY(store_->write([&](storage::Writer& writer) {
    storage::MessageRecord shown = cut;
    shown.content += "\xEF\xBF\xBD";
    return writer.finishAnswer(shown);
  }));
  service_->setDefaults(AnswerSettings(), {});
  service_->continueAnswer(cut.id);
  QCOMPARE(nextEnd(1).content, text);
}

void TestVersions::continueIsRefusedForWholeAnswers() {
  const auto whole = ask(0, "question");
  service_->continueAnswer(whole.id);
  QCOMPARE(failure()->error.code, ErrorCode::kInvalidArgument);
  service_->continueAnswer(seen().path()[0].id);
  QCOMPARE(failure(2)->error.code, ErrorCode::kInvalidArgument);
  QVERIFY(stored(seen().newest).at(1).content == whole.content);
}

void TestVersions::failedContinueChangesNothing() {
  AnswerSettings settings;
  settings.maxTokens = 2;
  service_->setDefaults(settings, {});
  const auto cut = ask(0, "question");
  FakeAnswer script;
  script.fail = Error{ErrorCode::kOutOfMemory, "Out of memory."};
  backend_->setAnswer(script);
  service_->continueAnswer(cut.id);
  QCOMPARE(failure()->answer, cut.id);
  QVERIFY(nextEnd(1).id == cut.id);
  const auto path = stored(seen().newest);
  QCOMPARE(path[1].content, cut.content);
  QVERIFY(path[1].tokenIds == cut.tokenIds);
  QCOMPARE(path[1].state, MessageState::kLength);
  QCOMPARE(path[1].error, std::string("Out of memory."));
  setAnswer("word word word");
  service_->continueAnswer(cut.id);
  QVERIFY(nextEnd(2).error.empty());
}

void TestVersions::interruptedAnswerGoesOn() {
  setAnswer("The answer that was cut by the end of the program.", 40);
  service_->send(0, "question");
  QVERIFY(streaming(15) != 0);
  service_.reset();
  store_.reset();
  openStore();
  service_->open(1);
  QVERIFY(listener_->waitFor([](const Seen& s) { return s.path().size() == 2; }));
  const auto cut = seen().path()[1];
  QCOMPARE(cut.state, MessageState::kInterrupted);
  QVERIFY(cut.content.size() >= 15);
  setAnswer("The answer that was cut by the end of the program.");
  service_->continueAnswer(cut.id);
  const auto whole = nextEnd(0);
  QCOMPARE(whole.content, std::string("The answer that was cut by the end of the program."));
}

void TestVersions::editMakesAVersion() {
  setAnswer("first answer");
  ask(0, "qestion");
  const ConversationId id = seen().newest;
  ask(id, "follow-up");
  const MessageId old = seen().path()[0].id;
  setAnswer("second answer");
  service_->edit(old, "question");
  QVERIFY(nextEnd(2).content == "second answer");
  QCOMPARE(seen().path().size(), std::size_t(2));
  QCOMPARE(seen().path()[0].content, std::string("question"));
  QCOMPARE(seen().path()[0].version, 2);
  QVERIFY(backend_->requests().back().sampling.greedy());
  QCOMPARE(backend_->requests().back().messages.size(), std::size_t(1));
  service_->selectVersion(old);
  QVERIFY(listener_->waitFor([](const Seen& s) { return s.path().size() == 4; }));
  QCOMPARE(seen().path()[0].content, std::string("qestion"));
}

void TestVersions::editTooLongBringsBackTheOld() {
  ask(0, "question");
  const MessageId old = seen().path()[0].id;
  const std::string longText(40'000, 'y');
  service_->edit(old, longText);
  const auto refused = failure();
  QCOMPARE(refused->error.code, ErrorCode::kContextLengthExceeded);
  QVERIFY(refused->draft == longText);
  QCOMPARE(seen().path().size(), std::size_t(2));
  QCOMPARE(seen().path()[0].id, old);
  QCOMPARE(seen().path()[0].versionCount, 1);
}

void TestVersions::editOfAnAnswerIsRefused() {
  const auto answer = ask(0, "question");
  service_->edit(answer.id, "I never said that");
  QCOMPARE(failure()->error.code, ErrorCode::kInvalidArgument);
  QCOMPARE(failure()->draft, std::string("I never said that"));
}

void TestVersions::branchCopiesThePath() {
  const auto first = ask(0, "one");
  const ConversationId id = seen().newest;
  service_->setSystemPrompt(id, "Be brief.");
  ask(id, "two");
  service_->branch(first.id);
  QVERIFY(listener_->waitFor([&](const Seen& s) { return s.newest != id; }));
  const ConversationId copy = seen().newest;
  QCOMPARE(seen().path().size(), std::size_t(2));
  QCOMPARE(seen().path()[1].content, first.content);
  QVERIFY(seen().path()[1].tokenIds == first.tokenIds);
  QCOMPARE(seen().views.at(copy).record.systemPrompt, std::string("Be brief."));
  ask(copy, "elsewhere");
  QCOMPARE(stored(id).size(), std::size_t(4));
  QCOMPARE(stored(id).at(2).content, std::string("two"));
  QVERIFY(listener_->waitFor([](const Seen& s) { return s.list.size() == 2; }));
}

void TestVersions::branchOfAStreamingAnswer() {
  setAnswer("word ", 100, true);
  service_->send(0, "go");
  const MessageId answer = streaming(100);
  const ConversationId id = seen().newest;
  service_->branch(answer);
  QVERIFY(listener_->waitFor([&](const Seen& s) { return s.newest != id; }));
  QCOMPARE(seen().path()[1].state, MessageState::kStopped);
  QVERIFY(seen().path()[1].content.size() >= 100);  // as shown, which is ahead of the disk
  QCOMPARE(stored(seen().newest).at(1).content, seen().path()[1].content);
  service_->stop(id);
  QVERIFY(listener_->waitFor([&](const Seen& s) { return s.finished.contains(answer); }));
}

void TestVersions::stepAndSelectVersions() {
  setAnswer("one");
  const auto first = ask(0, "question");
  for (int i = 1; i <= 2; ++i) {
    service_->regenerate(first.id);
    nextEnd(i);
  }
  const auto shown = [&](int version) {
    return listener_->waitFor([version](const Seen& s) { return s.path()[1].version == version; });
  };
  service_->stepVersion(seen().path()[1].id, -1);
  QVERIFY(shown(2));
  service_->stepVersion(seen().path()[1].id, -5);
  QVERIFY(shown(1));
  service_->stepVersion(first.id, 1);
  QVERIFY(shown(2));
  service_->selectVersion(first.id);
  QVERIFY(shown(1));
  service_->stepVersion(first.id, 7);
  QVERIFY(shown(3));
  service_->selectVersion(4711);
  QCOMPARE(failure()->error.code, ErrorCode::kNotFound);
}

QTEST_GUILESS_MAIN(TestVersions)
#include "test_versions.moc"
