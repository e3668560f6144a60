// The cache on disk without a model: texts outlive it, what is broken on the disk is never served and always
// told, and whoever is killed or cannot write loses no more than what was being written.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QtTest>
#include <atomic>
#include <future>
#include <thread>

#include "tests/cache/disk_program.h"

using namespace tandem;
using namespace tandem::test;
namespace fs = std::filesystem;

namespace {

// Fails from the n-th call of one kind on, `times` times.
struct FaultyOps : FileOps {
  enum Kind { kCreate, kWrite, kSync, kRename, kSyncFolder, kKinds };
  int failing = kKinds, after = 0, times = 0;
  std::atomic<int> failed = 0;
  bool fails(int kind) {
    if (kind != failing || after-- > 0 || times <= 0) return false;
    --times;
    ++failed;
    return true;
  }
  int create(const std::string& path, int& fd) override {
    return fails(kCreate) ? EACCES : FileOps::create(path, fd);
  }
  int write(int fd, const void* data, std::size_t size) override {
    if (!fails(kWrite)) return FileOps::write(fd, data, size);
    FileOps::write(fd, data, size / 2);
    return ENOSPC;
  }
  int sync(int fd) override { return fails(kSync) ? EIO : FileOps::sync(fd); }
  int rename(const std::string& a, const std::string& b) override {
    return fails(kRename) ? EIO : FileOps::rename(a, b);
  }
  int syncFolder(const std::string& path) override {
    return fails(kSyncFolder) ? EIO : FileOps::syncFolder(path);
  }
};

// Cannot remove rows as often as `failures` says.
struct FailingIndex : TextIndex {
  std::unique_ptr<TextIndex> index;
  std::atomic<int>& failures;
  FailingIndex(std::unique_ptr<TextIndex> real, std::atomic<int>& times)
      : index(std::move(real)), failures(times) {}
  static OpenTextIndex opener(std::atomic<int>& failures) {
    return [&failures](const std::string& path) -> Result<std::unique_ptr<TextIndex>> {
      auto index = storage::CacheIndex::open(path);
      if (!index) return index.error();
      return std::unique_ptr<TextIndex>(new FailingIndex(std::move(*index), failures));
    };
  }
  Result<std::vector<TextRow>> rows() override { return index->rows(); }
  Result<std::int64_t> add(const TextRow& row) override { return index->add(row); }
  Status remove(std::span<const std::int64_t> ids) override {
    if (failures <= 0) return index->remove(ids);
    --failures;
    return Error{ErrorCode::kIo, "the index is locked", {}, EIO};
  }
  Status use(std::span<const TextUse> uses) override { return index->use(uses); }
  bool isCurrent() const override { return index->isCurrent(); }
};

// Holds every write until it is let go.
struct HeldOps : FileOps {
  std::atomic<bool> held = true, reached = false;
  int write(int fd, const void* data, std::size_t size) override {
    reached = true;
    while (held)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return FileOps::write(fd, data, size);
  }
};

void flip(const fs::path& path, std::size_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(at));
  const int byte = file.get();
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(byte ^ 4));
}

std::vector<TokenId> branchOf(std::vector<TokenId> text, std::size_t at, int more) {
  text.resize(at);
  for (const TokenId token : numberedText(99, more))
    text.push_back(token);
  return text;
}

}  // namespace

class TestDiskCache : public QObject {
  Q_OBJECT

  QTemporaryDir dir_;
  int folders_ = 0;
  std::string newFolder() { return dir_.filePath(QString("texts%1/a").arg(++folders_)).toStdString(); }

 private slots:
  void textsOutliveTheProgram() {
    for (const bool stateful : {false, true}) {
      const std::string folder = newFolder();
      const std::vector<int> lengths = {16, 40, 64, 100, 1023, 1024, 1025, 2048, 2600};
      {
        Program first(folder, stateful);
        for (std::size_t i = 0; i < lengths.size(); ++i) {
          first.keep(numberedText(i, lengths[i]));
          if (i % 3 == 0) first.disk->flush();
        }
        first.keep(numberedText(50, 15));  // too short to be worth a file
      }
      struct stat info = {};
      QVERIFY(::stat(folder.c_str(), &info) == 0 && (info.st_mode & 0777) == 0700);
      for (const fs::path& file : filesIn(folder))
        QVERIFY(::stat(file.c_str(), &info) == 0 && (info.st_mode & 0777) == 0600);
      Program second(folder, stateful);
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        std::vector<TokenId> text = numberedText(i, lengths[i]);
        // Whole: but for the last token, or with the logits behind it.
        QCOMPARE(second.restored(text), stateful ? lengths[i] : lengths[i] - 1 < 16 ? 0 : lengths[i] - 1);
        text.push_back(7);
        QCOMPARE(second.restored(text), lengths[i]);
        // Another token somewhere.
        const int at = lengths[i] / 2;
        const int expected = stateful ? at / 256 * 256 : at < 16 ? 0 : at;
        QCOMPARE(second.restored(branchOf(numberedText(i, lengths[i]), static_cast<std::size_t>(at), 80)),
                 expected);
      }
      QCOMPARE(second.restored(numberedText(50, 15)), 0);
      QCOMPARE(second.restored(numberedText(60, 500)), 0);
      QVERIFY(second.disk->unusable().empty());
      QCOMPARE(second.disk->trouble(), std::string());
    }
  }

  // What memory knows is not read again; what it knows no less of is left alone.
  void onlyWhatIsMissingIsRead() {
    const std::string folder = newFolder();
    const std::vector<TokenId> text = numberedText(1, 1500);
    Program program(folder);
    program.keep(text);
    program.disk->flush();
    const std::vector<TokenId> known(text.begin(), text.begin() + 1300);
    program.memory.insert(known, sequenceFor(known), {}, 1);
    // The first piece's file is not touched any more: its damage goes unseen.
    for (const TextRowPtr& row : program.disk->rows()) {
      if (row->start == 0) flip(fs::path(folder) / row->file, row->bytes - 1);
    }
    CacheHit hit = program.memory.find(text);
    QCOMPARE(hit.sequence.length(), 1300);
    QVERIFY(program.disk->restore(program.memory, text, hit, 1));
    hit = program.memory.find(text);
    QCOMPARE(hit.sequence.length(), 1499);
    Sequence expected = sequenceFor(text);
    expected.kv.truncate(1499);
    QVERIFY(expected.sameBytes(hit.sequence));
    QVERIFY(!program.disk->restore(program.memory, text, hit, 1));
    QVERIFY(program.disk->unusable().empty());
    QCOMPARE(program.restored(text), 0);  // without memory it is seen, and nothing is left of the beginning
    QCOMPARE(program.disk->unusable().size(), std::size_t(1));
  }

  void aTextThatGrowsIsKeptOnce() {
    const std::string folder = newFolder();
    Program program(folder);
    const std::vector<TokenId> text = numberedText(1, 3000);
    for (const std::size_t length : {100, 400, 401, 1000, 1500, 2500, 3000}) {
      program.keep({text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length)});
      program.disk->flush();
      QCOMPARE(filesIn(folder).size(), (length + 1023) / 1024);
    }
    program.keep(branchOf(text, 1200, 300));  // shares the first piece
    program.disk->flush();
    QCOMPARE(filesIn(folder).size(), std::size_t(4));
    QCOMPARE(program.restored(branchOf(text, 1200, 300)), 1499);
    QCOMPARE(program.restored(text), 2999);
  }

  void theBudgetIsKept() {
    const std::string folder = newFolder();
    constexpr std::uint64_t kFile = 64 * 600 + 600 * 4 + 184 + 10 * 16;  // of 600 tokens
    DiskCacheOptions options;
    options.folder.budget = 4 * kFile;
    Program program(folder, false, options);
    for (int number = 1; number <= 4; ++number) {
      program.keep(numberedText(static_cast<std::uint64_t>(number), 600));
      program.disk->flush();
    }
    QCOMPARE(program.restored(numberedText(1, 600)), 599);  // used now
    program.disk->flush();
    program.keep(numberedText(5, 600));
    program.disk->flush();
    QCOMPARE(filesIn(folder).size(), std::size_t(4));
    QCOMPARE(program.restored(numberedText(2, 600)), 0);
    for (const std::uint64_t number : {1, 3, 4, 5})
      QCOMPARE(program.restored(numberedText(number, 600)), 599);
    // A text above the budget keeps its beginning, and no more files than the budget allows.
    program.keep(numberedText(6, 5000));
    program.disk->flush();
    std::uint64_t bytes = 0;
    for (const fs::path& file : filesIn(folder))
      bytes += fs::file_size(file);
    QVERIFY(bytes <= options.folder.budget);
    QVERIFY(program.restored(numberedText(6, 5000)) >= 1024);
    QCOMPARE(program.disk->trouble(), std::string());
    // A disk that is to stay free: nothing is kept, and that is told.
    DiskCacheOptions full;
    full.folder.freeDisk = std::uint64_t{1} << 60;
    Program other(folder, false, full);
    other.keep(numberedText(7, 600));
    other.disk->flush();
    QVERIFY(other.disk->trouble().starts_with("The disk is too full"));
  }

  // What waits to be written takes no more memory than the cache may; the texts of before go first.
  void whatWaitsIsBounded() {
    const std::string folder = newFolder();
    DiskCacheOptions options;
    options.settle = std::chrono::hours(1);
    Program program(folder, false, options);
    const std::uint64_t size =
        std::uint64_t{10} * smallEmpty(false).kv.layout().pageBytes();  // of 600 tokens
    for (int number = 1; number <= 5; ++number)
      program.keep(numberedText(static_cast<std::uint64_t>(number), 600), 1, 2 * size);
    program.keep(numberedText(6, 600), 1, 3 * size);
    program.disk->flush();
    for (const std::uint64_t number : {1, 2, 3})
      QCOMPARE(program.restored(numberedText(number, 600)), 0);
    for (const std::uint64_t number : {4, 5, 6})
      QCOMPARE(program.restored(numberedText(number, 600)), 599);
    program.keep(numberedText(7, 600), 1, 1);  // the latest is written all the same
    program.disk->flush();
    QCOMPARE(program.restored(numberedText(7, 600)), 599);
  }

  // Where one request follows another there is no pause in which to write.
  void whatWaitsIsWrittenAtLast() {
    const std::string folder = newFolder();
    DiskCacheOptions options;
    options.settle = std::chrono::hours(1);
    options.longest = std::chrono::milliseconds(100);
    Program program(folder, false, options);
    QElapsedTimer clock;
    clock.start();
    std::uint64_t number = 0;
    while (program.disk->rows().empty() && clock.elapsed() < 30'000) {
      program.keep(numberedText(++number, 100));
      QTest::qSleep(5);
    }
    QVERIFY(clock.elapsed() >= 100);
    QCOMPARE(program.restored(numberedText(1, 100)), 99);
  }

  // Every kind of change to a file between two programs: it is not served, it is told, and it is gone.
  void whatIsBrokenIsNeverServed() {
    for (const bool stateful : {false, true}) {
      const std::string folder = newFolder();
      const std::vector<TokenId> text = numberedText(1, 300);
      Program(folder, stateful).keep(text);
      const std::vector<fs::path> files = filesIn(folder);
      QCOMPARE(files.size(), std::size_t(stateful ? 3 : 1));
      const std::string index = bytesOf(folder + "/index.db");
      std::vector<std::string> whole;
      for (const fs::path& file : files)
        whole.push_back(bytesOf(file));
      const auto broken = [&](std::size_t which, std::string_view bytes, bool swept) {
        for (std::size_t i = 0; i < files.size(); ++i)
          writeBytes(files[i], i == which ? bytes : whole[i]);
        writeBytes(folder + "/index.db", index);
        Program program(folder, stateful);
        if (swept) program.disk->flush();  // has looked at the files by then
        const int length = program.restored(text);
        program.disk->flush();
        const bool told = program.disk->unusable().size() == 1 &&
                          program.disk->unusable()[0].file == files[which].filename().string() &&
                          !program.disk->unusable()[0].reason.empty();
        return length >= 0 && length < 299 && told && !fs::exists(files[which]);
      };
      for (std::size_t which = 0; which < files.size(); ++which) {
        const std::string& bytes = whole[which];
        if (TextFileReader::open(files[which])->head().end < 300) continue;  // a state that is not asked for
        for (std::size_t at = 0; at < bytes.size(); at += at < 184 ? 1 : bytes.size() / 12) {
          std::string damaged = bytes;
          damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
          QVERIFY2(broken(which, damaged, at % 2 == 0), qPrintable(QString("byte %1").arg(at)));
        }
        for (std::size_t size = 0; size < bytes.size(); size += 1024)
          QVERIFY2(broken(which, std::string_view(bytes).substr(0, size), size % 2048 == 0), "cut");
      }
    }
  }

  void anotherModelOfTheSameShape() {
    const std::string folder = newFolder();
    const std::vector<TokenId> text = numberedText(1, 300);
    Program(folder).keep(text);
    const fs::path file = filesIn(folder).front();
    const std::string bytes = bytesOf(file);
    {
      Program other(folder, false, {}, "00000000000000000000000000000000");
      QCOMPARE(other.restored(text), 0);
      other.keep(text);
      other.disk->flush();
      QCOMPARE(other.restored(text), 299);
      QVERIFY(other.disk->unusable().empty());
      // Its file is put in the first one's place.
      for (const fs::path& one : filesIn(folder)) {
        if (one != file) writeBytes(file, bytesOf(one));
      }
    }
    Program program(folder);
    QCOMPARE(program.restored(text), 0);
    program.disk->flush();
    QVERIFY(!program.disk->unusable().empty());
    QVERIFY(program.disk->unusable()[0].reason == "it is of another model" ||
            program.disk->unusable()[0].reason == "it is not the file that the index lists");
    QVERIFY(!fs::exists(file));
  }

  // Equal hashes are told apart by tokens; caches that trust a hash, or no checksum, are seen to be wrong.
  void faultsAreSeen() {
    const std::string folder = newFolder();
    const auto open = [&](DiskFaults faults) {
      DiskCacheOptions options;
      options.folder.faults = faults;
      return std::make_unique<Program>(folder, false, options);
    };
    {
      auto program = open({.oneHash = true});
      for (int number = 1; number <= 6; ++number)
        program->keep(numberedText(static_cast<std::uint64_t>(number), 1300));
    }
    auto right = open({.oneHash = true});
    for (int number = 1; number <= 6; ++number)
      QCOMPARE(right->restored(numberedText(static_cast<std::uint64_t>(number), 1300)), 1299);
    std::vector<TokenId> mixed = numberedText(1, 1024);
    const std::vector<TokenId> second = numberedText(2, 1300);
    mixed.insert(mixed.end(), second.begin() + 1024, second.end());
    QCOMPARE(right->restored(mixed), 1024);
    right.reset();
    auto faulty = open({.oneHash = true, .trustHash = true});
    QCOMPARE(faulty->restored(mixed), -1);
    faulty.reset();
    for (const fs::path& file : filesIn(folder))
      flip(file, fs::file_size(file) - 100);
    QCOMPARE(open({.oneHash = true, .skipChecksum = true})->restored(numberedText(1, 1300)), -1);
    QCOMPARE(open({.oneHash = true})->restored(numberedText(1, 1300)), 0);
  }

  // The n-th call of each kind fails, once and for ever: nothing wrong is served, trouble is told once, what
  // was there stays, and when the disk works again so does the cache.
  void aFailingDisk() {
    for (int kind = 0; kind < FaultyOps::kKinds; ++kind) {
      for (const int times : {1, 1 << 20}) {
        for (int after = 0; after < 8; after += kind == FaultyOps::kWrite ? 1 : 3) {
          const std::string folder = newFolder();
          FaultyOps ops;
          std::atomic<int> told = 0, over = 0;
          DiskCacheOptions options;
          options.folder.ops = &ops;
          options.onTrouble = [&](const std::string& sentence) { ++(sentence.empty() ? over : told); };
          Program program(folder, true, options);
          program.keep(numberedText(1, 300));
          program.disk->flush();
          ops.failing = kind, ops.after = after, ops.times = times;
          for (int number = 2; number <= 6; ++number) {
            program.keep(numberedText(static_cast<std::uint64_t>(number), 300));
            program.disk->flush();
          }
          QCOMPARE(program.restored(numberedText(1, 300)), 300);
          QVERIFY(ops.failed > 0);
          QCOMPARE(int(told), 1);
          ops.times = 0;
          QTest::qWait(25);
          for (int number = 1; number <= 7; ++number) {
            const int length = program.restored(numberedText(static_cast<std::uint64_t>(number), 300));
            QVERIFY(length >= 0);
          }
          program.keep(numberedText(8, 300));
          program.disk->flush();
          QCOMPARE(program.disk->trouble(), std::string());
          QCOMPARE(int(over), 1);
          QCOMPARE(program.restored(numberedText(8, 300)), 300);
          program.disk->close();
          QVERIFY(filesIn(folder, kTemporaryText).empty());
          Program again(folder, true);
          again.disk->flush();
          QVERIFY(again.disk->unusable().empty());
          QCOMPARE(again.restored(numberedText(1, 300)), 300);
        }
      }
    }
  }

  void aFolderThatVanishesOrIsNone() {
    const std::string folder = newFolder();
    Program program(folder);
    program.keep(numberedText(1, 300));
    program.disk->flush();
    QCOMPARE(program.restored(numberedText(1, 300)), 299);
    fs::remove_all(folder);
    QCOMPARE(program.restored(numberedText(1, 300)), 0);
    program.keep(numberedText(2, 300));
    program.disk->flush();
    QCOMPARE(program.disk->trouble(), std::string());
    QCOMPARE(program.restored(numberedText(2, 300)), 299);
    // A file in the place of the folder.
    const std::string blocked = newFolder();
    fs::create_directories(fs::path(blocked).parent_path());
    writeBytes(blocked, "no folder");
    std::atomic<int> told = 0;
    DiskCacheOptions options;
    options.onTrouble = [&](const std::string&) { ++told; };
    Program none(blocked, false, options);
    for (int number = 1; number <= 3; ++number) {
      none.keep(numberedText(static_cast<std::uint64_t>(number), 300));
      none.disk->flush();
    }
    QCOMPARE(none.restored(numberedText(1, 300)), 0);
    QCOMPARE(int(told), 1);
    QVERIFY(!none.disk->trouble().empty());
  }

  void aBrokenIndexIsReplaced() {
    const std::string folder = newFolder();
    Program(folder).keep(numberedText(1, 300));
    for (const int how : {0, 1, 2}) {
      const std::string index = bytesOf(folder + "/index.db");
      if (how == 0) writeBytes(folder + "/index.db", std::string(index.size(), 'x'));
      if (how == 1) writeBytes(folder + "/index.db", index.substr(0, index.size() / 2));
      if (how == 2) fs::remove(folder + "/index.db");
      Program program(folder);
      program.disk->flush();
      QCOMPARE(program.disk->trouble(), std::string());
      QVERIFY(program.restored(numberedText(1, 300)) >= 0);
      program.keep(numberedText(1, 300));
      program.disk->flush();
      QCOMPARE(program.restored(numberedText(1, 300)), 299);
    }
  }

  void aDeletedConversationLeaves() {
    const std::string folder = newFolder();
    Program program(folder, true);
    program.keep(numberedText(1, 1500), 1);
    program.keep(numberedText(2, 1500), 2);
    program.disk->flush();
    program.keep(numberedText(3, 500), 1);
    program.disk->dropConversation(1);
    program.disk->flush();
    QCOMPARE(program.restored(numberedText(1, 1500)), 0);
    QCOMPARE(program.restored(numberedText(3, 500)), 0);
    QCOMPARE(program.restored(numberedText(2, 1500), 2), 1500);
    for (const TextRowPtr& row : program.disk->rows())
      QCOMPARE(row->conversation, std::int64_t(2));
    QCOMPARE(filesIn(folder).size(), program.disk->rows().size());
  }

  // It is tried again, and told as long as it lasts, also where texts can be written.
  void aConversationThatCannotBeRemovedAtOnce() {
    const std::string folder = newFolder();
    std::atomic<int> failures = 0, told = 0;
    DiskCacheOptions options;
    options.folder.openIndex = FailingIndex::opener(failures);
    options.onTrouble = [&](const std::string& sentence) { told += !sentence.empty(); };
    Program program(folder, false, options);
    program.keep(numberedText(1, 300), 1);
    program.disk->flush();
    QCOMPARE(filesIn(folder).size(), std::size_t(1));
    failures = 3;
    program.disk->dropConversation(1);
    program.keep(numberedText(2, 300), 2);
    QTRY_VERIFY(failures == 0 && program.disk->trouble().empty());
    QCOMPARE(int(told), 1);
    QCOMPARE(program.restored(numberedText(1, 300)), 0);
    QTRY_VERIFY(std::ranges::none_of(program.disk->rows(),
                                     [](const TextRowPtr& row) { return row->conversation == 1; }));
    program.disk->close();
    QCOMPARE(filesIn(folder).size(), program.disk->rows().size());
  }

  // Nothing is taken from files that are to be removed, also where that fails at first.
  void whatCannotBeClearedAtOnceIsNotUsed() {
    const std::string folder = newFolder();
    std::atomic<int> failures = 0;
    DiskCacheOptions options;
    options.folder.openIndex = FailingIndex::opener(failures);
    Program program(folder, false, options);
    program.keep(numberedText(1, 300), 1);
    program.disk->flush();
    failures = 3;
    QVERIFY(program.disk->clear());
    while (failures > 0)
      QCOMPARE(program.restored(numberedText(1, 300)), 0);
    QTRY_VERIFY(filesIn(folder).empty());
    QCOMPARE(program.restored(numberedText(1, 300)), 0);
    QTRY_COMPARE(program.disk->trouble(), std::string());
  }

  // Another program that looks through all files holds up neither what is asked meanwhile nor the end.
  void anotherProgramsSweepHoldsUpNobody() {
    const std::string folder = newFolder();
    Program(folder).keep(numberedText(1, 300), 1);
    const int other = ::open((folder + "/lock").c_str(), O_RDWR | O_CLOEXEC);
    QCOMPARE(::flock(other, LOCK_EX), 0);
    // Whatever fails here, nobody waits for ever.
    std::promise<void> over;
    std::thread last([&] {
      over.get_future().wait_for(std::chrono::seconds(20));
      ::close(other);
    });
    DiskCacheOptions options;
    options.closeTime = std::chrono::milliseconds(200);
    bool inTime = false;
    std::string told;
    QElapsedTimer clock;
    clock.start();
    {
      Program program(folder, false, options);
      program.keep(numberedText(2, 300), 2);
      program.keep(numberedText(3, 300), 3);
      QTest::qWait(200);
      program.disk->dropConversation(1);
      program.disk->dropConversation(2);
      while (!filesIn(folder).empty() && clock.elapsed() < 15000)
        QTest::qWait(1);
      const bool removed = filesIn(folder).empty();
      ::flock(other, LOCK_UN);
      while (program.disk->rows().empty() && clock.elapsed() < 15000)
        QTest::qWait(1);
      ::flock(other, LOCK_EX);
      program.keep(numberedText(4, 300), 4);
      program.disk->close();
      told = program.disk->trouble();
      inTime = removed && clock.elapsed() < 15000;
    }
    over.set_value();
    last.join();
    QVERIFY(inTime);
    QCOMPARE(told, std::string());
    QCOMPARE(filesIn(folder).size(), std::size_t(1));
    Program again(folder);
    QCOMPARE(again.restored(numberedText(3, 300)), 299);
  }

  // As when a conversation is deleted, or all is cleared, while another model takes the place of this one.
  void whatIsRemovedWhileItCloses() {
    for (const bool all : {false, true}) {
      const std::string folder = newFolder();
      HeldOps ops;
      DiskCacheOptions options;
      options.folder.ops = &ops;
      options.closeTime = std::chrono::minutes(1);
      Program program(folder, false, options);
      program.keep(numberedText(1, 300), 1);
      program.keep(numberedText(2, 300), 2);
      program.keep(numberedText(3, 300), 1);
      while (!ops.reached)
        QTest::qWait(1);
      std::thread closing([&] { program.disk->close(); });
      QTest::qWait(50);
      const bool taken = all ? program.disk->clear() : program.disk->dropConversation(1);
      ops.held = false;
      closing.join();
      QVERIFY(taken);
      QVERIFY(!program.disk->clear() && !program.disk->dropConversation(2));  // nobody would do it
      Program again(folder);
      QCOMPARE(again.restored(numberedText(1, 300)), 0);
      QCOMPARE(again.restored(numberedText(2, 300)), all ? 0 : 299);
      QCOMPARE(again.restored(numberedText(3, 300)), 0);
      QCOMPARE(filesIn(folder).size(), std::size_t(all ? 0 : 1));
    }
  }

  void twoProgramsShareAFolder() {
    const std::string folder = newFolder();
    Program one(folder), two(folder);
    for (int number = 1; number <= 10; ++number) {
      (number % 2 ? one : two).keep(numberedText(static_cast<std::uint64_t>(number), 700));
      (number % 3 ? one : two).disk->flush();
    }
    one.disk->flush();
    two.disk->flush();
    Program three(folder);
    for (int number = 1; number <= 10; ++number)
      QCOMPARE(three.restored(numberedText(static_cast<std::uint64_t>(number), 700)), 699);
    three.disk->flush();
    QVERIFY(three.disk->unusable().empty());
  }

  // What one program removes, the other has no more, and takes for no damage.
  void whatAnotherProgramRemovedIsNoDamage() {
    const std::string folder = newFolder();
    Program(folder).keep(numberedText(1, 700));
    Program one(folder), two(folder);
    one.disk->clear();
    one.disk->flush();
    QCOMPARE(two.restored(numberedText(1, 700)), 0);
    two.disk->flush();
    QVERIFY(two.disk->rows().empty() && two.disk->unusable().empty());
    QCOMPARE(two.disk->trouble(), std::string());
  }

  // While a request runs, a mebibyte is written every 50 ms at most.
  void aRequestComesFirst() {
    Program program(newFolder());
    program.disk->enter();
    QElapsedTimer clock;
    clock.start();
    program.keep(numberedText(1, 3 * 1024));
    while (program.disk->rows().size() < 3 && clock.elapsed() < 20000)
      QTest::qWait(5);
    QVERIFY2(clock.elapsed() >= 3 * 16 * 50, qPrintable(QString::number(clock.elapsed())));
    program.disk->leave();
    clock.restart();
    program.keep(numberedText(2, 3 * 1024));
    program.disk->flush();
    QCOMPARE(program.disk->rows().size(), std::size_t(6));
  }

  // Programs that are killed while they write. TANDEM_KILLS asks for more than the forty of every day.
  void killedAtAnyMoment() {
    const int asked = qEnvironmentVariableIntValue("TANDEM_KILLS");
    const int kills = asked > 0 ? asked : 40;
    const std::string folder = newFolder();
    std::uint64_t random = 17;
    int restored = 0, leftOver = 0;
    for (int kill = 0; kill < kills; ++kill) {
      const pid_t child = ::fork();
      if (child == 0) {
        DiskCacheOptions options;
        options.folder.budget = std::uint64_t{4} << 20;
        Program program(folder, kill % 2 == 1, options);
        for (std::uint64_t number = 0;; ++number) {
          program.keep(numberedText(mixed(number + static_cast<std::uint64_t>(kill)) % 20,
                                    200 + static_cast<int>(number * 37 % 1500)),
                       static_cast<std::int64_t>(number % 5));
          if (number % 7 == 3) program.disk->dropConversation(static_cast<std::int64_t>(number % 5));
          if (number % 3 == 0) program.disk->flush();
        }
      }
      ::usleep(static_cast<useconds_t>((random = mixed(random)) % 60000));
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
      Program program(folder, kill % 2 == 1);
      program.disk->flush();
      QCOMPARE(program.disk->trouble(), std::string());
      for (const UnusableText& file : program.disk->unusable()) {
        QVERIFY2(file.reason.starts_with("no index lists it"), file.reason.c_str());
        ++leftOver;
      }
      QVERIFY(filesIn(folder, kTemporaryText).empty());
      for (std::uint64_t number = 0; number < 20; ++number) {
        const int length = program.restored(numberedText(number, 1800));
        QVERIFY2(length >= 0, "a wrong byte was served");
        restored += length > 0;
      }
      program.disk->flush();
      QVERIFY(program.disk->rows().size() == filesIn(folder).size());
    }
    qInfo("%d kills: %d texts restored, %d files that no index listed", kills, restored, leftOver);
    QVERIFY(kills < 20 || restored > 0);
  }
};

QTEST_APPLESS_MAIN(TestDiskCache)
#include "test_disk_cache.moc"
