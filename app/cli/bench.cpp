// tandem-cli bench: the speeds of a model beside the machine's peaks, or the rates of the fixed workloads.
#include <algorithm>
#include <iterator>

#include "app/cli/bench_speed.h"
#include "app/cli/bench_workloads.h"
#include "app/cli/commands.h"
#include "engine/session/slots.h"

namespace tandem::cli {
namespace {

constexpr Usage kUsage = {
    "bench", "[--only SECTIONS | --workload NAME] [options]",
    "Measures how fast a model runs: prefill by the prompt's length, plain decoding by the context's "
    "length,\n"
    "passes by their rows, the layers' products, and several answers at once; each beside the peaks of this\n"
    "machine, which are measured first. Ends with 1 when a figure is above a peak: one of the two is wrong "
    "then.\n"
    "\n"
    "With --workload it decodes the prompts of fixed workloads plainly and with speculation, in turn, and\n"
    "prints the medians of the decode phase. An answer that repeats itself is left out: it is too easy to\n"
    "draft for. The simulator runs the drafters over the plain text and prices each round by the measured\n"
    "cost of a verify pass; it takes the best of all fixed shapes. Ends with 1 when a text differs from the\n"
    "plain one."};

constexpr int kMost = 1 << 20;  // tokens and runs

// The table's options, of which the first one used is remembered.
OptionTable remembering(OptionTable table, std::string& used) {
  for (Option& option : table) {
    option.set = [set = std::move(option.set), name = std::string(option.name), &used](std::string_view v) {
      if (used.empty()) used = name;
      return set(v);
    };
  }
  return table;
}

Setter sections(SpeedSections& out) {
  return [&out](std::string_view list) -> Status {
    const auto chosen = speedSections(list);
    if (!chosen) return chosen.error();
    out = *chosen;
    return {};
  };
}

struct BenchCommand {
  CommonOptions common;
  EngineChoice engine;
  SpeedOptions speed;
  WorkloadOptions workloads;
  int tokens = 0, runs = 3;
  std::string usedForSpeed, usedForWorkloads;

  OptionTable table() {
    OptionTable table = {
        {"--workload", 0, "NAME", "prose, chat, code, edit, quote, base64 or all", text(workloads.workload)},
        {"--tokens", 'n', "N", "tokens to decode (64; of a workload's answer 128)",
         wholeNumber(tokens, 2, kMost)},
        {"--runs", 0, "N", "runs of each measurement (3)", wholeNumber(runs, 1, kMost)},
    };
    append(
        table,
        remembering({{"--only", 0, "SECTIONS", "some of peaks, prefill, decode, staircase, throughput (all)",
                      sections(speed.sections)},
                     {"--prompt-tokens", 0, "LIST", "lengths of prompts to read (512,1000,4096)",
                      wholeNumbers(speed.promptTokens, 1, kMost)},
                     {"--contexts", 0, "LIST", "lengths of contexts to decode behind (16,1000,4000)",
                      wholeNumbers(speed.contexts, 1, kMost)},
                     {"--parallel", 0, "N", "answers at once, of the throughput (4)",
                      wholeNumber(speed.parallel, 1, Slots::kMost)}},
                    usedForSpeed));
    OptionTable drafting = speculationTable(workloads.speculation);
    append(drafting, draftModelTable(engine));
    append(table, remembering(std::move(drafting), usedForWorkloads));
    append(table, engineTable(engine));
    return table;
  }

  // Options of one kind of measurement say nothing of the other.
  Status check() const {
    const bool speeds = workloads.workload.empty();
    const std::string& stray = speeds ? usedForWorkloads : usedForSpeed;
    if (stray.empty()) return {};
    return badArgument(stray + (speeds ? " needs --workload NAME" : " does not go with --workload"), stray);
  }
};

Result<int> bench(BenchCommand& command) {
  if (Status s = command.check(); !s.ok()) return s.error();
  command.speed.runs = command.workloads.runs = command.runs;
  if (command.tokens > 0) command.speed.tokens = command.workloads.tokens = command.tokens;
  return command.workloads.workload.empty()
             ? benchSpeed(command.common, command.engine, command.speed)
             : benchWorkloads(command.common, command.engine, command.workloads);
}

}  // namespace

int benchCommand(const Arguments& arguments) {
  BenchCommand command;
  if (const auto status = readOptions(kUsage, command.table(), arguments, command.common)) return *status;
  const Result<int> status = bench(command);
  return status ? *status : fail(command.common, status.error());
}

}  // namespace tandem::cli
