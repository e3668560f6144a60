// tandem-cli disk-restore-check: what one process leaves on disk, another one goes on from, bit for bit.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "app/cli/commands.h"
#include "app/cli/engine_choice.h"
#include "app/cli/interrupt.h"
#include "engine/base/stopwatch.h"
#include "engine/base/temporary_folder.h"
#include "engine/verify/text_proof.h"
#include "engine/verify/token_stream.h"

extern char** environ;

namespace tandem::cli {
namespace {

using nlohmann::json;

constexpr Usage kUsage = {
    "disk-restore-check", "-m MODEL --tokens N [options]",
    "One process reads a text and keeps it on disk. A second one reads it cold, which must equal the first "
    "bit\n"
    "for bit; then it takes the first one's files, which must equal both; then 48 greedy tokens must be the\n"
    "same. Ends with 1 when anything differs."};

constexpr int kGreedy = 48;

struct CheckOptions {
  CommonOptions common;
  EngineChoice engine;
  int tokens = 2000;
  std::string first;  // a folder: do what the first process does, and leave it there

  OptionTable table() {
    OptionTable table = {
        {"--tokens", 'n', "N", "tokens of the text (2000)", wholeNumber(tokens, 32, 1 << 20)},
        {"--first", 0, "FOLDER", "be the first process: read, and keep the text in this folder",
         text(first)}};
    append(table, engineTable(engine));
    return table;
  }
};

// Of all that is remembered of a text and the logits after it.
std::string digestOf(const ColdRead& read) {
  std::vector<std::byte> all;
  const auto append = [&all](std::span<const std::byte> bytes) {
    all.insert(all.end(), bytes.begin(), bytes.end());
    const Hash128 hash = hashOf(all.data(), all.size());
    all.resize(sizeof hash);
    std::memcpy(all.data(), hash.data(), sizeof hash);
  };
  const KvSequence& kv = read.sequence.kv;
  for (int position = 0; position < kv.length(); position += kernels::kTile)
    append(packedPage(kv.layout(), kv.pages()[position / kernels::kTile].get(),
                      std::min(kernels::kTile, kv.length() - position)));
  append(read.sequence.recurrent.bytes());
  append(std::as_bytes(std::span(read.sequence.hidden)));
  append(std::as_bytes(std::span(read.logits)));
  std::string hex;
  for (const std::byte byte : all) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(byte));
    hex += digits;
  }
  return hex;
}

std::vector<TokenId> textFor(const Decoder& decoder, int tokens) {
  TokenStream random(decoder.model().config().vocabulary, 20);
  std::vector<TokenId> text(static_cast<std::size_t>(tokens));
  std::ranges::generate(text, [&] { return random.next(); });
  return text;
}

GenerationOutcome answer(service::LoadedEngine& engine, const std::vector<TokenId>& text, bool cached,
                         const std::atomic<bool>* cancel) {
  Generation request;
  request.prompt = text;
  request.maxTokens = kGreedy;
  request.contextLength = static_cast<int>(text.size()) + kGreedy + 1;
  request.endAtEndTokens = false;
  request.speculation = SpeculationOptions::off();
  request.cache = cached ? engine.cache().get() : nullptr;
  return engine.generator().run(request, {}, cancel);
}

Result<std::unique_ptr<service::LoadedEngine>> load(CheckOptions& options, const std::string& folder) {
  options.engine.engine.cache.budget = std::size_t{1} << 40;
  Places places;
  places.cache = folder;
  DiskCacheOptions& disk = options.engine.engine.disk;
  disk.folder.freeDisk = 0;
  disk.closeTime = std::chrono::minutes(10);
  disk = diskCache(places, disk);
  return loadEngine(options.common, options.engine);
}

Result<int> first(CheckOptions& options, const std::atomic<bool>* cancel) {
  auto engine = load(options, options.first);
  if (!engine) return engine.error();
  const std::vector<TokenId> text = textFor((*engine)->decoder(), options.tokens);
  const auto cold = readCold((*engine)->decoder(), text, cancel);
  if (!cold) return cold.error();
  const GenerationOutcome outcome = answer(**engine, text, true, cancel);
  if (!outcome.status) return outcome.status.error();
  engine->reset();  // writes
  std::ofstream(options.first + "/first.json")
      << json{{"digest", digestOf(*cold)}, {"tokens", outcome.tokens}};
  return kDone;
}

// What the comparison found.
struct Found {
  bool coldEqual = false, restoredEqual = false, tokensEqual = false;
  int restored = 0;
  double coldMs = 0, restoreMs = 0;
  std::uint64_t bytes = 0;
  bool all() const { return coldEqual && restoredEqual && tokensEqual && restored > 0; }
};

Result<Found> second(CheckOptions& options, const std::string& folder, const std::atomic<bool>* cancel) {
  json earlier;
  std::ifstream(folder + "/first.json") >> earlier;
  auto engine = load(options, folder);
  if (!engine) return engine.error();
  const std::vector<TokenId> text = textFor((*engine)->decoder(), options.tokens);
  Found found;
  Stopwatch watch;
  const auto cold = readCold((*engine)->decoder(), text, cancel);
  if (!cold) return cold.error();
  found.coldMs = watch.lap();
  found.coldEqual = digestOf(*cold) == earlier["digest"];
  const GenerationOutcome plain = answer(**engine, text, false, cancel);
  if (!plain.status) return plain.status.error();

  PrefixCache& cache = *(*engine)->cache();
  DiskCache& disk = *cache.disk();
  for (const TextRowPtr& row : disk.rows())
    found.bytes += row->bytes;
  watch.lap();
  disk.restore(cache, text, cache.find(text), 0);
  found.restoreMs = watch.lap();
  const CacheHit hit = cache.find(text);
  found.restored = hit.sequence.length();
  // What was restored may end before the text does; a cold read of as much is its measure.
  if (found.restored > 0) {
    const auto known = std::span(text).first(static_cast<std::size_t>(found.restored));
    const auto same = readCold((*engine)->decoder(), known, cancel);
    if (!same) return same.error();
    found.restoredEqual =
        same->sequence.sameBytes(hit.sequence) && (!hit.logits || *hit.logits == cold->logits);
  }
  const GenerationOutcome warm = answer(**engine, text, true, cancel);
  if (!warm.status) return warm.status.error();
  found.tokensEqual = warm.stats.cachedTokens == found.restored && warm.tokens == plain.tokens &&
                      json(warm.tokens) == earlier["tokens"] && warm.tokens.size() == kGreedy;
  return found;
}

// Runs this program as the first process, with the same options.
bool runFirst(const Arguments& arguments, const std::string& folder) {
  std::vector<std::string> words = {"tandem-cli", "disk-restore-check"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.insert(words.end(), {"--first", folder});
  std::vector<char*> pointers;
  for (std::string& word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t child = 0;
  int status = 0;
  return ::posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, pointers.data(), environ) == 0 &&
         ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == kDone;
}

void print(const CommonOptions& common, const CheckOptions& options, const Found& found) {
  if (common.json) {
    printJson({{"tokens", options.tokens},
               {"cold_equal", found.coldEqual},
               {"restored", found.restored},
               {"restored_equal", found.restoredEqual},
               {"greedy_equal", found.tokensEqual},
               {"cold_ms", found.coldMs},
               {"restore_ms", found.restoreMs},
               {"file_bytes", found.bytes}});
    return;
  }
  const auto word = [](bool equal) { return equal ? "equal" : "DIFFERENT"; };
  std::printf("cold read in two processes   %d tokens: %s (%.0f ms)\n", options.tokens, word(found.coldEqual),
              found.coldMs);
  std::printf("restored from disk           %d tokens, files of %.1f MiB: %s (%.1f ms)\n", found.restored,
              static_cast<double>(found.bytes) / (1 << 20), word(found.restoredEqual), found.restoreMs);
  std::printf("greedy tokens after it       %d: %s\n", kGreedy, word(found.tokensEqual));
}

}  // namespace

int diskRestoreCheckCommand(const Arguments& arguments) {
  CheckOptions options;
  if (const auto status = readOptions(kUsage, options.table(), arguments, options.common)) return *status;
  Interrupt interrupt;
  if (!options.first.empty()) {
    const Result<int> done = first(options, &interrupt.flag());
    return done ? *done : fail(options.common, done.error());
  }
  const TemporaryFolder folder("tandem-restore");
  if (folder.path.empty()) return fail(options.common, {ErrorCode::kIo, "No temporary folder can be made."});
  Result<Found> found = Error{ErrorCode::kIo, "The first process failed; see what it wrote."};
  if (runFirst(arguments, folder.path)) found = second(options, folder.path, &interrupt.flag());
  if (!found) return fail(options.common, found.error());
  print(options.common, options, *found);
  return found->all() ? kDone : kCheckFailed;
}

}  // namespace tandem::cli
