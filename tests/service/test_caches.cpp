// The service's caches as a person sees them: the list, the proof of an entry, what is let go, the settings.
// With a tiny model and the real index.
#include <filesystem>
#include <fstream>

#include "engine/cache/text_file.h"
#include "storage/sqlite.h"
#include "storage/text_index.h"
#include "tests/service/gated_kernels.h"
#include "tests/service/listing.h"
#include "tests/service/service_fixture.h"

namespace tandem::test {
namespace {

using namespace service;
namespace fs = std::filesystem;

std::string repeated(const std::string& words, int times) {
  std::string text;
  for (int i = 0; i < times; ++i)
    text += words + " " + std::to_string(i) + ". ";
  return text;
}

// Writes a file of the cache anew, whole and with true checksums, but for one bit of its payload.
void plantWrongByte(const fs::path& path) {
  auto reader = TextFileReader::open(path.string());
  if (!reader) qFatal("%s", reader.error().message.c_str());
  const TextFileHead head = reader->head();
  std::vector<std::vector<std::byte>> blocks;
  for (int i = 0; i < head.blocks(); ++i) {
    blocks.emplace_back(head.sizeOf(i));
    if (!reader->readBlock(i, blocks.back())) qFatal("a sound file was expected");
  }
  blocks.back().back() ^= std::byte{1};
  const std::vector<std::span<const std::byte>> spans(blocks.begin(), blocks.end());
  fs::remove(path);
  const Status written = writeTextFile(FileOps::system(), path.parent_path().string(),
                                       path.filename().string(), head, spans, [] { return true; });
  if (!written) qFatal("%s", written.error().message.c_str());
}

void flipByte(const fs::path& path, std::uint64_t fromEnd) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto at = static_cast<std::streamoff>(fs::file_size(path) - fromEnd);
  file.seekg(at);
  const char byte = static_cast<char>(file.get() ^ 1);
  file.seekp(at);
  file.put(byte);
}

}  // namespace

class TestCaches : public QObject, private ServiceFixture {
  Q_OBJECT

  std::string model_;
  int folders_ = 0;

  std::string newFolder() { return folder_.filePath(QString("texts%1").arg(++folders_)).toStdString(); }
  static EngineOptions options(const std::string& folder) {
    EngineOptions options;
    options.cache.budget = std::size_t{64} << 20;
    options.disk.folder.path = folder;
    options.disk.folder.freeDisk = 0;
    options.disk.folder.openIndex = [](const std::string& path) { return storage::CacheIndex::open(path); };
    options.disk.settle = std::chrono::milliseconds(0);
    return options;
  }
  // Of a service whose worker can be held in a layer.
  static EngineOptions gatedOptions(const std::string& folder) {
    EngineOptions gated = options(folder);
    gated.kernels = &gatedKernels();
    return gated;
  }
  static void ask(EngineService& service, const std::string& text, std::int64_t conversation) {
    GenerateRequest request = chatRequest(text, 4);
    request.conversation = conversation;
    QVERIFY(answered(service, request).last<FinishedEvent>());
  }
  static std::vector<CachedText> onDisk(EngineService& service) {
    return textsIn(listed(service), CachePlace::kDisk);
  }
  static std::vector<CachedText> inMemory(EngineService& service) {
    return textsIn(listed(service), CachePlace::kMemory);
  }
  static CachedText longest(EngineService& service) {
    const CacheListing listing = listed(service);
    return *std::ranges::max_element(listing.texts, {}, &CachedText::tokens);
  }
  static fs::path fileOf(const std::string& folder, const CachedText& text) {
    return fs::path(folder) / text.key.substr(text.key.find('/') + 1);
  }
  static CachedText again(EngineService& service, const std::string& key) {
    for (const CachedText& text : listed(service).texts) {
      if (text.key == key) return text;
    }
    return {};
  }

 private slots:
  void initTestCase() {
    QVERIFY(folder_.isValid());
    model_ = write("text.gguf");
  }
  void cleanup() { gate::open(); }

  void listsBothTiers() {
    const std::string folder = newFolder();
    EngineService service(options(folder));
    QVERIFY(listed(service).texts.empty());
    load(service, model_);
    ask(service, repeated("A long text that fills more than one piece of a file", 25), 7);
    ask(service, "Short, but not too short", 8);
    QTRY_COMPARE(onDisk(service).size(), std::size_t{3});  // of the long one two
    const CacheListing listing = listed(service);
    std::uint64_t memory = 0, disk = 0;
    for (const CachedText& text : listing.texts) {
      const bool isLong = text.conversation == 7;
      QVERIFY(isLong || text.conversation == 8);
      QVERIFY(QString::fromStdString(text.words).startsWith(isLong ? "user:A long text that" : "user:Short"));
      QCOMPARE(text.fingerprint.size(), std::size_t{32});
      QCOMPARE(text.state, TextState::kUsable);
      QVERIFY(text.ageSeconds >= 0 && text.ageSeconds < 60);
      (text.place == CachePlace::kMemory ? memory : disk) += text.bytes;
    }
    QCOMPARE(memory, listing.memoryBytes);
    QCOMPARE(disk, listing.diskBytes);
    QCOMPARE(listing.memoryBudget, std::uint64_t{64} << 20);
    QCOMPARE(listing.diskBudget, std::uint64_t{4} << 30);
    QVERIFY(listing.diskEnabled && listing.diskTrouble.empty());
    // A whole text is the same one in memory and on disk.
    for (const CachedText& one : textsIn(listing, CachePlace::kMemory)) {
      const auto files = textsIn(listing, CachePlace::kDisk);
      if (one.tier == CacheTier::kPages)
        QCOMPARE(std::ranges::count(files, one.fingerprint, &CachedText::fingerprint), 1);
    }
    std::vector<std::string> tiers;
    for (const CachedText& one : textsIn(listing, CachePlace::kMemory))
      tiers.push_back(cacheTierName(one.tier));
    std::ranges::sort(tiers);
    QCOMPARE(tiers, (std::vector<std::string>{"pages", "pages", "prompt end", "prompt end"}));

    // Without a model the files are still listed, as those of one that is not open.
    EngineService other(options(folder));
    const auto files = onDisk(other);
    QCOMPARE(files.size(), std::size_t{3});
    for (const CachedText& file : files)
      QCOMPARE(file.state, TextState::kForeign);
  }

  // A folder that cannot even be looked at is told of, and ends nothing.
  void aFolderThatCannotBeReached() {
    const fs::path loop = newFolder();
    fs::create_symlink(loop.filename(), loop);  // leads to itself
    EngineService service(options(loop.string()));
    service.clearDiskCache();
    const CacheListing listing = listed(service);
    QVERIFY(listing.texts.empty());
    QVERIFY2(listing.diskTrouble.starts_with("The files cannot be listed: "), listing.diskTrouble.c_str());
    load(service, model_);
    ask(service, "A text", 1);
    QVERIFY(!inMemory(service).empty());
    QVERIFY(!listed(service).diskTrouble.empty());
  }

  // Whoever lists does not wait for the engine.
  void listsWhileTheEngineComputes() {
    EngineService service(gatedOptions(newFolder()));
    load(service, model_);
    ask(service, "Known", 1);
    gate::close();
    Answer answer;
    service.submit(chatRequest("Something else", 4), answer.sink());
    QVERIFY(gate::waitUntilHeld());
    QVERIFY(!inMemory(service).empty());
    QVERIFY(!answer.ended());
    gate::open();
    QVERIFY(answer.waitForEnd());
  }

  void everyEntryProvesItself() {
    EngineService service(options(newFolder()));
    load(service, model_);
    ask(service, repeated("Some text", 60), 1);
    QTRY_COMPARE(onDisk(service).size(), std::size_t{1});
    for (const CachedText& text : listed(service).texts) {
      Proving proving;
      service.proveText(text.key, proving.sink());
      QVERIFY(proving.waitForEnd());
      const auto proof = proving.last<TextProof>();
      QVERIFY(proof);
      QVERIFY(proof->bytes > 0);
      QCOMPARE(proof->differing, std::uint64_t{0});
      QVERIFY(proving.waitFor<ProofProgressEvent>());
      QCOMPARE(again(service, text.key).state, TextState::kProven);
      QCOMPARE(again(service, text.key).proof.bytes, proof->bytes);
    }
  }

  // An entry that has grown since is another text, which nobody has proved.
  void aProofIsOfTheTextThatItRead() {
    EngineService service(options({}));
    load(service, model_);
    GenerateRequest request;
    request.rawPrompt = repeated("Some text", 60);
    request.maxTokens = 1;
    QVERIFY(answered(service, request).last<FinishedEvent>());
    const auto entries = inMemory(service);
    const auto pages = std::ranges::find(entries, CacheTier::kPages, &CachedText::tier);
    QVERIFY(pages != entries.end());
    Proving proving;
    service.proveText(pages->key, proving.sink());
    QVERIFY(proving.waitForEnd());
    QCOMPARE(again(service, pages->key).state, TextState::kProven);
    request.rawPrompt += "!";  // within the page
    QVERIFY(answered(service, request).last<FinishedEvent>());
    const CachedText grown = again(service, pages->key);
    QVERIFY(grown.tokens > pages->tokens);
    QVERIFY(grown.fingerprint != pages->fingerprint);
    QCOMPARE(grown.state, TextState::kUsable);
  }

  // After that nothing is taken from any cache, and the next answer is that of a cold read.
  void aWrongByteOnDiskFailsItsProof() {
    const std::string folder = newFolder();
    EngineService service(options(folder));
    load(service, model_);
    GenerateRequest request = chatRequest(repeated("Some text", 60), 4);
    request.fromResponses = true;
    const std::vector<TokenId> expected = idsOf(answered(service, request));
    QVERIFY(answered(service, request).last<FinishedEvent>()->stats.fromResponse);
    QTRY_COMPARE(onDisk(service).size(), std::size_t{1});
    const CachedText text = onDisk(service)[0];
    plantWrongByte(fileOf(folder, text));
    Proving proving;
    service.proveText(text.key, proving.sink());
    QVERIFY(proving.waitForEnd());
    const auto proof = proving.last<TextProof>();
    QVERIFY(proof);
    QCOMPARE(proof->differing, std::uint64_t{1});
    QCOMPARE(again(service, text.key).state, TextState::kProofFailed);
    QCOMPARE(again(service, text.key).proof.differing, std::uint64_t{1});
    QCOMPARE(listed(service).texts.size(), std::size_t{1});
    QTRY_VERIFY(!fs::exists(fileOf(folder, text)));
    const Answer cold = answered(service, request);
    QCOMPARE(cold.last<FinishedEvent>()->stats.cachedTokens, 0);
    QCOMPARE(idsOf(cold), expected);
    QCOMPARE(again(service, text.key).state, TextState::kProofFailed);
    service.dropText(text.key);
    QCOMPARE(again(service, text.key).key, std::string());
  }

  void aDamagedFileIsListedWithItsReason() {
    const std::string folder = newFolder();
    EngineService service(options(folder));
    load(service, model_);
    ask(service, repeated("Some text", 60), 1);
    QTRY_COMPARE(onDisk(service).size(), std::size_t{1});
    const CachedText text = onDisk(service)[0];
    flipByte(fileOf(folder, text), 100);
    Proving proving;
    service.proveText(text.key, proving.sink());
    QVERIFY(proving.waitForEnd());
    QCOMPARE(proving.last<Error>()->code, ErrorCode::kCorruptFile);
    const CacheListing listing = listed(service);
    QVERIFY(textsIn(listing, CachePlace::kDisk).empty());
    const auto damaged = std::ranges::find(listing.texts, TextState::kUnusable, &CachedText::state);
    QVERIFY(damaged != listing.texts.end());
    QCOMPARE(damaged->reason, std::string("its contents are damaged"));
    QCOMPARE(damaged->bytes, text.bytes);
    QTRY_VERIFY(!fs::exists(fileOf(folder, text)));
  }

  void dropsAndClears() {
    const std::string folder = newFolder();
    EngineService service(options(folder));
    load(service, model_);
    for (int i = 1; i <= 3; ++i)
      ask(service, repeated("Text number " + std::to_string(i), 10), i);
    QTRY_COMPARE(onDisk(service).size(), std::size_t{3});
    const CachedText file = onDisk(service)[0];
    service.dropText(file.key);
    QCOMPARE(onDisk(service).size(), std::size_t{2});  // at once
    QTRY_VERIFY(!fs::exists(fileOf(folder, file)));
    const std::size_t held = inMemory(service).size();
    const std::string key = inMemory(service)[0].key;
    service.dropText(key);
    QVERIFY(inMemory(service).size() < held);
    QCOMPARE(again(service, key).key, std::string());
    Proving gone;
    service.proveText(key, gone.sink());
    QVERIFY(gone.waitForEnd());
    QCOMPARE(gone.last<Error>()->code, ErrorCode::kNotFound);

    service.clearDiskCache();
    QVERIFY(onDisk(service).empty());
    const auto files = [&] {
      return std::ranges::count_if(fs::directory_iterator(folder),
                                   [](const auto& entry) { return entry.path().extension() == ".text"; });
    };
    QTRY_COMPARE(files(), 0);
    QCOMPARE(listed(service).diskBytes, std::uint64_t{0});
    ask(service, repeated("Text after that", 10), 4);
    QTRY_COMPARE(onDisk(service).size(), std::size_t{1});
    // Without a model too.
    EngineService other(options(folder));
    other.clearDiskCache();
    QVERIFY(onDisk(other).empty());
    QCOMPARE(files(), 0);
  }

  // A proof of a file that another program removed ends as one of an entry that was dropped.
  void provesNothingThatAnotherProgramRemoved() {
    const std::string folder = newFolder();
    EngineService service(options(folder));
    load(service, model_);
    ask(service, repeated("Some text", 10), 1);
    QTRY_COMPARE(onDisk(service).size(), std::size_t{1});
    const CachedText file = onDisk(service)[0];
    fs::remove(fileOf(folder, file));
    Proving proving;
    service.proveText(file.key, proving.sink());
    QVERIFY(proving.waitForEnd());
    QCOMPARE(proving.last<Error>()->code, ErrorCode::kNotFound);
    QCOMPARE(proving.last<Error>()->message, std::string("This entry is no longer in the cache."));
    QCOMPARE(again(service, file.key).key, std::string());
    QVERIFY(std::ranges::none_of(listed(service).texts,
                                 [](const auto& text) { return text.state == TextState::kUnusable; }));
  }

  // What is removed while the disk is off does not come back with it.
  void removesWhileTheDiskIsOff() {
    EngineService service(options(newFolder()));
    load(service, model_);
    for (int i = 1; i <= 3; ++i)
      ask(service, repeated("Text number " + std::to_string(i), 10), i);
    QTRY_COMPARE(onDisk(service).size(), std::size_t{3});
    CacheSettings settings;
    for (const std::size_t left : {2, 0}) {
      settings.disk = false;
      service.setCaches(settings);
      left > 0 ? service.dropText(onDisk(service)[0].key) : service.clearDiskCache();
      QCOMPARE(onDisk(service).size(), left);
      settings.disk = true;
      service.setCaches(settings);
      QCOMPARE(onDisk(service).size(), left);
    }
  }

  // What could not be removed is told until it can be.
  void whatCannotBeRemovedIsTold() {
    const std::string folder = newFolder();
    {
      EngineService service(options(folder));
      load(service, model_);
      ask(service, repeated("A text", 10), 1);
      QTRY_COMPARE(onDisk(service).size(), std::size_t{1});
    }
    EngineService service(options(folder));  // without a model
    const auto other = storage::Database::open(folder + "/index.db", SQLITE_OPEN_READWRITE, {});
    QVERIFY(other.ok() && (*other)->exec("BEGIN IMMEDIATE").ok());
    service.clearDiskCache();
    for (int times = 0; times < 2; ++times) {
      const CacheListing listing = listed(service);
      QCOMPARE(textsIn(listing, CachePlace::kDisk).size(), std::size_t{1});
      QVERIFY2(listing.diskTrouble.starts_with("The files cannot be removed: "), listing.diskTrouble.c_str());
    }
    QVERIFY((*other)->exec("ROLLBACK").ok());
    service.clearDiskCache();
    const CacheListing listing = listed(service);
    QVERIFY(textsIn(listing, CachePlace::kDisk).empty());
    QCOMPARE(listing.diskTrouble, std::string());
  }

  // A request that comes while an entry is proved is answered first, with the same text; the proof goes on.
  void aRequestGoesBeforeAProof() {
    EngineService service(gatedOptions(newFolder()));
    load(service, model_);
    const std::vector<TokenId> expected = idsOf(answered(service, chatRequest("Quick", 8)));
    ask(service, repeated("A long text", 40), 1);
    const CachedText text = longest(service);
    QVERIFY(text.tokens > 500);
    GenerateRequest request = chatRequest("Quick", 8);
    request.cached = false;
    gate::close();
    Proving proving;
    service.proveText(text.key, proving.sink());
    QVERIFY(gate::waitUntilHeld());  // in its first chunk
    std::atomic<bool> proofWasOver = true;
    Answer answer;
    service.submit(request, [&, sink = answer.sink()](GenerationEvent event) {
      if (std::holds_alternative<FinishedEvent>(event)) proofWasOver = proving.ended();
      sink(std::move(event));
    });
    gate::open();
    QVERIFY(answer.waitForEnd());
    QVERIFY(!proofWasOver);
    QCOMPARE(idsOf(answer), expected);
    QVERIFY(proving.waitForEnd());
    QCOMPARE(proving.last<TextProof>()->differing, std::uint64_t{0});
    // No chunk is longer than a prompt's beside answers.
    int before = 0;
    for (const ProofEvent& event : proving.events()) {
      const auto* progress = std::get_if<ProofProgressEvent>(&event);
      if (progress == nullptr) continue;
      if (before == 0) QCOMPARE(progress->done, 32);
      before = progress->done;
    }
    QCOMPARE(before, text.tokens);
  }

  void aProofIsStopped() {
    EngineService service(gatedOptions(newFolder()));
    load(service, model_);
    ask(service, repeated("A long text", 40), 1);
    const std::string key = longest(service).key;
    gate::close();
    Proving running, waiting;
    const auto first = service.proveText(key, running.sink());
    const auto second = service.proveText(key, waiting.sink());
    QVERIFY(gate::waitUntilHeld());
    second->cancel();  // ends where it waits, whatever the worker does
    QVERIFY(waiting.waitForEnd());
    QCOMPARE(waiting.last<Error>()->code, ErrorCode::kCancelled);
    first->cancel();
    gate::open();
    QVERIFY(running.waitForEnd());
    QCOMPARE(running.last<Error>()->code, ErrorCode::kCancelled);
    QCOMPARE(running.lateEvents() + waiting.lateEvents(), 0);
    QCOMPARE(again(service, key).state, TextState::kUsable);

    // And by a model that is opened meanwhile.
    gate::close();
    Proving outdated;
    service.proveText(key, outdated.sink());
    QVERIFY(gate::waitUntilHeld());
    Loading loading;
    service.loadModel(model_, {.threads = 1}, loading.sink());
    gate::open();
    QVERIFY(loading.waitForEnd() && outdated.waitForEnd());
    QCOMPARE(outdated.last<Error>()->code, ErrorCode::kCancelled);
    QVERIFY(inMemory(service).empty());
  }

  void theServiceEndsWithItsProofs() {
    Proving running, waiting;
    {
      EngineService service(options(newFolder()));
      load(service, model_);
      ask(service, repeated("A long text", 40), 1);
      const std::string key = listed(service).texts[0].key;
      for (Proving* proving : {&running, &waiting})
        service.proveText(key, proving->sink());
    }
    for (Proving* proving : {&running, &waiting}) {
      QVERIFY(proving->ended());
      QCOMPARE(proving->lateEvents(), 0);
    }
  }

  void settingsCountAtOnce() {
    const std::string folder = newFolder();
    EngineService service(options(folder));
    CacheSettings settings{.memoryBudget = std::size_t{32} << 20};
    service.setCaches(settings);  // before there is a model
    load(service, model_);
    QCOMPARE(listed(service).memoryBudget, std::uint64_t{32} << 20);
    for (int i = 1; i <= 3; ++i)
      ask(service, repeated("Text number " + std::to_string(i), 10), i);
    QTRY_COMPARE(onDisk(service).size(), std::size_t{3});

    const CacheListing before = listed(service);
    settings.memoryBudget = before.memoryBytes - 1;
    settings.diskBudget = before.diskBytes - 1;
    service.setCaches(settings);
    QTRY_COMPARE(onDisk(service).size(), std::size_t{2});
    QVERIFY(listed(service).memoryBytes < before.memoryBytes);
    QVERIFY(!inMemory(service).empty());

    settings.disk = false;
    service.setCaches(settings);
    QVERIFY(!listed(service).diskEnabled);
    QCOMPARE(onDisk(service).size(), std::size_t{2});  // what is there stays, and can be seen
    ask(service, repeated("Text that is not written", 10), 9);
    {
      EngineService other(options(folder));  // of another program: it writes to the same folder
      load(other, model_);
      ask(other, repeated("Text of another program", 10), 5);
      QTRY_VERIFY(
          std::ranges::any_of(onDisk(other), [](const auto& text) { return text.conversation == 5; }));
    }
    QVERIFY(std::ranges::none_of(onDisk(service), [](const auto& text) { return text.conversation == 9; }));
    settings.disk = true;
    settings.diskBudget = std::uint64_t{1} << 30;
    service.setCaches(settings);
    QTRY_VERIFY(
        std::ranges::any_of(onDisk(service), [](const auto& text) { return text.conversation == 5; }));
    ask(service, repeated("Text that is written", 10), 10);
    QTRY_VERIFY(
        std::ranges::any_of(onDisk(service), [](const auto& text) { return text.conversation == 10; }));

    settings.memoryBudget = kAutomaticBudget;
    service.setCaches(settings);
    const std::uint64_t automatic = listed(service).memoryBudget;
    QVERIFY(automatic > 0 && automatic <= std::uint64_t{1} << 30);
  }
};

}  // namespace tandem::test

QTEST_GUILESS_MAIN(tandem::test::TestCaches)
#include "test_caches.moc"
