// tandem-cli verify: the engine proves itself on a model.
#include <cinttypes>
#include <cstdio>

#include "app/cli/commands.h"
#include "app/cli/engine_choice.h"
#include "engine/base/thread_pool.h"
#include "engine/verify/checks.h"
#include "storage/text_index.h"

namespace tandem::cli {
namespace {

constexpr Usage kUsage = {
    "verify", "[options]",
    "Runs the engine against itself on the chosen model and compares bits: batch against one at a time, a "
    "row\n"
    "among others, passes that several requests share, forks, unused slots, thread counts, kernel sets, the\n"
    "tokenizer, and speculation against plain decoding; and bounds what a quantised cache changes. Ends with "
    "1 when\n"
    "a check fails."};

struct VerifyCommand {
  CommonOptions common;
  EngineChoice engine;
  int generated = 256;

  OptionTable table() {
    OptionTable table = {
        {"--tokens", 'n', "N", "tokens of each speculation run (256)", wholeNumber(generated, 1, 1 << 20)}};
    append(table, engineTable(engine));
    return table;
  }
};

nlohmann::json asJson(const CheckResult& result) {
  nlohmann::json json = {{"check", result.name},
                         {"passed", result.passed},
                         {"largest_difference", result.difference.largest},
                         {"differing_bits", result.difference.bits},
                         {"values", result.difference.compared},
                         {"detail", result.detail},
                         {"seconds", result.seconds}};
  if (result.variation) json["variation"] = *result.variation;
  return json;
}

std::string figureOf(const CheckResult& result) {
  char text[100];
  if (result.variation) {
    std::snprintf(text, sizeof text, "%.2f %% mean total variation", 100 * *result.variation);
  } else {
    std::snprintf(text, sizeof text, "%.2e  %" PRIu64 " differing bits of %" PRIu64 " values",
                  result.difference.largest, result.difference.bits, result.difference.compared);
  }
  return text;
}

void print(const CheckResult& result) {
  std::printf("%-4s  %-22s %s  %6.1f s  %s\n", result.passed ? "ok" : "FAIL", result.name.c_str(),
              figureOf(result).c_str(), result.seconds, result.detail.c_str());
  std::fflush(stdout);
}

}  // namespace

int verifyCommand(const Arguments& arguments) {
  VerifyCommand command;
  if (const auto status = readOptions(kUsage, command.table(), arguments, command.common)) return *status;
  const auto model = loadModel(command.common, command.engine);
  if (!model) return fail(command.common, model.error());

  VerifyOptions options;
  options.openIndex = [](const std::string& folder) { return storage::CacheIndex::open(folder); };
  options.kernels = command.engine.engine.kernels ? command.engine.engine.kernels : &kernels::bestKernels();
  options.otherSets = otherKernelSets(*options.kernels);
  options.cacheType = command.engine.engine.cacheType;
  options.generated = command.generated;
  // The first count runs the other checks too.
  options.threadCounts = {command.engine.threads > 0 ? command.engine.threads : availableCpus()};
  for (const int threads : {1, 2, 4}) {
    if (threads != options.threadCounts.front()) options.threadCounts.push_back(threads);
  }

  nlohmann::json checks = nlohmann::json::array();
  int count = 0, failed = 0;
  const Status status = runChecks(*model, options, [&](const CheckResult& result) {
    ++count;
    failed += !result.passed;
    if (command.common.json) {
      checks.push_back(asJson(result));
    } else {
      print(result);
    }
  });
  if (!status) return fail(command.common, status.error());
  if (command.common.json) {
    printJson({{"model", (*model)->file().path()}, {"checks", checks}, {"failed", failed}});
  } else {
    std::printf("%s: %d checks, %d failed\n", (*model)->displayName().c_str(), count, failed);
  }
  return failed == 0 ? kDone : kCheckFailed;
}

}  // namespace tandem::cli
