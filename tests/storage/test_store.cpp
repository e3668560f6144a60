// What the store keeps: schema, exact bytes, versions, lists and the journal.
#include <filesystem>
#include <string>
#include <vector>

#include "storage/migrations.h"
#include "tests/storage/store_fixture.h"

using namespace tandem;
using namespace tandem::testing;

class TestStore : public QObject, private StoreFixture {
  Q_OBJECT

 private slots:
  void init() { start(); }
  void cleanup() { finish(); }

  void freshFileIsSound();
  void olderFilesAreBroughtUp_data();
  void olderFilesAreBroughtUp();
  void newerFileIsRefusedUntouched();
  void exactBytesSurvive();
  void numbersOfAnAnswerSurvive();
  void partsAndEndMakeOneAnswer();
  void versionsAndSelection();
  void pathSurvivesALostChoice();
  void removeMessageBringsBackTheOther();
  void copyPathKeepsAllOfIt();
  void listOrderAndMembership();
  void journalColumns();
  void agreementRuns();
  void settings();
};

void TestStore::freshFileIsSound() {
  QVERIFY(listOf(store()).empty());
  using std::filesystem::perms;
  QCOMPARE(std::filesystem::status(path_).permissions(), perms::owner_read | perms::owner_write);
  QCOMPARE(std::filesystem::status(path_ + "-wal").permissions(), perms::owner_read | perms::owner_write);
  QCOMPARE(askFile(path_, "PRAGMA journal_mode"), std::string("wal"));
  QCOMPARE(askFile(path_, "PRAGMA user_version"), std::to_string(migrationSteps().size()));
}

void TestStore::olderFilesAreBroughtUp_data() {
  QTest::addColumn<int>("version");
  for (int version = 1; version < static_cast<int>(migrationSteps().size()); ++version) {
    QTest::addRow("from %d", version) << version;
  }
}

void TestStore::olderFilesAreBroughtUp() {
  QFETCH(int, version);
  const std::string old = dir_->filePath("old.db").toStdString();
  std::string sql;
  for (int step = 0; step < version; ++step)
    sql += migrationSteps()[static_cast<std::size_t>(step)];
  sql += "PRAGMA user_version = " + std::to_string(version) + ";";
  sql +=
      "INSERT INTO conversations (title, created_ms, updated_ms) VALUES ('Old talk', 1, 2);"
      "INSERT INTO messages (conversation, role, state, content, created_ms) VALUES (1, 0, 0, "
      "x'c3a46c74657220"
      "54657874', 1);";
  {
    auto file = Database::open(old, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "");
    QVERIFY(file.ok());
    QVERIFY(registerFunctions(**file));
    QVERIFY((*file)->exec(sql.c_str()));
  }

  auto opened = Store::open(old);
  QVERIFY(opened.ok());
  QCOMPARE(pathOf(**opened, 1).at(0).content, std::string("älter Text"));
  QCOMPARE(hitsOf(**opened, "ÄLTER").size(), std::size_t(1));
  QCOMPARE(hitsOf(**opened, "old talk").size(), std::size_t(1));
  QVERIFY((*opened)->write([](Writer& writer) { return writer.addJournal({}).status(); }));
  opened->reset();
  QCOMPARE(askFile(old, "PRAGMA user_version"), std::to_string(migrationSteps().size()));
  QCOMPARE(askFile(old, "PRAGMA integrity_check"), std::string("ok"));
}

void TestStore::newerFileIsRefusedUntouched() {
  store_.reset();
  askFile(path_, "PRAGMA user_version = 99");
  const auto opened = Store::open(path_);
  QVERIFY(!opened.ok());
  QCOMPARE(opened.error().code, ErrorCode::kUnsupported);
  QVERIFY(opened.error().message.find("newer version") != std::string::npos);
  QCOMPARE(askFile(path_, "PRAGMA user_version"), std::string("99"));
  askFile(path_, "PRAGMA user_version = " + std::to_string(migrationSteps().size()));
}

void TestStore::exactBytesSurvive() {
  std::string all;
  for (int byte = 0; byte < 256; ++byte)
    all += static_cast<char>(byte);
  const std::vector<std::string> contents = {all,
                                             std::string(3, '\0'),
                                             "",
                                             "\r\n\t \r",
                                             "\xE6\xAD",
                                             "\xED\xA0\x80 lone surrogate",
                                             "e\xCC\x81 and é",
                                             std::string(2'000'000, 'x') + std::string(1, '\0') + "end"};
  std::vector<Turn> turns;
  for (const std::string& content : contents) {
    turns.push_back(writeTurn(store(), 0, content, content));
    QVERIFY(turns.back().answer != 0);
  }
  QVERIFY(store().write([&](Writer& writer) {
    auto record = writer.conversation(turns[0].conversation);
    record->systemPrompt = all;
    return writer.updateConversation(*record);
  }));
  reopen();
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const auto path = pathOf(store(), turns[i].conversation);
    QCOMPARE(path.size(), std::size_t(2));
    QVERIFY(path[0].content == contents[i]);
    QVERIFY(path[1].content == contents[i]);
  }
  QVERIFY(store().read([&](Reader& reader) {
    const auto record = reader.conversation(turns[0].conversation);
    return record && record->systemPrompt == all ? Status() : Status(Error{ErrorCode::kInternal, "differs"});
  }));
}

void TestStore::numbersOfAnAnswerSurvive() {
  Turn turn = writeTurn(store(), 0, "q", "answer", MessageState::kStreaming);
  MessageRecord end;
  end.id = turn.answer;
  end.state = MessageState::kLength;
  end.content = "answer";
  end.tokenIds = {0, 1, 262143, 2147483647};
  end.origins = {0, 1, 2, 1};
  end.textBytes = {0, 6, 0, 4000000000u};
  end.samplingJson = R"({"seed":18446744073709551615})";
  end.statsJson = R"({"rounds":3})";
  end.error = "a sentence";
  end.model = "Modell ÄÖ";
  QVERIFY(store().write([&](Writer& writer) { return writer.finishAnswer(end); }));
  reopen();
  const MessageRecord read = pathOf(store(), turn.conversation).at(1);
  QVERIFY(read.tokenIds == end.tokenIds && read.origins == end.origins && read.textBytes == end.textBytes);
  QCOMPARE(read.state, MessageState::kLength);
  QCOMPARE(read.samplingJson, end.samplingJson);
  QCOMPARE(read.statsJson, end.statsJson);
  QCOMPARE(read.error, end.error);
  QCOMPARE(read.model, end.model);
  QCOMPARE(read.parent, turn.question);
}

void TestStore::partsAndEndMakeOneAnswer() {
  const Turn turn = writeTurn(store(), 0, "q", "", MessageState::kStreaming);
  for (int i = 0; i < 3; ++i) {
    QVERIFY(store().write([&](Writer& writer) {
      return writer.appendPart(turn.answer, {"part" + std::to_string(i), {i}, {0}, {5}});
    }));
  }
  MessageRecord read = pathOf(store(), turn.conversation).at(1);
  QCOMPARE(read.content, std::string("part0part1part2"));
  QVERIFY((read.tokenIds == std::vector<std::int32_t>{0, 1, 2}));
  QCOMPARE(read.state, MessageState::kStreaming);
  QVERIFY(hitsOf(store(), "part1").empty());  // indexed when it ends

  read.state = MessageState::kStopped;
  QVERIFY(store().write([&](Writer& writer) { return writer.finishAnswer(read); }));
  QCOMPARE(pathOf(store(), turn.conversation).at(1).content, std::string("part0part1part2"));
  QCOMPARE(hitsOf(store(), "part1").size(), std::size_t(1));
  const Status gone = store().write([](Writer& writer) { return writer.appendPart(4711, {}); });
  QVERIFY(!gone.ok());
  QCOMPARE(gone.error().code, ErrorCode::kNotFound);
  store_.reset();
  QCOMPARE(askFile(path_, "SELECT count(*) FROM answer_parts"), std::string("0"));
}

void TestStore::versionsAndSelection() {
  const Turn first = writeTurn(store(), 0, "one", "one answered");
  const Turn second = writeTurn(store(), first.conversation, "two", "two answered");
  MessageId other = 0;
  QVERIFY(store().write([&](Writer& writer) {
    const auto added =
        writer.addMessage(message(first.conversation, first.question, Role::kAssistant, "one again"));
    other = *added;
    return added.status();
  }));
  auto path = pathOf(store(), first.conversation);
  QCOMPARE(path.size(), std::size_t(2));
  QCOMPARE(path[1].content, std::string("one again"));
  QCOMPARE(path[1].version, 2);
  QCOMPARE(path[1].versionCount, 2);

  // The earlier version comes back with what followed it, also when a message far down is asked for.
  QVERIFY(store().write([&](Writer& writer) { return writer.choose(first.answer); }));
  path = pathOf(store(), first.conversation);
  QCOMPARE(path.size(), std::size_t(4));
  QCOMPARE(path[1].version, 1);
  QCOMPARE(path[3].content, std::string("two answered"));
  QVERIFY(store().write([&](Writer& writer) { return writer.choose(other); }));
  QCOMPARE(pathOf(store(), first.conversation).size(), std::size_t(2));
  QVERIFY(store().write([&](Writer& writer) { return writer.choose(second.answer); }));
  QCOMPARE(pathOf(store(), first.conversation).size(), std::size_t(4));

  QVERIFY(store().read([&](Reader& reader) {
    const auto versions = reader.versions(other);
    const bool right = versions && versions->size() == 2 && versions->at(0).id == first.answer &&
                       versions->at(1).id == other;
    return right ? Status() : Status(Error{ErrorCode::kInternal, "wrong versions"});
  }));
}

void TestStore::pathSurvivesALostChoice() {
  const Turn turn = writeTurn(store(), 0, "one", "answer");
  store_.reset();
  askFile(path_, "UPDATE conversations SET chosen_child = 999; UPDATE messages SET chosen_child = 998;");
  reopen();
  QCOMPARE(pathOf(store(), turn.conversation).size(), std::size_t(2));
  // A loop, as damage could make one, ends the path.
  store_.reset();
  askFile(path_, "UPDATE messages SET parent = 2 WHERE id = 1");
  reopen();
  QVERIFY(pathOf(store(), turn.conversation).size() <= 2);
}

void TestStore::removeMessageBringsBackTheOther() {
  const Turn turn = writeTurn(store(), 0, "one", "first");
  const Turn next = writeTurn(store(), turn.conversation, "two", "second");
  QVERIFY(store().write([&](Writer& writer) {
    const auto added =
        writer.addMessage(message(turn.conversation, turn.question, Role::kAssistant, "again"));
    return added ? writer.removeMessage(*added, turn.answer) : added.status();
  }));
  QCOMPARE(pathOf(store(), turn.conversation).size(), std::size_t(4));
  QVERIFY(store().write([&](Writer& writer) { return writer.removeMessage(next.question, 0); }));
  QCOMPARE(pathOf(store(), turn.conversation).size(), std::size_t(2));
  QVERIFY(hitsOf(store(), "second").empty());
}

void TestStore::copyPathKeepsAllOfIt() {
  const Turn first = writeTurn(store(), 0, "one", "one answered");
  const Turn second = writeTurn(store(), first.conversation, "two", "", MessageState::kStreaming);
  QVERIFY(store().write([&](Writer& writer) {
    return writer.appendPart(second.answer, {"so far", {7, 8}, {0, 1}, {2, 4}});
  }));
  ConversationId copy = 0;
  QVERIFY(store().write([&](Writer& writer) {
    const auto made = writer.copyPath(second.answer, 5000);
    copy = *made;
    return made.status();
  }));
  const auto path = pathOf(store(), copy);
  QCOMPARE(path.size(), std::size_t(4));
  QCOMPARE(path[3].content, std::string("so far"));
  QCOMPARE(path[3].state, MessageState::kStopped);
  QVERIFY((path[3].tokenIds == std::vector<std::int32_t>{7, 8}));
  QCOMPARE(path[3].parent, path[2].id);
  QCOMPARE(pathOf(store(), first.conversation).size(), std::size_t(4));
  const Status none = store().write([&](Writer& writer) { return writer.copyPath(0, 1).status(); });
  QCOMPARE(none.error().code, ErrorCode::kNotFound);
}

void TestStore::listOrderAndMembership() {
  const Turn a = writeTurn(store(), 0, "a", "x");
  const Turn b = writeTurn(store(), 0, "b", "x");
  const Turn c = writeTurn(store(), 0, "c", "x");
  QVERIFY(store().write([&](Writer& writer) {
    auto record = writer.conversation(a.conversation);
    record->pinned = true;
    Status status = writer.updateConversation(*record);
    record = writer.conversation(b.conversation);
    record->updatedMs = 9000;
    if (status) status = writer.updateConversation(*record);
    return status ? writer.addConversation({}).status() : status;  // one without messages is not listed
  }));
  auto list = listOf(store());
  QCOMPARE(list.size(), std::size_t(3));
  QCOMPARE(list[0].id, a.conversation);
  QCOMPARE(list[1].id, b.conversation);
  QCOMPARE(list[2].id, c.conversation);

  QVERIFY(store().write([&](Writer& writer) { return writer.hideConversation(b.conversation, 1); }));
  QCOMPARE(listOf(store()).size(), std::size_t(2));
  QVERIFY(pathOf(store(), b.conversation).size() == 2);  // still there for undo
  QVERIFY(store().write([&](Writer& writer) { return writer.showConversation(b.conversation); }));
  QCOMPARE(listOf(store()).size(), std::size_t(3));
  QVERIFY(store().write([&](Writer& writer) { return writer.purgeConversation(b.conversation); }));
  const Status gone = store().write([&](Writer& writer) { return writer.showConversation(b.conversation); });
  QCOMPARE(gone.error().code, ErrorCode::kNotFound);
}

void TestStore::journalColumns() {
  JournalRow row;
  row.arrivedMs = 1'700'000'000'123;
  row.session = "s1";
  row.conversation = 7;
  row.client = "window";
  row.endpoint = "chat";
  row.model = "SmolLM2";
  row.profile = "portable";
  row.fingerprint = "ff00";
  row.status = "ok";
  row.finishReason = "stop";
  row.promptTokens = 1;
  row.cachedTokens = 2;
  row.completionTokens = 3;
  row.queueMs = 0.1;
  row.prefillMs = 0.2;
  row.ttftMs = 0.3;
  row.decodeMs = 0.4;
  row.totalMs = 0.5;
  row.decodeRate = 0.6;
  row.prefillRate = 0.7;
  row.rounds = 4;
  row.drafted = 5;
  row.accepted = 6;
  row.acceptedByJson = R"({"own-text":12})";
  row.tokensPerRound = 0.8;
  row.cacheSource = "none";
  row.sampling = "regenerate";
  row.temperature = 0.7f;
  row.topP = 0.95f;
  row.minP = 0.05f;
  row.topK = 20;
  row.seed = 0xFFFFFFFFFFFFFFFFu;
  row.error = "busy";
  row.engineVersion = "0.1.0";
  row.extraJson = R"({"regenerate":{"seed":1}})";
  for (int i = 0; i < 3; ++i) {
    QVERIFY(store().write([&](Writer& writer) { return writer.addJournal(row).status(); }));
  }
  reopen();
  std::vector<JournalRow> rows;
  QVERIFY(store().read([&](Reader& reader) {
    auto read = reader.journal(2, 3);
    if (read) rows = *read;
    return read.status();
  }));
  QCOMPARE(rows.size(), std::size_t(2));
  QCOMPARE(rows[0].id, 2);
  QCOMPARE(rows[1].id, 1);
  const JournalRow& r = rows[0];
  QVERIFY(r.arrivedMs == row.arrivedMs && r.session == row.session && r.conversation == row.conversation);
  QVERIFY(r.client == row.client && r.endpoint == row.endpoint && r.model == row.model);
  QVERIFY(r.profile == row.profile && r.fingerprint == row.fingerprint && r.status == row.status);
  QVERIFY(r.finishReason == row.finishReason && r.promptTokens == 1 && r.cachedTokens == 2);
  QVERIFY(r.completionTokens == 3 && r.queueMs == 0.1 && r.prefillMs == 0.2 && r.ttftMs == 0.3);
  QVERIFY(r.decodeMs == 0.4 && r.totalMs == 0.5 && r.decodeRate == 0.6 && r.prefillRate == 0.7);
  QVERIFY(r.rounds == 4 && r.drafted == 5 && r.accepted == 6 && r.acceptedByJson == row.acceptedByJson);
  QVERIFY(r.tokensPerRound == 0.8 && r.cacheSource == "none" && r.sampling == "regenerate");
  QVERIFY(r.temperature == 0.7f && r.topP == 0.95f && r.minP == 0.05f && r.topK == 20);
  QVERIFY(r.seed == row.seed && r.error == "busy" && r.engineVersion == "0.1.0" &&
          r.extraJson == row.extraJson);
}

void TestStore::agreementRuns() {
  AgreementRunRow row{.startedMs = 1'700'000'000'123,
                      .endedMs = 1'700'000'009'456,
                      .client = "cli",
                      .model = "SmolLM2",
                      .fingerprint = "ff00",
                      .kernels = "avx2",
                      .cacheType = "f16",
                      .prompts = 30,
                      .tokens = 64,
                      .passed = true,
                      .engineVersion = "0.1.0",
                      .reportJson = R"([{"cell":"wrong chain7"}])"};
  for (const bool passed : {true, false, true}) {
    row.passed = passed;
    QVERIFY(store().write([&](Writer& writer) { return writer.addAgreementRun(row).status(); }));
  }
  reopen();
  std::vector<AgreementRunRow> rows;
  QVERIFY(store().read([&](Reader& reader) {
    auto read = reader.agreementRuns(2, 3);
    if (read) rows = *read;
    return read.status();
  }));
  QCOMPARE(rows.size(), std::size_t(2));
  row.id = 2;
  row.passed = false;
  QVERIFY(rows[0] == row);
  row.id = 1;
  row.passed = true;
  QVERIFY(rows[1] == row);
}

void TestStore::settings() {
  QVERIFY(store().write([](Writer& writer) { return writer.setSetting("theme", "dark"); }));
  QVERIFY(store().write([](Writer& writer) { return writer.setSetting("theme", std::string("l\0ght", 5)); }));
  QVERIFY(store().read([](Reader& reader) {
    const auto theme = reader.setting("theme");
    const auto none = reader.setting("nothing");
    const bool right = theme && *theme == std::string("l\0ght", 5) && none && !none->has_value();
    return right ? Status() : Status(Error{ErrorCode::kInternal, "differs"});
  }));
}

QTEST_GUILESS_MAIN(TestStore)
#include "test_store.moc"
