// A file of the cache on disk by itself: what was written is read, and nothing else ever is.
#include <QTemporaryDir>
#include <QtTest>

#include "tests/cache/text_files.h"

using namespace tandem;
using namespace tandem::test;
using kernels::kTile;

namespace {

constexpr int kVocabulary = 20;
constexpr std::size_t kFormatAt = 8, kArithmeticAt = 48, kHashAt = 168, kFixed = 184;

bool always() {
  return true;
}

// Fails or stops at the n-th call of one kind.
struct FailingOps : FileOps {
  int failing = 0;  // 0 create, 1 write, 2 sync, 3 rename, 4 syncFolder
  int after = 0;
  int code(int call) { return call == failing && after-- == 0 ? ENOSPC : 0; }
  int create(const std::string& path, int& fd) override {
    return code(0) ? ENOSPC : FileOps::create(path, fd);
  }
  int write(int fd, const void* data, std::size_t size) override {
    if (!code(1)) return FileOps::write(fd, data, size);
    FileOps::write(fd, data, size / 2);
    return ENOSPC;
  }
  int sync(int fd) override { return code(2) ? EIO : FileOps::sync(fd); }
  int rename(const std::string& from, const std::string& to) override {
    return code(3) ? EIO : FileOps::rename(from, to);
  }
  int syncFolder(const std::string& path) override { return code(4) ? EIO : FileOps::syncFolder(path); }
};

}  // namespace

class TestTextFile : public QObject {
  Q_OBJECT

  QTemporaryDir dir_;
  std::string folder() const { return dir_.path().toStdString(); }
  std::string path(const char* name) const { return folder() + "/" + name; }

  static TextFileHead pagesHead(const std::vector<TokenId>& text) {
    TextFileHead head;
    head.key = TextFileKey::of(kFingerprint, smallEmpty(true), kVocabulary);
    head.end = static_cast<int>(text.size());
    head.start = pieceStart(head.end);
    head.conversation = 7;
    head.tokens = text;
    return head;
  }
  static TextFileHead markHead(const std::vector<TokenId>& text, bool logits) {
    TextFileHead head = pagesHead(text);
    head.kind = TextFileKind::kMark;
    head.tier = static_cast<std::uint32_t>(CacheTier::kPromptEnd);
    head.logits = logits;
    return head;
  }
  // The payload of a file of pages, block by block.
  static std::vector<std::vector<std::byte>> payloadOf(const TextFileHead& head) {
    const Sequence whole = sequenceFor(head.tokens);
    std::vector<std::vector<std::byte>> blocks;
    for (int position = head.start; position < head.end; position += kTile) {
      blocks.push_back(packedPage(kSmallLayout, whole.kv.pages()[position / kTile].get(),
                                  std::min(kTile, head.end - position)));
    }
    return blocks;
  }
  static std::vector<std::vector<std::byte>> payloadOf(const CacheMark& mark) {
    std::vector<std::byte> block(mark.recurrent.bytes().begin(), mark.recurrent.bytes().end());
    const auto add = [&block](std::span<const float> values) {
      block.insert(block.end(), std::as_bytes(values).begin(), std::as_bytes(values).end());
    };
    add(mark.hidden);
    if (mark.logits) add(*mark.logits);
    return {block};
  }
  Status write(const char* name, const TextFileHead& head, const std::vector<std::vector<std::byte>>& payload,
               FileOps& ops = FileOps::system()) {
    std::vector<std::span<const std::byte>> blocks(payload.begin(), payload.end());
    return writeTextFile(ops, folder(), name, head, blocks, always);
  }
  // Why the file can't be used as `key`'s; empty: it can, and its payload is `expected`.
  static std::string reason(const std::string& path, const TextFileKey& key,
                            const std::vector<std::vector<std::byte>>& expected) {
    const auto reader = TextFileReader::open(path);
    if (!reader) return reader.error().message;
    if (std::string foreign = reader->foreign(key); !foreign.empty()) return foreign;
    for (int i = 0; i < reader->head().blocks(); ++i) {
      std::vector<std::byte> block(reader->head().sizeOf(i));
      if (const Status read = reader->readBlock(i, block); !read) return read.error().message;
      if (block != expected[static_cast<std::size_t>(i)]) qFatal("a wrong byte was served");
    }
    return {};
  }
  // Gives a changed head the hash that it would have been written with.
  static void reseal(std::string& bytes) {
    std::uint64_t end = 0, blocks = 0;
    std::memcpy(&end, bytes.data() + 112, sizeof end);
    std::memcpy(&blocks, bytes.data() + 144, sizeof blocks);
    std::string covered = bytes.substr(0, kHashAt) + bytes.substr(kFixed, end * 4 + blocks * 16);
    const Hash128 hash = hashOf(covered.data(), covered.size());
    std::memcpy(bytes.data() + kHashAt, hash.data(), sizeof hash);
  }

 private slots:
  void whatWasWrittenIsRead() {
    for (const int length : {1, 63, 64, 65, 200, 1023, 1024, 1025, 2048, 2500}) {
      const TextFileHead head = pagesHead(numberedText(1, length));
      QVERIFY(write("a", head, payloadOf(head)));
      const auto reader = TextFileReader::open(path("a"));
      QVERIFY(reader);
      QCOMPARE(reader->head().tokens, head.tokens);
      QCOMPARE(reader->head().start, (length - 1) / 1024 * 1024);
      QCOMPARE(reader->head().conversation, std::int64_t(7));
      QCOMPARE(QFileInfo(QString::fromStdString(path("a"))).size(), qint64(head.fileBytes()));
      QCOMPARE(reason(path("a"), head.key, payloadOf(head)), std::string());
      // The last page, spread out again.
      const int rows = (length - 1) % kTile + 1;
      std::vector<std::byte> packed(reader->head().sizeOf(reader->head().blocks() - 1));
      QVERIFY(reader->readBlock(reader->head().blocks() - 1, packed));
      std::vector<KvSequence::Page> pages = {KvSequence::Page(new std::byte[kSmallLayout.pageBytes()])};
      unpackPage(kSmallLayout, packed, rows, pages[0].get());
      const Sequence whole = sequenceFor(head.tokens);
      QVERIFY(KvSequence(kSmallLayout, std::move(pages), rows)
                  .sameBytes(KvSequence(kSmallLayout, {whole.kv.pages().back()}, rows)));
    }
    for (const bool logits : {false, true}) {
      const TextFileHead head = markHead(numberedText(2, 1500), logits);
      const auto payload = payloadOf(markFor(head.tokens, CacheTier::kPromptEnd, logits));
      QVERIFY(write("m", head, payload));
      QCOMPARE(reason(path("m"), head.key, payload), std::string());
    }
  }

  void everyByteCounts() {
    const TextFileHead pages = pagesHead(numberedText(3, 150)), mark = markHead(numberedText(4, 90), true);
    const auto pagesPayload = payloadOf(pages);
    const auto markPayload = payloadOf(markFor(mark.tokens, CacheTier::kPromptEnd, true));
    for (const bool isMark : {false, true}) {
      const TextFileHead& head = isMark ? mark : pages;
      const auto& payload = isMark ? markPayload : pagesPayload;
      QVERIFY(write("b", head, payload));
      const std::string whole = bytesOf(path("b"));
      QCOMPARE(reason(path("b"), head.key, payload), std::string());
      for (std::size_t i = 0; i < whole.size(); ++i) {
        std::string damaged = whole;
        damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
        writeBytes(path("b"), damaged);
        QVERIFY2(!reason(path("b"), head.key, payload).empty(), qPrintable(QString("byte %1").arg(i)));
      }
      for (std::size_t size = 0; size < whole.size(); ++size) {
        writeBytes(path("b"), whole.substr(0, size));
        QVERIFY2(!reason(path("b"), head.key, payload).empty(), qPrintable(QString("%1 bytes").arg(size)));
      }
      writeBytes(path("b"), whole + '\0');
      QCOMPARE(reason(path("b"), head.key, payload), std::string("it is longer than it says"));
      writeBytes(path("b"), std::string(whole.size(), '\0'));
      QVERIFY(!reason(path("b"), head.key, payload).empty());
    }
  }

  // A whole piece of SmolLM2's shape, 22 MiB.
  void aBigFileToo() {
    constexpr KvLayout kShape{30, 3, 64, kernels::CacheType::kF16};
    TextFileHead head = pagesHead(numberedText(5, kPiece));
    head.key = TextFileKey::of(kFingerprint, {KvSequence(kShape), {}, {}}, 49152);
    const Sequence whole = sequenceFor(head.tokens, kShape);
    std::vector<std::vector<std::byte>> payload;
    for (const auto& page : whole.kv.pages())
      payload.push_back(packedPage(kShape, page.get(), kTile));
    QVERIFY(write("c", head, payload));
    const qint64 size = QFileInfo(QString::fromStdString(path("c"))).size();
    QFile file(QString::fromStdString(path("c")));
    QVERIFY(file.open(QIODevice::ReadWrite));
    for (qint64 at = 0; at < size; at += size / 40 + 1) {
      char byte = 0;
      file.seek(at);
      file.read(&byte, 1);
      const auto flip = [&] {
        byte = static_cast<char>(byte ^ 16);
        file.seek(at);
        file.write(&byte, 1);
        file.flush();
      };
      flip();
      QVERIFY2(!reason(path("c"), head.key, payload).empty(), qPrintable(QString::number(at)));
      flip();
    }
    QCOMPARE(reason(path("c"), head.key, payload), std::string());
    // Cut at every KiB of its last and first MiB, and at every 64 KiB between.
    const auto step = [size](qint64 at) { return at > size - (1 << 20) || at <= 1 << 20 ? 1024 : 65536; };
    for (qint64 at = (size - 1) / 1024 * 1024; at > 0; at -= step(at)) {
      QVERIFY(file.resize(at));
      QCOMPARE(reason(path("c"), head.key, payload), std::string("it ends early"));
    }
  }

  void foreignFilesAreTold() {
    const TextFileHead head = pagesHead(numberedText(6, 100));
    const auto payload = payloadOf(head);
    QVERIFY(write("d", head, payload));
    const auto told = [&](auto change) {
      TextFileKey key = head.key;
      change(key);
      return reason(path("d"), key, payload);
    };
    QCOMPARE(told([](TextFileKey& key) { key.fingerprint[31] = '0'; }),
             std::string("it is of another model"));
    QCOMPARE(told([](TextFileKey& key) { ++key.arithmetic; }),
             std::string("it was computed by another version of the arithmetic"));
    for (std::uint32_t TextFileKey::*const field :
         {&TextFileKey::profile, &TextFileKey::cacheType, &TextFileKey::layers, &TextFileKey::kvHeads,
          &TextFileKey::stride, &TextFileKey::stateLayers, &TextFileKey::channels, &TextFileKey::tail,
          &TextFileKey::valueHeads, &TextFileKey::headDim, &TextFileKey::hidden, &TextFileKey::vocabulary,
          &TextFileKey::flags}) {
      QCOMPARE(told([field](TextFileKey& key) { ++(key.*field); }),
               std::string("it is of another profile, cache type or shape"));
    }
    std::string bytes = bytesOf(path("d"));
    ++bytes[kFormatAt];
    reseal(bytes);
    writeBytes(path("d"), bytes);
    QCOMPARE(reason(path("d"), head.key, payload), std::string("it has another format (2)"));
    QCOMPARE(TextFileReader::open(path("none")).error().code, ErrorCode::kNotFound);
    QVERIFY(!TextFileReader::open(folder()));
  }

  // Heads that contradict themselves under a right checksum: nothing is made of their sizes.
  void forgedHeadsAreRefused() {
    const TextFileHead head = pagesHead(numberedText(7, 70));
    const auto payload = payloadOf(head);
    QVERIFY(write("e", head, payload));
    const std::string whole = bytesOf(path("e"));
    std::uint64_t random = 1;
    int refused = 0;
    for (int i = 0; i < 20000; ++i) {
      std::string forged = whole;
      const int changes = 1 + static_cast<int>((random = mixed(random)) % 3);
      for (int change = 0; change < changes; ++change) {
        const std::size_t at = kArithmeticAt + (random = mixed(random)) % ((kHashAt - kArithmeticAt) / 4) * 4;
        constexpr std::uint32_t kExtremes[] = {0, 1, 2, 63, 65, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 20};
        const std::uint32_t value = kExtremes[(random = mixed(random)) % std::size(kExtremes)];
        std::memcpy(forged.data() + at, &value, sizeof value);
      }
      if (std::uint64_t end = 0; std::memcpy(&end, forged.data() + 112, 8), end < 1000) reseal(forged);
      writeBytes(path("e"), forged);
      refused += !reason(path("e"), head.key, payload).empty();
    }
    qInfo("%d of 20000 refused", refused);
    QVERIFY(refused > 16000);  // the others change only whose text it is, or write what was there
  }

  void aFailedWriteLeavesNothing() {
    const TextFileHead head = pagesHead(numberedText(8, 150));
    for (int kind = 0; kind < 5; ++kind) {
      for (int after = 0; after < (kind == 1 ? 6 : 1); ++after) {
        FailingOps ops;
        ops.failing = kind;
        ops.after = after;
        const Status status = write("f", head, payloadOf(head), ops);
        QVERIFY(!status.ok());
        QCOMPARE(status.error().code, ErrorCode::kIo);
        QVERIFY(status.error().offset.value_or(0) != 0);
        QVERIFY(!std::filesystem::exists(path("f")) && !std::filesystem::exists(path("f") + kTemporaryText));
      }
    }
    int pauses = 0;
    std::vector<std::vector<std::byte>> payload = payloadOf(head);
    std::vector<std::span<const std::byte>> blocks(payload.begin(), payload.end());
    const Status stopped =
        writeTextFile(FileOps::system(), folder(), "f", head, blocks, [&] { return ++pauses < 5; });
    QCOMPARE(stopped.error().code, ErrorCode::kCancelled);
    QVERIFY(!std::filesystem::exists(path("f")) && !std::filesystem::exists(path("f") + kTemporaryText));
    QVERIFY(write("f", head, payloadOf(head)));
  }
};

QTEST_APPLESS_MAIN(TestTextFile)
#include "test_text_file.moc"
