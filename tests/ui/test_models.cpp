// The list models and small functions behind the window, without a window.
#include <QAbstractItemModelTester>
#include <QLocale>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "app/conversation/json.h"
#include "ui/controls/icon_paths.h"
#include "ui/models/answer_statistics.h"
#include "ui/models/app_settings.h"
#include "ui/models/conversation_feed.h"
#include "ui/models/conversation_list_model.h"
#include "ui/models/message_list_model.h"
#include "ui/models/when.h"

namespace tandem::testing {
namespace {

using storage::MessageRecord;
using storage::MessageState;
using storage::Role;

MessageRecord person(MessageId id, const std::string& text) {
  MessageRecord record;
  record.id = id;
  record.conversation = 1;
  record.content = text;
  return record;
}

MessageRecord answer(MessageId id, const std::string& text, MessageState state) {
  MessageRecord record = person(id, text);
  record.role = Role::kAssistant;
  record.parent = 1;
  record.state = state;
  return record;
}

TextPiece piece(const std::string& text, TokenOrigin origin) {
  return {text, {{7, origin, static_cast<std::uint32_t>(text.size())}}};
}

markdown::MarkdownMessage* body(const ui::MessageListModel& model, int row) {
  return model.data(model.index(row), ui::MessageListModel::BodyRole).value<markdown::MarkdownMessage*>();
}

}  // namespace

class TestModels : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates)); }

  void timesInWords() {
    const QDateTime now(QDate(2025, 6, 18), QTime(15, 0));
    QCOMPARE(ui::whenText(now.addSecs(-20), now), QStringLiteral("now"));
    QCOMPARE(ui::whenText(now.addSecs(-58 * 60), now), QStringLiteral("14:02"));
    QCOMPARE(ui::whenText(now.addDays(-1), now), QStringLiteral("yesterday"));
    QCOMPARE(ui::whenText(now.addDays(-2), now), QStringLiteral("Monday"));
    QCOMPARE(ui::whenText(now.addDays(-30), now), QStringLiteral("19 May"));
    QCOMPARE(ui::whenText(now.addYears(-1), now), QStringLiteral("18 Jun 2024"));
    QCOMPARE(ui::ageText(1.9), QStringLiteral("now"));
    QCOMPARE(ui::ageText(59.9), QStringLiteral("59 s"));
    QCOMPARE(ui::ageText(60), QStringLiteral("1 min"));
    QCOMPARE(ui::ageText(7200), QStringLiteral("2 h"));
    QCOMPARE(ui::ageText(86400), QStringLiteral("1 day"));
    QCOMPARE(ui::ageText(-5), QStringLiteral("now"));
    QCOMPARE(ui::sectionFor(true, now, now), QStringLiteral("Pinned"));
    QCOMPARE(ui::sectionFor(false, now.addSecs(-3600), now), QStringLiteral("Today"));
    QCOMPARE(ui::sectionFor(false, now.addDays(-1), now), QStringLiteral("Yesterday"));
    QCOMPARE(ui::sectionFor(false, now.addDays(-6), now), QStringLiteral("Previous 7 days"));
    QCOMPARE(ui::sectionFor(false, now.addDays(-7), now), QStringLiteral("Previous 30 days"));
    QCOMPARE(ui::sectionFor(false, now.addDays(-40), now), QStringLiteral("Older"));
    // A clock that was set back: what was written "tomorrow" is of today.
    QCOMPARE(ui::sectionFor(false, now.addDays(1), now), QStringLiteral("Today"));
  }

  void statisticsInOneLine() {
    GenerationStats stats;
    stats.completionTokens = 142;
    stats.ttftMs = 190;
    stats.decodeMs = 141 * 1000.0 / 231;
    stats.rounds = 71;
    stats.drafted = 100;
    stats.accepted = 58;
    MessageRecord record = answer(1, "x", MessageState::kComplete);
    record.statsJson = statsToJson(stats);
    record.samplingJson = samplingToJson(SamplingParams{}, "");
    QCOMPARE(ui::statisticsLine(record),
             QStringLiteral(
                 "142 tokens  ·  first token 0.19 s  ·  231 tokens/s  ·  2.0 a round  ·  58 % accepted  ·  "
                 "greedy"));
    SamplingParams sampled;
    sampled.temperature = 0.7f;
    sampled.seed = 42;
    record.samplingJson = samplingToJson(sampled, "regenerate");
    QVERIFY(ui::statisticsLine(record).endsWith(QStringLiteral("seed 42")));
    GenerationStats repeated;
    repeated.fromResponse = true;
    repeated.promptTokens = repeated.cachedTokens = 9;
    repeated.completionTokens = 142;
    repeated.decodeMs = 0.1;
    record.statsJson = statsToJson(repeated);
    record.samplingJson = samplingToJson(SamplingParams{}, "");
    QCOMPARE(ui::statisticsLine(record),
             QStringLiteral("142 tokens  ·  first token 0.00 s  ·  response cache  ·  greedy"));
    record.state = MessageState::kStreaming;
    QCOMPARE(ui::statisticsLine(record), QString());
  }

  void streamedTextReachesTheRow() {
    ui::MessageListModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setPath({person(1, "Hi"), answer(2, "", MessageState::kStreaming)});
    markdown::MarkdownMessage* shown = body(model, 1);
    model.append(2, piece("Hello ", TokenOrigin::kPlain));
    model.append(2, piece("there", TokenOrigin::kOwnText));
    QCOMPARE(model.contentOf(2), QStringLiteral("Hello there"));
    QCOMPARE(shown->text(), QStringLiteral("Hello there"));

    // A view read from the disk may be older than what has been shown: nothing goes back.
    model.setPath({person(1, "Hi"), answer(2, "Hello", MessageState::kStreaming)});
    QCOMPARE(model.contentOf(2), QStringLiteral("Hello there"));
    QCOMPARE(body(model, 1), shown);

    MessageRecord done = answer(2, "Hello there.", MessageState::kComplete);
    done.tokenIds = {7, 7, 8};
    done.origins = {0, 1, 0};
    done.textBytes = {6, 5, 1};
    model.setPath({person(1, "Hi"), done});
    QCOMPARE(body(model, 1), shown);
    QCOMPARE(shown->text(), QStringLiteral("Hello there."));
    const QVariantList legend = model.data(model.index(1), ui::MessageListModel::LegendRole).toList();
    QCOMPARE(legend.size(), 2);
    QCOMPARE(legend[0].toMap()["count"].toInt(), 2);
    QCOMPARE(legend[1].toMap()["count"].toInt(), 1);
  }

  // An answer that is written while another conversation is shown is all there on return.
  void anAnswerOutOfSightIsGathered() {
    ui::MessageListModel model;
    model.setPath({person(1, "Hi"), answer(2, "", MessageState::kStreaming)});
    model.append(2, piece("one ", TokenOrigin::kPlain));
    model.clear();
    model.append(2, piece("two", TokenOrigin::kPlain));
    model.setPath({person(1, "Hi"), answer(2, "on", MessageState::kStreaming)});
    QCOMPARE(model.contentOf(2), QStringLiteral("one two"));
    model.append(2, piece(" three", TokenOrigin::kPlain));
    QCOMPARE(body(model, 1)->text(), QStringLiteral("one two three"));
  }

  // The delegate stays, so the focus on its version switch does.
  void anotherVersionTakesTheSameRow() {
    ui::MessageListModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setPath({person(1, "Hi"), answer(2, "First", MessageState::kComplete)});
    markdown::MarkdownMessage* first = body(model, 0);
    QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
    model.setPath({person(1, "Hi"), answer(3, "Second", MessageState::kComplete)});
    QCOMPARE(body(model, 0), first);
    QCOMPARE(inserted.size(), 0);
    QCOMPARE(model.idAt(1), 3);
    QCOMPARE(model.rowOf(2), -1);
    QCOMPARE(body(model, 1)->text(), QStringLiteral("Second"));

    MessageRecord later = person(4, "More");
    later.parent = 3;
    model.setPath({person(1, "Hi"), answer(3, "Second", MessageState::kComplete), later});
    QCOMPARE(inserted.size(), 1);
    QCOMPARE(inserted[0][1].toInt(), 2);
  }

  void theFeedJoinsPieces() {
    int wakes = 0;
    ui::ConversationFeed feed([&] { ++wakes; });
    feed.answerPrefill(5, 1, 10);
    feed.answerPrefill(5, 10, 10);
    for (int i = 0; i < 1000; ++i) {
      feed.answerPiece(5, piece("a", TokenOrigin::kPlain));
    }
    feed.answerPiece(6, piece("b", TokenOrigin::kPlain));
    feed.answerFinished(5, {});
    QCOMPARE(wakes, 1);
    const std::vector<ui::FeedEvent> events = feed.take();
    QCOMPARE(events.size(), std::size_t{4});
    QCOMPARE(std::get<ui::AnswerPrefill>(events[0]).done, 10);
    QCOMPARE(std::get<ui::AnswerPieces>(events[1]).piece.text.size(), std::size_t{1000});
    QCOMPARE(std::get<ui::AnswerPieces>(events[1]).piece.tokens.size(), std::size_t{1000});
    QVERIFY(feed.take().empty());
    feed.answerFinished(6, {});
    QCOMPARE(wakes, 2);
  }

  void theListNamesWhatChanged() {
    ui::ConversationListModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    storage::ConversationRecord a, b;
    a.id = 1;
    a.title = std::string("Alpha");
    a.tokens = 1241;
    a.updatedMs = QDateTime::currentMSecsSinceEpoch();
    b.id = 2;
    b.title = std::string("Beta");
    model.setList({a, b});
    QCOMPARE(model.data(model.index(0), ui::ConversationListModel::SubtitleRole).toString(),
             QStringLiteral("now · 1,241 tokens"));
    QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
    a.title = std::string("Newer");
    model.setList({a, b});
    QCOMPARE(reset.size(), 0);
    QCOMPARE(model.titleOf(1), QStringLiteral("Newer"));
    QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
    model.setAnswering(2, true);
    model.setAnswering(2, true);
    QCOMPARE(changed.size(), 1);
    QCOMPARE(changed[0][2].value<QList<int>>(), QList<int>{ui::ConversationListModel::AnsweringRole});
    model.setList({b});
    QCOMPARE(reset.size(), 1);
    QCOMPARE(model.count(), 1);
  }

  // Settings survive; a damaged file gives values that work.
  void settingsAreKeptAndBounded() {
    QTemporaryDir folder;
    const QString file = folder.filePath("settings.ini");
    {
      ui::AppSettings settings(file);
      settings.setTheme(ui::AppSettings::Dark);
      settings.setTemperature(0.7);
      settings.setSystemPrompt("Be brief,\nplease; and \"quote\".");
      settings.setSpeculation(false);
      QVERIFY(!settings.responseCache() && !settings.answerDefaults().responseCache);
      settings.setResponseCache(true);
      settings.setCacheMemoryGib(0.5);
      settings.setCacheDiskGib(9);
      settings.setCacheOnDisk(false);
      settings.setCacheEndAnchor(false);
      settings.setCacheGrid(256);
    }
    {
      const ui::AppSettings settings(file);
      QCOMPARE(settings.theme(), ui::AppSettings::Dark);
      QCOMPARE(settings.temperature(), 0.7);
      QCOMPARE(settings.systemPrompt(), QStringLiteral("Be brief,\nplease; and \"quote\"."));
      QVERIFY(!settings.answerDefaults().speculation.enabled());
      QVERIFY(settings.answerDefaults().responseCache);
      const service::CacheSettings caches = settings.caches();
      QCOMPARE(caches.memoryBudget, std::size_t{512} << 20);
      QCOMPARE(caches.diskBudget, std::uint64_t{9} << 30);
      QVERIFY(!caches.disk && !caches.endAnchor);
      QCOMPARE(caches.grid, 256);
    }
    QFile raw(file);
    QVERIFY(raw.open(QIODevice::WriteOnly));
    raw.write(
        "[look]\ntheme=99\ntextScale=nan\n[answer]\ntemperature=-5\ntopP=zero\n[engine]\nthreads=100000\n"
        "[caches]\nmemoryGib=-1\ndiskGib=0\ngrid=0\n");
    raw.close();
    const ui::AppSettings settings(file);
    QCOMPARE(settings.theme(), ui::AppSettings::Dark);
    QCOMPARE(settings.textScale(), 1.0);
    QCOMPARE(settings.temperature(), 0.0);
    QCOMPARE(settings.topP(), 1.0);
    QCOMPARE(settings.threads(), 256);
    QCOMPARE(settings.caches().memoryBudget, service::kAutomaticBudget);
    QCOMPARE(settings.caches().diskBudget, std::uint64_t{1} << 30);
    QCOMPARE(settings.caches().grid, 64);
  }

  void everyIconIsWellDrawn() {
    QFile file(":/tandem/icons/icons.txt");
    QVERIFY(file.open(QIODevice::ReadOnly));
    int icons = 0;
    for (const QString& line : QString::fromUtf8(file.readAll()).split('\n', Qt::SkipEmptyParts)) {
      if (line.startsWith('#')) {
        continue;
      }
      bool ok = false;
      const QPainterPath path = ui::parseIcon(line.mid(line.indexOf(':') + 1), &ok);
      QVERIFY2(ok && !path.isEmpty(), qPrintable(line));
      QVERIFY2(QRectF(0, 0, 24, 24).contains(path.boundingRect()), qPrintable(line));
      ++icons;
    }
    QVERIFY(icons > 20);
    bool ok = true;
    QVERIFY(ui::parseIcon("M 1", &ok).isEmpty());
    QVERIFY(!ok);
    ui::parseIcon("X 1 2", &ok);
    QVERIFY(!ok);
  }

  // Every icon a QML file names exists.
  void everyNamedIconExists() {
    for (const char* name :
         {"chat",  "models",  "settings", "plus",   "search", "close",     "stop",      "down",
          "left",  "right",   "more",     "pin",    "rename", "delete",    "tune",      "tint",
          "spark", "warning", "info",     "caches", "prove",  "ascending", "descending"}) {
      QVERIFY2(!ui::iconPath(name).isEmpty(), name);
    }
  }
};

}  // namespace tandem::testing

QTEST_MAIN(tandem::testing::TestModels)

#include "test_models.moc"
