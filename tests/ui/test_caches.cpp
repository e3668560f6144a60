// The list of caches: its model, and what a person does in its view by mouse and by keys.
#include <QAbstractItemModelTester>
#include <QLocale>
#include <QSignalSpy>
#include <QTest>

#include "tests/ui/shown_listing.h"
#include "tests/ui/window_fixture.h"
#include "ui/models/cache_list_model.h"

namespace tandem::testing {
namespace {

using ui::CacheListModel;

QStringList keysOf(const CacheListModel& model) {
  QStringList keys;
  for (int row = 0; row < model.count(); ++row)
    keys << model.keyAt(row);
  return keys;
}

QVariant valueOf(const CacheListModel& model, const QString& key, int role) {
  return model.data(model.index(static_cast<int>(keysOf(model).indexOf(key))), role);
}

}  // namespace

class TestCaches : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates)); }

  void tellsOfEveryEntry() {
    FakeBackend backend;
    ui::ConversationListModel conversations;
    storage::ConversationRecord record;
    record.id = 1;
    record.title = std::string("Hash tables");
    conversations.setList({record});
    CacheListModel model(backend, conversations);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    QVERIFY(!model.known());
    model.setListing(shownListing());
    QVERIFY(model.known());
    QCOMPARE(model.count(), 6);
    QCOMPARE(model.files(), 1);  // what failed its proof is gone
    QCOMPARE(model.memoryText(), QStringLiteral("96.0 MiB of 1.0 GiB"));
    QCOMPARE(model.memoryShare(), 96.0 / 1024);
    const auto text = [&](const char* key, int role) { return valueOf(model, key, role).toString(); };
    QCOMPARE(text("memory/1/4", CacheListModel::HeadingRole), QStringLiteral("Hash tables"));
    QCOMPARE(text("memory/1/4", CacheListModel::WordsRole), QStringLiteral("user What is a hash table?"));
    QCOMPARE(text("memory/1/4", CacheListModel::TokensRole), QStringLiteral("1,241"));
    QCOMPARE(text("memory/1/4", CacheListModel::SizeRole), QStringLiteral("28.0 MiB"));
    QCOMPARE(text("memory/1/4", CacheListModel::AgeRole), QStringLiteral("4 s"));
    QCOMPARE(text("memory/1/4", CacheListModel::StateTextRole), QStringLiteral("Usable"));
    QCOMPARE(text("memory/1/5", CacheListModel::KindRole), QStringLiteral("Prompt end"));
    QCOMPARE(text("memory/1/5", CacheListModel::StateTextRole), QStringLiteral("Proven"));
    QVERIFY(text("memory/1/5", CacheListModel::DetailRole).contains(QStringLiteral("28,475,392")));
    // Without its conversation the words stand for it.
    QCOMPARE(text("memory/1/6", CacheListModel::HeadingRole), QStringLiteral("user Bread for six people"));
    QCOMPARE(text("memory/1/6", CacheListModel::KindRole), QStringLiteral("Snapshot"));
    QCOMPARE(text("memory/1/6", CacheListModel::StateTextRole), QStringLiteral("Pinned"));
    QCOMPARE(text("disk/wrong.text", CacheListModel::StateTextRole), QStringLiteral("Proof failed"));
    QVERIFY(
        text("disk/wrong.text", CacheListModel::DetailRole).startsWith(QStringLiteral("3 of 16,777,216")));
    QVERIFY(!valueOf(model, "disk/wrong.text", CacheListModel::ProvableRole).toBool());
    QVERIFY(valueOf(model, "disk/wrong.text", CacheListModel::DroppableRole).toBool());
    QCOMPARE(text("disk/other.text", CacheListModel::TokensRole), QStringLiteral("1,024 – 1,500"));
    QVERIFY(!valueOf(model, "disk/other.text", CacheListModel::ProvableRole).toBool());
    QVERIFY(valueOf(model, "disk/other.text", CacheListModel::DroppableRole).toBool());
    const QString damaged = model.keyAt(5);
    QVERIFY(damaged.startsWith(QStringLiteral("unusable/")));
    QVERIFY(
        valueOf(model, damaged, CacheListModel::DetailRole).toString().contains("its contents are damaged"));
    QVERIFY(!valueOf(model, damaged, CacheListModel::DroppableRole).toBool());
  }

  // What failed comes first and what is gone last, whatever the column.
  void sortsByColumns() {
    FakeBackend backend;
    const ui::ConversationListModel conversations;
    CacheListModel model(backend, conversations);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setListing(shownListing());
    const QString failed = "disk/wrong.text", gone = model.keyAt(5);
    QCOMPARE(keysOf(model),
             (QStringList{failed, "memory/1/4", "memory/1/5", "memory/1/6", "disk/other.text", gone}));
    const QPersistentModelIndex kept = model.index(1);
    model.sortBy(CacheListModel::Size);
    QVERIFY(model.descending());
    QCOMPARE(keysOf(model),
             (QStringList{failed, "disk/other.text", "memory/1/4", "memory/1/6", "memory/1/5", gone}));
    QCOMPARE(kept.row(), 2);
    model.sortBy(CacheListModel::Size);
    QCOMPARE(keysOf(model),
             (QStringList{failed, "memory/1/5", "memory/1/6", "memory/1/4", "disk/other.text", gone}));
    model.sortBy(CacheListModel::Hits);
    QCOMPARE(model.keyAt(1), QStringLiteral("memory/1/6"));
    model.sortBy(CacheListModel::Tokens);
    QCOMPARE(model.keyAt(1), QStringLiteral("disk/other.text"));
  }

  // A new list moves, inserts and removes rows; those that stay are not made anew.
  void aNewListKeepsTheRows() {
    FakeBackend backend;
    const ui::ConversationListModel conversations;
    CacheListModel model(backend, conversations);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setListing(shownListing());
    QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
    QPersistentModelIndex snapshot = model.index(3), pages = model.index(1);
    service::CacheListing next = shownListing();
    next.texts.erase(next.texts.begin() + 1);
    next.texts[1].ageSeconds = 1;  // the snapshot was used now
    next.texts.push_back({.key = "memory/1/9", .tokens = 5, .ageSeconds = 2});
    model.setListing(next);
    QCOMPARE(reset.size(), 0);
    QCOMPARE(snapshot.row(), 1);
    QCOMPARE(model.keyAt(2), QStringLiteral("memory/1/9"));
    QCOMPARE(pages.row(), 3);
    QCOMPARE(model.count(), 6);
    // A great change is a new list.
    for (int i = 0; i < 1000; ++i)
      next.texts.push_back({.key = "memory/2/" + std::to_string(i), .ageSeconds = 0.5 * (i % 97)});
    model.setListing(next);
    QCOMPARE(reset.size(), 1);
    QCOMPARE(model.count(), 1006);
    model.setListing({});
    QCOMPARE(model.count(), 0);
  }

  void asksOnlyWhileItIsShown() {
    WindowFixture fixture;
    QTest::qWait(100);
    QCOMPARE(fixture.backend.listings(), 0);
    fixture.key(Qt::Key_4, Qt::ControlModifier);
    QVERIFY(fixture.find("cachesEmpty"));
    QVERIFY(fixture.until([&] { return fixture.backend.listings() == 2; }));
    fixture.key(Qt::Key_1, Qt::ControlModifier);
    const int before = fixture.backend.listings();
    QTest::qWait(1500);
    QCOMPARE(fixture.backend.listings(), before);
    QElapsedTimer clock;
    clock.start();
    fixture.key(Qt::Key_4, Qt::ControlModifier);
    QTest::qWait(2500);
    QVERIFY(fixture.backend.listings() - before <= 1 + clock.elapsed() / 1000);
  }

  void provesByKeys() {
    WindowFixture fixture;
    fixture.backend.setListing(shownListing());
    fixture.key(Qt::Key_4, Qt::ControlModifier);
    QVERIFY(fixture.find("cacheRow"));
    CacheListModel& model = *fixture.session().caches();
    QVERIFY(fixture.find("cacheList")->hasActiveFocus());
    fixture.key(Qt::Key_Down);
    fixture.key(Qt::Key_Return);
    const std::string key = "memory/1/4";
    QVERIFY(fixture.until([&] { return fixture.backend.proofs() == std::vector{key}; }));
    const auto state = [&] { return valueOf(model, "memory/1/4", CacheListModel::StateTextRole).toString(); };
    QCOMPARE(state(), QStringLiteral("Waits for its proof"));
    fixture.backend.tellProof(key, service::ProofProgressEvent{310, 1240});
    QVERIFY(fixture.until([&] { return state() == QStringLiteral("Proving… 25 %"); }));
    fixture.key(Qt::Key_Return);  // stops it
    QVERIFY(fixture.until([&] { return state() == QStringLiteral("Usable"); }));
    QVERIFY(fixture.backend.proofs().empty());

    fixture.key(Qt::Key_Return);
    QVERIFY(fixture.until([&] { return !fixture.backend.proofs().empty(); }));
    fixture.backend.tellProof(key, Error{ErrorCode::kOutOfMemory, "There is too little memory."});
    QVERIFY(fixture.until([&] {
      return valueOf(model, "memory/1/4", CacheListModel::DetailRole).toString() ==
             QStringLiteral("Not proved: There is too little memory.");
    }));
    fixture.key(Qt::Key_Return);
    QVERIFY(fixture.until([&] { return !fixture.backend.proofs().empty(); }));
    service::CacheListing proven = shownListing();
    proven.texts[0].state = service::TextState::kProven;
    proven.texts[0].proof.bytes = 12;
    fixture.backend.setListing(proven);
    fixture.backend.tellProof(key, TextProof{12, 0});
    QVERIFY(fixture.until([&] { return state() == QStringLiteral("Proven"); }));
    QCOMPARE(valueOf(model, "memory/1/4", CacheListModel::DetailRole).toString(),
             QStringLiteral("All 12 bytes are those of a cold read."));
    fixture.key(Qt::Key_Delete);
    QVERIFY(fixture.until([&] { return !keysOf(model).contains("memory/1/4"); }));
  }

  // From the list, Tab comes to the buttons of the row it stands on, not of all.
  void buttonsOfTheMarkedRow() {
    WindowFixture fixture;
    fixture.backend.setListing(shownListing());
    fixture.click("railCaches");
    QVERIFY(fixture.find("cacheRow"));
    fixture.find("cacheList")->forceActiveFocus();
    fixture.key(Qt::Key_Down);
    QSet<QString> met;
    for (int i = 0; i < 20; ++i) {
      fixture.key(Qt::Key_Tab);
      met.insert(fixture.window()->activeFocusItem()->objectName());
    }
    for (const char* name : {"clearDiskButton", "sortTokens", "sortSize", "sortHits", "sortAge", "cacheList"})
      QVERIFY2(met.contains(name), name);
    fixture.click("dropButton");  // of the last row that has one
    QVERIFY(fixture.until([&] { return !keysOf(*fixture.session().caches()).contains("disk/other.text"); }));
    fixture.click("sortSize");
    QCOMPARE(fixture.session().caches()->sortColumn(), CacheListModel::Size);
  }

  void clearingIsAskedAbout() {
    WindowFixture fixture;
    fixture.backend.setListing(shownListing());
    fixture.click("railCaches");
    QVERIFY(fixture.find("cacheRow"));
    fixture.click("clearDiskButton");
    QVERIFY(fixture.find("clearConfirm"));
    fixture.key(Qt::Key_Escape);
    QVERIFY(fixture.until([&] { return fixture.findNow("clearConfirm") == nullptr; }));
    QCOMPARE(fixture.session().caches()->files(), 1);
    fixture.click("clearDiskButton");
    fixture.click("clearConfirm");
    QVERIFY(fixture.until([&] { return fixture.session().caches()->files() == 0; }));
    QVERIFY(fixture.until([&] { return !fixture.find("clearDiskButton")->isEnabled(); }));
    QVERIFY(fixture.session().caches()->count() > 0);  // what is in memory stays
  }

  void troubleIsShown() {
    WindowFixture fixture;
    service::CacheListing listing = shownListing();
    listing.diskTrouble = "The disk is too full to keep what was read.";
    fixture.backend.setListing(listing);
    fixture.click("railCaches");
    QVERIFY(fixture.find("diskTrouble"));
    QCOMPARE(fixture.find("diskTrouble")->property("text").toString(),
             QString::fromStdString(listing.diskTrouble));
    fixture.backend.setListing(shownListing());
    QVERIFY(fixture.until([&] { return fixture.findNow("diskTrouble") == nullptr; }));
  }

  void settingsReachTheEngine() {
    WindowFixture fixture;
    QCOMPARE(fixture.backend.cacheSettings()->memoryBudget, service::kAutomaticBudget);
    QVERIFY(fixture.backend.cacheSettings()->disk && fixture.backend.cacheSettings()->endAnchor);
    fixture.click("railSettings");
    QVERIFY(fixture.find("cacheDiskSwitch"));
    fixture.find("cacheDiskSwitch")->forceActiveFocus(Qt::TabFocusReason);
    fixture.key(Qt::Key_Space);
    QVERIFY(fixture.until([&] { return !fixture.backend.cacheSettings()->disk; }));
    fixture.find("cacheEndAnchorSwitch")->forceActiveFocus(Qt::TabFocusReason);
    fixture.key(Qt::Key_Space);
    QVERIFY(fixture.until([&] { return !fixture.backend.cacheSettings()->endAnchor; }));
    fixture.session().settings()->setCacheMemoryGib(2);
    fixture.session().settings()->setCacheGrid(256);
    QCOMPARE(fixture.backend.cacheSettings()->memoryBudget, std::size_t{2} << 30);
    QCOMPARE(fixture.backend.cacheSettings()->grid, 256);
    fixture.reopen();
    QVERIFY(!fixture.backend.cacheSettings()->disk && !fixture.backend.cacheSettings()->endAnchor);
  }

  // The smallest window with the largest text still shows every row's state and buttons.
  void largeTextStaysInside() {
    WindowFixture fixture;
    fixture.backend.setListing(shownListing());
    fixture.session().settings()->setTextScale(1.6);
    fixture.window()->resize(720, 480);
    fixture.click("railCaches");
    QVERIFY(fixture.find("cacheRow"));
    QTest::qWait(200);
    for (const char* name : {"clearDiskButton", "cacheState", "proveButton", "dropButton"}) {
      QQuickItem* item = fixture.find(name);
      const QRectF place(item->mapToScene({0, 0}), QSizeF(item->width(), item->height()));
      QVERIFY2(place.left() >= 76 && place.right() <= fixture.window()->width(), name);
    }
  }
};

}  // namespace tandem::testing

int main(int argc, char** argv) {
  tandem::testing::TestCaches test;
  return tandem::testing::runWindowTest(test, argc, argv);
}

#include "test_caches.moc"
