// Interleaved weights that are kept on disk: what comes back is what packing gives, and whatever happens to
// the folder, a model loads and computes the same.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <future>

#include "engine/model/model.h"
#include "engine/model/weight_file.h"
#include "tests/gguf/model_copy.h"
#include "tests/gguf/tiny_models.h"
#include "tests/kernels/random_weights.h"

using namespace tandem;
using namespace tandem::test;
namespace fs = std::filesystem;

namespace {

struct Format {
  WeightFormat format;
  gguf::TensorType type;
};
constexpr Format kFormats[] = {
    {WeightFormat::kF32, gguf::TensorType::kF32},       {WeightFormat::kF16, gguf::TensorType::kF16},
    {WeightFormat::kBF16, gguf::TensorType::kBF16},     {WeightFormat::kQ4_0, gguf::TensorType::kQ4_0},
    {WeightFormat::kQ4_1, gguf::TensorType::kQ4_1},     {WeightFormat::kQ5_0, gguf::TensorType::kQ5_0},
    {WeightFormat::kQ5_1, gguf::TensorType::kQ5_1},     {WeightFormat::kQ8_0, gguf::TensorType::kQ8_0},
    {WeightFormat::kQ2_K, gguf::TensorType::kQ2_K},     {WeightFormat::kQ3_K, gguf::TensorType::kQ3_K},
    {WeightFormat::kQ4_K, gguf::TensorType::kQ4_K},     {WeightFormat::kQ5_K, gguf::TensorType::kQ5_K},
    {WeightFormat::kQ6_K, gguf::TensorType::kQ6_K},     {WeightFormat::kIQ4_NL, gguf::TensorType::kIQ4_NL},
    {WeightFormat::kIQ4_XS, gguf::TensorType::kIQ4_XS}, {WeightFormat::kMXFP4, gguf::TensorType::kMXFP4},
    {WeightFormat::kNVFP4, gguf::TensorType::kNVFP4}};
static_assert(std::size(kFormats) == kernels::kWeightFormatCount);

std::string bytesOf(const kernels::PackedMatrix& matrix) {
  return {reinterpret_cast<const char*>(matrix.group(0)), matrix.bytes()};
}

// The packed bytes of all matrices of a dense model.
std::string bytesOf(const Model& model) {
  std::string bytes = bytesOf(model.weights().head);
  for (const LayerWeights& layer : model.weights().layers) {
    for (const Linear* linear :
         {&layer.q, &layer.k, &layer.v, &layer.attentionOut, &layer.gate, &layer.up, &layer.down})
      bytes += bytesOf(linear->weight);
  }
  return bytes;
}

// A process of its own; what `body` returns is its exit status. Negative: the signal that ended it.
template <class Body>
int inChild(Body&& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

class TestWeightCache : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> dir_;
  fs::path root() const { return dir_->path().toStdString(); }
  std::string model() const { return root() / "model.gguf"; }
  fs::path folder() const { return root() / "cache" / "weights"; }

  WeightCacheOptions cache() const { return {.folder = folder(), .freeDisk = 0, .leastBytes = 0}; }

  std::shared_ptr<const Model> load(const WeightCacheOptions& options, const std::string& path) const {
    auto loaded = Model::load(path, {.loadThreads = 2, .weightCache = options});
    if (!loaded.ok()) qFatal("%s", loaded.error().describe().c_str());
    return *loaded;
  }
  std::shared_ptr<const Model> load(const WeightCacheOptions& options) const {
    return load(options, model());
  }
  std::string fresh() const { return bytesOf(*load({})); }

  std::vector<fs::path> files(const std::string& suffix) const {
    std::vector<fs::path> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder(), error))
      if (entry.path().string().ends_with(suffix)) found.push_back(entry.path());
    return found;
  }
  fs::path kept() const {
    const auto found = files(".weights");
    if (found.size() != 1) qFatal("%zu files of weights", found.size());
    return found.front();
  }

  void setMatrix(const Format& format, std::uint32_t seed) const {
    auto copy = ModelCopy::of(root() / "tiny.gguf");
    QVERIFY(copy.ok());
    copy->setType("blk.0.attn_q.weight", format.type);
    copy->setData("blk.0.attn_q.weight", randomBlocks(format.format, 256, 256, seed));
    copy->setType("blk.2.ffn_gate.weight", format.type);
    copy->setData("blk.2.ffn_gate.weight", randomBlocks(format.format, 384, 256, seed + 1));
    const Status written = copy->write(model());
    QVERIFY2(written.ok(), written.ok() ? "" : written.error().describe().c_str());
  }

  // After `damage` to the kept file it is not used but rebuilt, and the weights are right all the time.
  template <class Damage>
  void expectRebuilt(const char* what, Damage&& damage) {
    damage(kept());
    const auto rebuilt = load(cache());
    QVERIFY2(!rebuilt->weightsWereKept(), what);
    QVERIFY2(bytesOf(*rebuilt) == fresh(), what);
    QVERIFY2(load(cache())->weightsWereKept(), what);
  }

  static void flip(const fs::path& path, std::uint64_t offset) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const int byte = file.get();
    QVERIFY(byte >= 0);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(static_cast<char>(byte ^ 0x10));
  }

  // Some other model's key, of weights that take `bytes`.
  static WeightKey keyOf(char digit, std::uint64_t bytes) {
    return {std::string(32, digit), {bytes, {static_cast<std::uint64_t>(digit), 1}}};
  }
  // Keeps weights under the key, last used `age` seconds ago.
  static void keep(const WeightCache& in, const fs::path& where, const WeightKey& key, int age) {
    ThreadPool pool(1);
    const auto file = in.create(key);
    QVERIFY(file != nullptr);
    file->keep({}, pool);
    const fs::path path = where / key.fileName();
    fs::last_write_time(path, fs::last_write_time(path) - std::chrono::seconds(age));
  }

 private slots:
  void init() {
    dir_ = std::make_unique<QTemporaryDir>();
    fs::permissions(root(), fs::perms::all);
    QVERIFY(
        writeTinyModel(std::string(TANDEM_TEST_DATA) + "/tiny-models/llama.json", root() / "tiny.gguf").ok());
    setMatrix(kFormats[4], 7);
  }

  // Packed bytes are kept on disk under kPackingVersion. Where this fails the layout has changed: raise the
  // version and put the new hash here.
  void thePackingVersionStandsForTheseBytes() {
    static_assert(kernels::kPackingVersion == 1, "a new version has a new hash below");
    XXH64_hash_t hash = 0;
    for (const Format& format : kFormats) {
      const auto matrix = packed(format.format, 13, 512, randomBlocks(format.format, 13, 512, 5));
      hash = XXH3_64bits_withSeed(matrix.group(0), matrix.bytes(), hash);
    }
    QCOMPARE(hash, XXH64_hash_t{0xB79F3D65D29A74B6U});
  }

  void everyFormatComesBackByteForByte() {
    for (const Format& format : kFormats) {
      setMatrix(format, 11);
      const auto first = load(cache());
      const auto second = load(cache());
      QVERIFY(!first->weightsWereKept());
      QVERIFY(second->weightsWereKept());
      QVERIFY(first->weights().layers[0].q.weight.format() == format.format);
      const std::string expected = fresh();
      QVERIFY(bytesOf(*first) == expected);
      QVERIFY(bytesOf(*second) == expected);
      QVERIFY(first->fingerprint() == second->fingerprint());
    }
    QCOMPARE(files(".weights").size(), std::size(kFormats));
  }

  void hybridsAndMixturesComeBack() {
    for (const char* name : {"qwen35moe", "qwen35-nextn", "gemma3"}) {
      const std::string path = root() / name;
      QVERIFY(writeTinyModel(std::string(TANDEM_TEST_DATA) + "/tiny-models/" + name + ".json", path).ok());
      const auto plain = load({}, path), first = load(cache(), path), second = load(cache(), path);
      QVERIFY(second->weightsWereKept());
      QCOMPARE(second->weights().bytes, plain->weights().bytes);
      QVERIFY(bytesOf(first->weights().head) == bytesOf(second->weights().head));
      const auto& mixture = plain->weights().layers.back().mixture;
      for (std::size_t e = 0; e < mixture.up.size(); ++e) {
        QVERIFY(bytesOf(mixture.up[e]) == bytesOf(second->weights().layers.back().mixture.up[e]));
        QVERIFY(bytesOf(mixture.up[e]) == bytesOf(first->weights().layers.back().mixture.up[e]));
      }
    }
  }

  void mappedWeightsOutliveTheFolder() {
    load(cache());
    const auto second = load(cache());
    fs::remove_all(folder());
    QVERIFY(bytesOf(*second) == fresh());
    const kernels::PackedMatrix copy = second->weights().head;
    QVERIFY(bytesOf(copy) == bytesOf(load({})->weights().head));
  }

  void damagedFilesAreRebuilt() {
    load(cache());
    const std::uint64_t size = fs::file_size(kept());
    const std::uint64_t data = weight_file::dataOffset(load(cache())->weights().bytes);
    for (const std::uint64_t length : {size - 1, data, data - 1, std::uint64_t{60}, std::uint64_t{0}})
      expectRebuilt("short", [&](const fs::path& path) { fs::resize_file(path, length); });
    expectRebuilt("long", [&](const fs::path& path) { fs::resize_file(path, size + 1); });
    for (std::uint64_t i = 0; i < offsetof(weight_file::Header, source); i += 3)
      expectRebuilt("header", [&](const fs::path& path) { flip(path, i); });
    expectRebuilt("table", [](const fs::path& path) { flip(path, sizeof(weight_file::Header)); });
    for (const std::uint64_t i : {data, (data + size) / 2, size - 1})
      expectRebuilt("data", [&](const fs::path& path) { flip(path, i); });
    expectRebuilt("a link in its place", [](const fs::path& path) {
      fs::remove(path);
      fs::create_symlink("/dev/zero", path);
    });
  }

  void otherVersionsAndModelsAreNotUsed() {
    load(cache());
    const auto sealAgain = [](const fs::path& path, auto edit) {
      weight_file::Header header;
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.read(reinterpret_cast<char*>(&header), sizeof header);
      edit(header);
      header.hash = XXH3_64bits(&header, offsetof(weight_file::Header, hash));
      QVERIFY(header.formatVersion != 1 || weight_file::isWhole(header));
      file.seekp(0);
      file.write(reinterpret_cast<const char*>(&header), sizeof header);
    };
    const auto edited = [&](const char* what, auto edit) {
      expectRebuilt(what, [&](const fs::path& path) { sealAgain(path, edit); });
    };
    edited("packing", [](weight_file::Header& h) { ++h.packingVersion; });
    edited("format", [](weight_file::Header& h) { ++h.formatVersion; });
    edited("layout", [](weight_file::Header& h) { ++h.layout[1]; });
    edited("fingerprint",
           [](weight_file::Header& h) { h.fingerprint[0] = h.fingerprint[0] == '0' ? '1' : '0'; });
  }

  void aModelFileIsKnownUntilItChanges() {
    const auto identity = [this] { return (*gguf::File::open(model()))->identity(); };
    const WeightCache known(cache());
    // Changed just now, by the file's times: a further change might go unseen.
    const timespec soon[2] = {{0, UTIME_OMIT}, {::time(nullptr) + 3600, 0}};
    const timespec past[2] = {{0, UTIME_OMIT}, {::time(nullptr) - 3600, 0}};
    QVERIFY(::utimensat(AT_FDCWD, model().c_str(), soon, 0) == 0);
    const std::string fingerprint = load(cache())->fingerprint();
    QVERIFY(!known.fingerprintOf(identity()));
    QVERIFY(::utimensat(AT_FDCWD, model().c_str(), past, 0) == 0);
    QTest::qWait(2100);
    load(cache());
    QCOMPARE(known.fingerprintOf(identity()), std::optional(fingerprint));
    QVERIFY(load(cache())->weightsWereKept());

    // The same size and time of modification do not make another file known.
    struct stat before = {};
    QVERIFY(::stat(model().c_str(), &before) == 0);
    flip(model(), static_cast<std::uint64_t>(before.st_size) - 1000);
    const timespec times[2] = {before.st_atim, before.st_mtim};
    QVERIFY(::utimensat(AT_FDCWD, model().c_str(), times, 0) == 0);
    QVERIFY(!known.fingerprintOf(identity()));
    const auto changed = load(cache());
    QVERIFY(!changed->weightsWereKept());
    QVERIFY(changed->fingerprint() != fingerprint);
    QVERIFY(bytesOf(*changed) == fresh());
  }

  // A header whose note of the model file is torn is good for the weights, not for the fingerprint.
  void aTornNoteOfTheModelFileIsNotBelieved() {
    QTest::qWait(2100);
    load(cache());
    const WeightCache known(cache());
    const auto identity = (*gguf::File::open(model()))->identity();
    QVERIFY(known.fingerprintOf(identity));
    flip(kept(), offsetof(weight_file::Header, source.hash));
    QVERIFY(!known.fingerprintOf(identity));
    QVERIFY(load(cache())->weightsWereKept());
    QVERIFY(known.fingerprintOf(identity));
  }

  void theOldestUsedGoWhenTheBudgetIsSpent() {
    const std::uint64_t bytes = 100'000, file = weight_file::dataOffset(bytes) + bytes;
    WeightCacheOptions options = cache();
    options.budget = 3 * file;
    const WeightCache limited(options);
    fs::create_directories(folder());
    const std::string alien = std::string(32, 'g') + '-' + std::string(32, '0') + ".weights";
    for (const std::string& name : {std::string("notes.txt"), std::string("old.weights"), alien})
      std::ofstream(folder() / name) << std::string(300'000, 'x');
    keep(limited, folder(), keyOf('a', bytes), 100);
    keep(limited, folder(), keyOf('b', bytes), 300);
    keep(limited, folder(), keyOf('c', bytes), 200);
    // Using a file makes it the newest.
    ThreadPool pool(1);
    QVERIFY(limited.find(keyOf('b', bytes), {}, pool) != nullptr);
    keep(limited, folder(), keyOf('d', bytes), 0);
    QVERIFY(!fs::exists(folder() / keyOf('c', bytes).fileName()));
    for (const char digit : {'a', 'b', 'd'})
      QVERIFY(limited.find(keyOf(digit, bytes), {}, pool) != nullptr);
    // What is larger than the budget is not kept, and nothing goes for it.
    QVERIFY(limited.create(keyOf('e', 4 * bytes)) == nullptr);
    QVERIFY(fs::exists(folder() / keyOf('a', bytes).fileName()));
    for (const std::string& name : {std::string("notes.txt"), std::string("old.weights"), alien})
      QCOMPARE(fs::file_size(folder() / name), std::uintmax_t{300'000});
  }

  void smallModelsAreNotKept() {
    WeightCacheOptions options = cache();
    options.leastBytes = 64 << 20;
    load(options);
    QVERIFY(!load(options)->weightsWereKept());
    QVERIFY(!fs::exists(folder()));
  }

  void foldersAreMadeForTheirOwner() {
    load(cache());
    QVERIFY(fs::status(folder()).permissions() == fs::perms::owner_all);
    QVERIFY(fs::status(folder().parent_path()).permissions() == fs::perms::owner_all);
  }

  void aFolderThatCannotBeWrittenDoesNoHarm() {
    const std::string expected = fresh();
    WeightCacheOptions options = cache();
    for (const char* impossible : {"/proc/tandem/weights", "/dev/null/weights"}) {
      options.folder = impossible;
      load(options);
      const auto second = load(options);
      QVERIFY(!second->weightsWereKept());
      QVERIFY(bytesOf(*second) == expected);
    }
    options = cache();
    options.freeDisk = ~std::uint64_t{0} / 2;
    load(options);
    QVERIFY(!load(options)->weightsWereKept());
  }

  // Files may not grow beyond a few pages here, as on a disk that is full.
  void aFullDiskIsFoundOutBeforeItIsWrittenTo() {
    const std::string expected = fresh();
    QCOMPARE(inChild([&] {
               ::signal(SIGXFSZ, SIG_IGN);
               const rlimit limit = {32768, 32768};
               ::setrlimit(RLIMIT_FSIZE, &limit);
               return bytesOf(*load(cache())) == expected ? 7 : 1;
             }),
             7);
    QVERIFY(files("").empty());
  }

  void aReadOnlyFolderIsReadFrom() {
    const std::string expected = fresh();
    load(cache());
    fs::permissions(folder().parent_path(), static_cast<fs::perms>(0755));
    fs::permissions(folder(), static_cast<fs::perms>(0555));
    fs::permissions(kept(), static_cast<fs::perms>(0444));
    const int status = inChild([&] {
      if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return 2;
      if (::access(folder().c_str(), W_OK) == 0) return 3;
      const auto loaded = load(cache());
      return loaded->weightsWereKept() && bytesOf(*loaded) == expected ? 7 : 1;
    });
    fs::permissions(folder(), fs::perms::owner_all);
    QCOMPARE(status, 7);
  }

  void loadsAtTheSameTimeAllWork() {
    const std::string expected = fresh();
    for (int round = 0; round < 4; ++round) {
      fs::remove_all(folder());
      std::vector<pid_t> children;
      for (int i = 0; i < 4; ++i) {
        const pid_t child = ::fork();
        if (child == 0) ::_exit(bytesOf(*load(cache())) == expected ? 7 : 1);
        children.push_back(child);
      }
      for (const pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        QVERIFY(WIFEXITED(status) && WEXITSTATUS(status) == 7);
      }
      std::vector<std::future<std::string>> loads;
      for (int i = 0; i < 3; ++i)
        loads.push_back(std::async(std::launch::async, [this] { return bytesOf(*load(cache())); }));
      for (auto& loaded : loads)
        QVERIFY(loaded.get() == expected);
      QVERIFY(load(cache())->weightsWereKept());
      QCOMPARE(files("").size(), std::size_t{1});
    }
  }

  void whatAKilledProgramLeftIsClearedAway() {
    const auto killedWhileWriting = [&] {
      const auto file = WeightCache(cache()).create(keyOf('a', 50'000));
      std::memset(file->data().get(), 1, 50'000);
      return ::raise(SIGKILL);
    };
    QCOMPARE(inChild(killedWhileWriting), -SIGKILL);
    QCOMPARE(files(".partial").size(), std::size_t{1});
    QVERIFY(files(".weights").empty());

    load(cache());
    QVERIFY(files(".partial").empty());
    QVERIFY(load(cache())->weightsWereKept());
  }

  void whatIsBeingWrittenIsLeftAlone() {
    const WeightCache shared(cache());
    ThreadPool pool(1);
    const auto mine = shared.create(keyOf('a', 50'000));
    QVERIFY(mine != nullptr);
    std::memset(mine->data().get(), 3, 50'000);
    load(cache());
    QCOMPARE(files(".partial").size(), std::size_t{1});
    mine->keep({}, pool);
    const auto found = shared.find(keyOf('a', 50'000), {}, pool);
    QVERIFY(found != nullptr);
    QVERIFY(std::all_of(found.get(), found.get() + 50'000, [](std::uint8_t byte) { return byte == 3; }));
  }

  // A load that fails leaves nothing.
  void aBadModelIsNotKept() {
    auto copy = ModelCopy::of(model());
    std::vector<float> norm(256, std::numeric_limits<float>::infinity());
    const auto bytes = std::as_bytes(std::span<const float>(norm));
    copy->setData("blk.2.ffn_norm.weight", {bytes.begin(), bytes.end()});
    QVERIFY(copy->write(root() / "bad.gguf").ok());
    QVERIFY(!Model::load(root() / "bad.gguf", {.weightCache = cache()}).ok());
    QVERIFY(fs::exists(folder()));
    QVERIFY(files("").empty());
  }
};

QTEST_GUILESS_MAIN(TestWeightCache)
#include "test_weight_cache.moc"
