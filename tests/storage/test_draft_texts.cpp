// Earlier texts for drafting: found at once, capped, gone with their conversation, and never in the way.
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QtTest>
#include <random>

#include "storage/draft_texts.h"
#include "tests/storage/store_helpers.h"

using namespace tandem;
using namespace tandem::storage;
using namespace tandem::testing;

namespace {

using Ids = std::vector<TokenId>;

Ids words(unsigned seed, int count, int kinds = 5000) {
  std::mt19937 random(seed);
  Ids ids;
  for (int i = 0; i < count; ++i)
    ids.push_back(static_cast<TokenId>(random() % kinds));
  return ids;
}

}  // namespace

class TestDraftTexts : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> dir_;
  std::string path_;
  std::unique_ptr<Store> store_;

  ConversationId newConversation() { return writeTurn(*store_, 0, "question", "answer").conversation; }
  void add(ConversationId conversation, const Ids& text, const std::string& vocabulary = "v") {
    const Status status =
        store_->write([&](Writer& writer) { return writer.addDraftText(conversation, vocabulary, text); });
    QVERIFY2(status, sentence(status));
  }
  std::int64_t count(const char* sql) {
    auto db = Database::open(path_, SQLITE_OPEN_READONLY, "");
    return db ? (*db)->integer(sql).ok() ? *(*db)->integer(sql) : -1 : -1;
  }

 private slots:
  void init() {
    dir_ = std::make_unique<QTemporaryDir>();
    path_ = dir_->filePath("tandem.db").toStdString();
    auto opened = Store::open(path_);
    QVERIFY(opened.ok());
    store_ = std::move(*opened);
  }
  void cleanup() { store_.reset(); }

  void findableAtOnce() {
    DraftTexts texts(path_, "v");
    const Ids text = words(1, 3000);
    const Ids context(text.begin() + 1500, text.begin() + 1540);
    QVERIFY(texts.find(context, 8, 4).empty());
    add(newConversation(), text);
    const auto found = texts.find(context, 8, 4);
    QCOMPARE(found.size(), std::size_t(1));
    QCOMPARE(found[0].tokens, Ids(text.begin() + 1540, text.begin() + 1548));
    QCOMPARE(found[0].match, 40);
  }

  // At every place of a long text, the seams of its parts included, what follows is found.
  void everyPlaceIsFound() {
    const Ids text = words(2, 2600);
    add(newConversation(), text);
    DraftTexts texts(path_, "v");
    for (std::size_t at = 6; at < text.size(); ++at) {
      const auto found = texts.find(std::span(text).first(at), 16, 4);
      QVERIFY2(!found.empty(), qPrintable(QString::number(at)));
      const std::size_t end = std::min(text.size(), at + 16);
      QCOMPARE(found[0].tokens, Ids(text.begin() + at, text.begin() + end));
    }
  }

  void anotherVocabularyIsNotLookedIn() {
    const Ids text = words(3, 50);
    add(newConversation(), text, "other");
    DraftTexts mine(path_, "v"), other(path_, "other");
    QVERIFY(mine.find(std::span(text).first(20), 4, 4).empty());
    QCOMPARE(other.find(std::span(text).first(20), 4, 4).size(), std::size_t(1));
  }

  // The next turn's text goes on from the last one's; a regenerated answer branches off. Nothing is kept
  // twice.
  void growingTextsAreKeptOnce() {
    const ConversationId id = newConversation();
    Ids text = words(4, 1500);
    add(id, text);
    add(id, text);
    QCOMPARE(count("SELECT count(*) FROM draft_texts"), 2);
    const Ids more = words(5, 300);
    text.insert(text.end(), more.begin(), more.end());
    add(id, text);
    QCOMPARE(count("SELECT count(*) FROM draft_texts"), 2);
    add(id, Ids(text.begin(), text.begin() + 1400));  // an earlier version's beginning
    QCOMPARE(count("SELECT count(*) FROM draft_texts"), 2);
    Ids other = text;
    other[1700] += 1;
    add(id, other);
    QCOMPARE(count("SELECT count(*) FROM draft_texts"), 3);
    DraftTexts texts(path_, "v");
    QCOMPARE(texts.find(std::span(text).first(1700), 1, 4).size(), std::size_t(2));
  }

  void deletingAConversationRemovesItsText() {
    const ConversationId kept = newConversation(), gone = newConversation();
    const Ids text = words(6, 1200), other = words(7, 1200);
    add(kept, other);
    add(gone, text);
    DraftTexts texts(path_, "v");
    QVERIFY(!texts.find(std::span(text).first(100), 4, 4).empty());
    QVERIFY(store_->write([&](Writer& writer) { return writer.purgeConversation(gone); }));
    QVERIFY(texts.find(std::span(text).first(100), 4, 4).empty());
    QVERIFY(!texts.find(std::span(other).first(100), 4, 4).empty());
    QVERIFY(store_->write([&](Writer& writer) { return writer.purgeConversation(kept); }));
    QCOMPARE(count("SELECT count(*) FROM draft_texts"), 0);
    QCOMPARE(count("SELECT count(*) FROM draft_places"), 0);
  }

  // What a crash left of a conversation that is no longer there goes at the next start.
  void orphansAreSwept() {
    add(99999, words(8, 100));
    QCOMPARE(count("SELECT count(*) FROM draft_texts"), 1);
    QVERIFY(store_->write([](Writer& writer) { return writer.sweep(); }));
    QCOMPARE(count("SELECT count(*) FROM draft_places"), 0);
  }

  void theOldestGoFirstBeyondTheCap() {
    store_.reset();  // its sweep at the start would hold the file against this connection
    auto db = Database::open(path_, SQLITE_OPEN_READWRITE, "");
    QVERIFY(db.ok());
    constexpr std::int64_t kCap = 200'000;
    std::vector<Ids> all;
    for (unsigned i = 0; i < 12; ++i) {
      all.push_back(words(100 + i, 1000));
      QVERIFY((*db)->exec("BEGIN IMMEDIATE"));
      const Status status = addDraftText(**db, i + 1, "v", all.back(), kCap);
      QVERIFY2(status, sentence(status));
      QVERIFY((*db)->exec("COMMIT"));
      const auto bytes = draftTextBytes(**db);
      QVERIFY(bytes.ok() && *bytes <= kCap);
    }
    DraftTexts texts(path_, "v");
    QVERIFY(texts.find(std::span(all.front()).first(100), 4, 4).empty());
    QVERIFY(!texts.find(std::span(all.back()).first(100), 4, 4).empty());
    // What is counted is what the file takes, within a third.
    QVERIFY((*db)->exec("VACUUM"));
    const auto pages = (*db)->integer("SELECT count(*) FROM draft_places");
    QVERIFY(pages.ok() && *pages > 0);
  }

  // No file, no table, no text: nothing is found, and nothing fails.
  void aFileThatIsNotThereHoldsNothing() {
    DraftTexts missing(dir_->filePath("missing.db").toStdString(), "v");
    QVERIFY(missing.find(words(9, 20), 4, 4).empty());
    store_.reset();
    const std::string bad = dir_->filePath("bad.db").toStdString();
    QFile file(QString::fromStdString(bad));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray(5000, 'x'));
    file.close();
    DraftTexts damaged(bad, "v");
    QVERIFY(damaged.find(words(9, 20), 4, 4).empty());
  }

  // The best of many, as others may use the machine.
  void lookupIsQuick() {
    Ids last;
    for (unsigned i = 0; i < 20; ++i) {
      last = words(200 + i, 4000, 300);
      add(newConversation(), last);
    }
    DraftTexts texts(path_, "v");
    double best = 1e9, total = 0;
    QElapsedTimer timer;
    for (int i = 0; i < 200; ++i) {
      timer.start();
      QVERIFY(!texts.find(std::span(last).first(3000 + i), 31, 16).empty());
      const double ms = timer.nsecsElapsed() / 1e6;
      best = std::min(best, ms);
      total += ms;
    }
    qInfo("80,000 tokens kept: lookup %.3f ms at best, %.3f ms on average", best, total / 200);
    QVERIFY(best < 1.0);
  }
};

QTEST_GUILESS_MAIN(TestDraftTexts)
#include "test_draft_texts.moc"
