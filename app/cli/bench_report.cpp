#include "app/cli/bench_report.h"

#include <algorithm>
#include <cstdio>

#include "engine/speculation/options.h"

namespace tandem::cli {
namespace {

// How the best shape is called: "chain7", or "off" when drafting does not pay.
std::string attainableShape(const measure::Simulation& best) {
  return best.speculation.enabled() ? draftShapeName(best.speculation.shape) : "off";
}

}  // namespace

Spread spreadOf(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {measure::median(values), *least, *most};
}

nlohmann::json spreadJson(const Spread& spread) {
  return {{"median", spread.median}, {"least", spread.least}, {"most", spread.most}};
}

std::string spreadText(const Spread& spread) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f (%.2f to %.2f)", spread.median, spread.least, spread.most);
  return text;
}

nlohmann::json reportJson(const WorkloadReport& r) {
  nlohmann::json json = {{"workload", r.name},
                         {"prompts", r.prompts},
                         {"left_out", r.leftOut},
                         {"runs", r.runs},
                         {"tokens", r.tokens},
                         {"same_text", r.sameText},
                         {"rounds", r.rounds},
                         {"drafted", r.drafted},
                         {"accepted", r.accepted},
                         {"acceptance", r.acceptance()},
                         {"tokens_per_round", r.tokensPerRound()}};
  if (!r.measured()) return json;
  json["prefill_tokens_per_second"] = spreadJson(r.prefill);
  json["plain_tokens_per_second"] = spreadJson(r.plain);
  json["speculated_tokens_per_second"] = spreadJson(r.speculated);
  json["gain"] = spreadJson(r.gain);
  nlohmann::json& rounds = json["round_ms_by_rows"] = nlohmann::json::array();
  for (const auto& [rows, ms] : r.roundMs)
    rounds.push_back({{"rows", rows}, {"rounds", ms.size()}, {"ms", spreadJson(spreadOf(ms))}});
  json["verify_ms_by_rows"] = r.staircase.ms;
  json["simulated"] = {
      {"gain", r.attainable.gain()},       {"shape", attainableShape(r.attainable)},
      {"rounds", r.attainable.rounds},     {"drafted", r.attainable.drafted},
      {"accepted", r.attainable.accepted}, {"measured_share", r.gain.median / r.attainable.gain()}};
  return json;
}

void printReport(const WorkloadReport& r) {
  std::printf("%s: %d prompts", r.name.c_str(), r.prompts);
  if (r.leftOut > 0) {
    std::printf(", %d left out: %s more than %d times some %d tokens of its own", r.leftOut,
                r.leftOut == 1 ? "the answer writes" : "each answer writes", measure::kMostRepeats,
                measure::kRepeatLength);
  }
  if (!r.measured()) {
    std::puts("; nothing is left to measure\n");
    return;
  }
  std::printf("; %d tokens, %d runs of each\n", r.tokens, r.runs);
  std::printf("  prefill     %s tokens/s\n", spreadText(r.prefill).c_str());
  std::printf("  plain       %s tokens/s\n", spreadText(r.plain).c_str());
  std::printf("  speculated  %s tokens/s%s\n", spreadText(r.speculated).c_str(),
              r.sameText ? ", the same text" : ", and the text DIFFERS");
  std::printf("  gain        %s; simulated %.2f with %s; measured / simulated %.2f\n",
              spreadText(r.gain).c_str(), r.attainable.gain(), attainableShape(r.attainable).c_str(),
              r.gain.median / r.attainable.gain());
  std::printf("  rounds %d, drafted %d, accepted %d (%.0f %%), %.2f tokens a round\n", r.rounds, r.drafted,
              r.accepted, 100 * r.acceptance(), r.tokensPerRound());
  std::printf("  rows  rounds  ms a round  ms of the pass alone\n");
  for (const auto& [rows, ms] : r.roundMs)
    std::printf("  %4d  %6zu  %10.2f  %10.2f\n", rows, ms.size(), measure::median(ms), r.staircase.of(rows));
  std::putchar('\n');
  std::fflush(stdout);
}

}  // namespace tandem::cli
