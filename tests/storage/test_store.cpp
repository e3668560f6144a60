// The store on a sound disk: schema, exact bytes, versions, search, journal, queues and two processes.
#include <sys/wait.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QTest>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <random>
#include <set>
#include <thread>

#include "storage/migrations.h"
#include "tests/storage/store_helpers.h"

using namespace tandem;
using namespace tandem::testing;

namespace {

std::string fileBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

class TestStore : public QObject {
  Q_OBJECT

 private slots:
  void init();
  void cleanup();

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
  void searchFinds_data();
  void searchFinds();
  void searchLeavesOutWhatIsGone();
  void indexFollowsTitlesAndEndsOfAnswers();
  void purgedTextLeavesTheFile();
  void journalColumns();
  void settings();
  void unfinishedOfTheDeadIsSwept();
  void failedJobLeavesNothing();
  void fullQueueSlowsTheProducer();
  void closingRunsWhatIsQueued();
  void newerSearchReplacesOlder();
  void searchesDisturbNoReads();
  void twoProcessesWriteOneFile();
  void bigConversationsLoadFast();

 private:
  Store& store() { return *store_; }
  void reopen(StoreOptions options = {}) {
    store_.reset();
    auto opened = Store::open(path_, options);
    QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().message.c_str());
    store_ = std::move(*opened);
    QCOMPARE(store_->trouble(), std::string());
  }

  std::unique_ptr<QTemporaryDir> dir_;
  std::string path_;
  std::unique_ptr<Store> store_;
};

void TestStore::init() {
  dir_ = std::make_unique<QTemporaryDir>();
  path_ = dir_->filePath("home/data/tandem.db").toStdString();
  reopen();
}

void TestStore::cleanup() {
  store_.reset();
  QCOMPARE(askFile(path_, "PRAGMA integrity_check"), std::string("ok"));
}

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
  QCOMPARE(askFile(old, sql), std::string());

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

void TestStore::searchFinds_data() {
  QTest::addColumn<QString>("query");
  QTest::addColumn<int>("hits");
  QTest::newRow("word") << "kangaroo" << 1;
  QTest::newRow("case") << "KANGAROO" << 1;
  QTest::newRow("sharp s and case") << "GRÖẞTE" << 1;
  QTest::newRow("umlaut") << "gröss" << 1;
  QTest::newRow("cyrillic case") << "ПРИВЕТ" << 1;
  QTest::newRow("part of a word") << "ngaro" << 1;
  QTest::newRow("two words anywhere") << "jumps kangaroo" << 1;
  QTest::newRow("not both") << "kangaroo sydney" << 0;
  QTest::newRow("han, three") << "東京都" << 1;
  QTest::newRow("han, two") << "東京" << 1;
  QTest::newRow("han, one") << "京" << 1;
  QTest::newRow("hangul, two") << "서울" << 1;
  QTest::newRow("short latin") << "qx" << 1;
  QTest::newRow("short and long") << "qx kangaroo" << 0;
  QTest::newRow("percent is no wildcard") << "%" << 1;
  QTest::newRow("underscore is no wildcard") << "_q" << 0;
  QTest::newRow("quotes") << "say \"hi\"" << 1;
  QTest::newRow("operators are words") << "NOT OR" << 0;
  QTest::newRow("star") << "kanga*" << 0;
  QTest::newRow("emoji") << "🦘" << 1;
  QTest::newRow("title") << "Zoological" << 1;
  QTest::newRow("nothing") << "  \t " << 0;
  QTest::newRow("very many words") << QString("it ").repeated(3000) + "kangaroo" << 1;
  QTest::newRow("after a NUL") << "behindnul" << 1;
}

void TestStore::searchFinds() {
  writeTurn(store(), 0, "The Kangaroo", "It jumps. The kangaroo jumps 🦘.");
  writeTurn(store(), 0, "größer", "Das Größte: grösste, привет");
  writeTurn(store(), 0, "東京都は日本の首都です", "서울");
  writeTurn(store(), 0, "qx 100%", "they say \"hi\"");
  writeTurn(store(), 0, std::string("before\0behindnul", 16), "ok");
  QVERIFY(store().write([](Writer& writer) {
    auto record = writer.conversation(1);
    record->title = "Zoological talk";
    return writer.updateConversation(*record);
  }));

  QFETCH(QString, query);
  QFETCH(int, hits);
  const auto found = hitsOf(store(), query.toStdString());
  std::set<ConversationId> conversations;
  for (const SearchHit& hit : found)
    conversations.insert(hit.conversation);
  QCOMPARE(static_cast<int>(conversations.size()), hits);
  for (const SearchHit& hit : found) {
    QVERIFY(!hit.snippet.empty());
    QVERIFY(hit.snippet.size() < 400);
    QVERIFY(QString::fromStdString(hit.snippet).toStdString() == hit.snippet);  // whole characters
  }
}

void TestStore::searchLeavesOutWhatIsGone() {
  const Turn kept = writeTurn(store(), 0, "needle one", "x");
  const Turn hidden = writeTurn(store(), 0, "needle two", "x");
  QCOMPARE(hitsOf(store(), "needle").size(), std::size_t(4));  // titles and messages
  QVERIFY(store().write([&](Writer& writer) { return writer.hideConversation(hidden.conversation, 1); }));
  QCOMPARE(hitsOf(store(), "needle").size(), std::size_t(2));
  QVERIFY(store().write([&](Writer& writer) { return writer.showConversation(hidden.conversation); }));
  QCOMPARE(hitsOf(store(), "needle").size(), std::size_t(4));
  QVERIFY(store().write([&](Writer& writer) { return writer.purgeConversation(hidden.conversation); }));
  const auto hits = hitsOf(store(), "needle");
  QCOMPARE(hits.size(), std::size_t(2));
  QCOMPARE(hits[0].conversation, kept.conversation);
  QCOMPARE(hits[0].message, MessageId(0));  // the title first
  QCOMPARE(hits[1].message, kept.question);
}

void TestStore::indexFollowsTitlesAndEndsOfAnswers() {
  const Turn turn = writeTurn(store(), 0, "question", "", MessageState::kStreaming);
  QVERIFY(store().write([&](Writer& writer) {
    auto record = writer.conversation(turn.conversation);
    record->title = "renamed afterwards";
    return writer.updateConversation(*record);
  }));
  QCOMPARE(hitsOf(store(), "renamed").size(), std::size_t(1));
  QCOMPARE(hitsOf(store(), "question").size(), std::size_t(1));
  MessageRecord end = pathOf(store(), turn.conversation).at(1);
  end.content = "finally here";
  end.state = MessageState::kComplete;
  QVERIFY(store().write([&](Writer& writer) { return writer.finishAnswer(end); }));
  QCOMPARE(hitsOf(store(), "finally").size(), std::size_t(1));
}

void TestStore::purgedTextLeavesTheFile() {
  const std::string secret = "Xylophonquartett";
  const Turn turn = writeTurn(store(), 0, secret + " question", "the " + secret + " answer " + secret);
  for (int i = 0; i < 50; ++i)
    writeTurn(store(), 0, "other talk " + std::to_string(i), "text");
  JournalRow row;
  row.conversation = turn.conversation;
  QVERIFY(store().write([&](Writer& writer) { return writer.addJournal(row).status(); }));
  QVERIFY(store().write([&](Writer& writer) { return writer.purgeConversation(turn.conversation); }));
  QVERIFY(hitsOf(store(), secret).empty());
  // The index is rewritten, and the log emptied, when the writer has nothing else to do.
  const auto clean = [&] {
    return fileBytes(path_).find(secret) == std::string::npos &&
           fileBytes(path_ + "-wal").find(secret) == std::string::npos;
  };
  QTRY_VERIFY(clean());
  store_.reset();
  QVERIFY(clean());
  QCOMPARE(askFile(path_, "SELECT count(*) FROM journal"), std::string("1"));
  QCOMPARE(askFile(path_, "SELECT count(*) FROM conversations"), std::string("50"));
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

void TestStore::unfinishedOfTheDeadIsSwept() {
  const Turn turn = writeTurn(store(), 0, "q", "", MessageState::kStreaming);
  const Turn gone = writeTurn(store(), 0, "to be deleted", "x");
  QVERIFY(store().write([&](Writer& writer) {
    return writer.appendPart(turn.answer, {"half", {1}, {0}, {4}});
  }));
  QVERIFY(store().write([&](Writer& writer) { return writer.hideConversation(gone.conversation, 1); }));

  // A second store in the same process: the first still lives, so nothing of it is touched.
  {
    auto second = Store::open(path_);
    QVERIFY(second.ok());
    QVERIFY((*second)->write([](Writer&) { return Status(); }));
    QCOMPARE(pathOf(**second, turn.conversation).at(1).state, MessageState::kStreaming);
    QVERIFY((*second)->write([&](Writer& writer) { return writer.showConversation(gone.conversation); }));
    QVERIFY((*second)->write([&](Writer& writer) { return writer.hideConversation(gone.conversation, 1); }));
  }
  reopen();
  QCOMPARE(pathOf(store(), turn.conversation).at(1).state, MessageState::kInterrupted);
  QVERIFY(store().write([](Writer&) { return Status(); }));  // behind the sweep
  store_.reset();
  QCOMPARE(askFile(path_, "SELECT state || content FROM messages WHERE id = " + std::to_string(turn.answer)),
           std::string("5half"));
  QCOMPARE(askFile(path_, "SELECT count(*) FROM answer_parts"), std::string("0"));
  QCOMPARE(askFile(path_, "SELECT count(*) FROM conversations"), std::string("1"));
  QCOMPARE(askFile(path_, "SELECT count(*) FROM search WHERE body MATCH 'half'"), std::string("1"));
}

void TestStore::failedJobLeavesNothing() {
  const Status status = store().write([](Writer& writer) -> Status {
    const auto turn = addTurn(writer, 0, "q", "a");
    if (!turn) return turn.status();
    return Error{ErrorCode::kBusy, "changed my mind"};
  });
  QCOMPARE(status.error().code, ErrorCode::kBusy);
  QVERIFY(listOf(store()).empty());
  QVERIFY(writeTurn(store(), 0, "q", "a").answer != 0);
}

void TestStore::fullQueueSlowsTheProducer() {
  StoreOptions options;
  options.queueLimit = 4;
  reopen(options);
  std::promise<void> gate;
  auto opened = gate.get_future().share();
  std::atomic<int> posted = 0, done = 0;
  std::thread producer([&] {
    for (int i = 0; i < 20; ++i) {
      store().post([opened](Writer&) { return opened.wait(), Status(); }, [&](const Status&) { ++done; });
      ++posted;
    }
  });
  QTest::qWait(100);
  QVERIFY(posted <= 6);  // four wait, one runs, one is being handed over
  gate.set_value();
  producer.join();
  QTRY_COMPARE(done.load(), 20);
}

void TestStore::closingRunsWhatIsQueued() {
  std::atomic<int> done = 0;
  for (int i = 0; i < 50; ++i) {
    store().post([i](Writer& writer) { return addTurn(writer, 0, "q" + std::to_string(i), "a").status(); },
                 [&](const Status& status) { done += status.ok() ? 1 : 0; });
  }
  store_.reset();
  QCOMPARE(done.load(), 50);
  QCOMPARE(askFile(path_, "SELECT count(*) FROM messages"), std::string("100"));
}

void TestStore::newerSearchReplacesOlder() {
  writeTurn(store(), 0, "needle", "x");
  std::promise<void> gate;
  auto opened = gate.get_future().share();
  store().query([opened](Reader&) { return opened.wait(), Status(); });
  std::vector<std::future<Store::Hits>> results;
  for (int i = 0; i < 3; ++i) {
    auto promise = std::make_shared<std::promise<Store::Hits>>();
    results.push_back(promise->get_future());
    store().search("needle", 10, [promise](Store::Hits hits) { promise->set_value(std::move(hits)); });
  }
  gate.set_value();
  QCOMPARE(results[0].get().error().code, ErrorCode::kCancelled);
  QCOMPARE(results[1].get().error().code, ErrorCode::kCancelled);
  QCOMPARE(results[2].get()->size(), std::size_t(2));
}

// Searches are broken off by newer ones all the time; reads between them are not.
void TestStore::searchesDisturbNoReads() {
  writeTurn(store(), 0, "question", "needle");
  std::atomic<bool> stop = false;
  std::atomic<int> searches = 0;
  std::vector<std::thread> searchers;
  for (int i = 0; i < 3; ++i) {
    searchers.emplace_back([&] {
      while (!stop)
        store().search("needle", 100, [&](const Store::Hits&) { ++searches; });
    });
  }
  int failed = 0;
  for (int i = 0; i < 3000; ++i) {
    failed += store().read([](Reader& reader) { return reader.conversation(1).status(); }).ok() ? 0 : 1;
  }
  stop = true;
  for (std::thread& searcher : searchers)
    searcher.join();
  store_.reset();  // the last searches end
  QCOMPARE(failed, 0);
  QVERIFY(searches > 100);
}

void TestStore::twoProcessesWriteOneFile() {
  store_.reset();
  constexpr int kTurns = 100;
  std::vector<pid_t> children;
  for (int child = 0; child < 2; ++child) {
    const pid_t pid = fork();
    if (pid == 0) {
      auto opened = Store::open(path_);
      if (!opened || !(*opened)->trouble().empty()) _exit(1);
      for (int i = 0; i < kTurns; ++i) {
        if (writeTurn(**opened, 0, "of process " + std::to_string(child), "a").answer == 0) _exit(2);
      }
      opened->reset();
      _exit(0);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    QCOMPARE(waitpid(pid, &status, 0), pid);
    QVERIFY(WIFEXITED(status));
    QCOMPARE(WEXITSTATUS(status), 0);
  }
  reopen();
  QCOMPARE(listOf(store()).size(), std::size_t(2 * kTurns));
  QCOMPARE(hitsOf(store(), "process 1").size(), std::size_t(100));  // as many as were asked for
}

void TestStore::bigConversationsLoadFast() {
  QVERIFY(store().write([](Writer& writer) {
    Result<Turn> turn = addTurn(writer, 0, "question 0", "answer");
    MessageId last = turn->answer;
    for (int i = 1; i < 1500; ++i) {
      const auto q = writer.addMessage(message(turn->conversation, last, Role::kUser, "question"));
      if (!q) return q.status();
      const auto a = writer.addMessage(message(turn->conversation, *q, Role::kAssistant, "answer"));
      if (!a) return a.status();
      last = *a;
    }
    return Status();
  }));
  const auto start = std::chrono::steady_clock::now();
  QCOMPARE(pathOf(store(), 1).size(), std::size_t(3000));
  const auto ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  qInfo("a path of 3000 messages is read in %.1f ms", ms);
  QVERIFY(ms < 5000);  // a tenth of a second on an idle machine
  // Deep trees are deleted without recursion.
  QVERIFY(store().write([](Writer& writer) { return writer.purgeConversation(1); }));
  QVERIFY(listOf(store()).empty());
}

QTEST_GUILESS_MAIN(TestStore)
#include "test_store.moc"
