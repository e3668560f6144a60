#include "engine/measure/simulator.h"

#include <algorithm>

#include "engine/base/stopwatch.h"
#include "engine/speculation/speculator.h"

namespace tandem::measure {

Simulation simulate(std::span<const TokenId> prompt, std::span<const TokenId> answer,
                    const SpeculationOptions& speculation, SpeculationResources& resources, int vocabulary,
                    const RoundPrices& prices) {
  Simulation result{.speculation = speculation};
  if (answer.empty()) return result;
  Speculator speculator(speculation, resources, {vocabulary}, 0);
  speculator.begin(prompt);
  speculator.begin(answer.first(1));

  std::size_t at = 1;  // tokens that are certain
  while (at < answer.size()) {
    RoundReport report;
    report.round = result.rounds;
    report.context = static_cast<int>(prompt.size() + at) - 1;
    const int depth = static_cast<int>(answer.size() - at) - 1;
    const Stopwatch watch;
    const Draft draft = depth > 0 ? speculator.propose(depth, kMaxDraftNodes, at, report) : Draft();
    report.draftMs = watch.ms();
    const Acceptance walk = acceptDraft(
        draft, [&, next = at](int) mutable { return answer[next++]; }, [](TokenId) { return false; });
    report.drafted = draft.size();
    report.accepted = static_cast<int>(walk.path.size());
    const auto count = std::min(walk.path.size() + 1, answer.size() - at);
    report.verifyMs = speculation.enabled() ? prices.verify.of(draft.size() + 1) : prices.plain;
    report.commitMs = speculation.enabled() ? prices.commit * static_cast<double>(count) : 0;
    speculator.end(answer.subspan(at, count), report);
    at += count;
    ++result.rounds;
    result.drafted += report.drafted;
    result.accepted += report.accepted;
    result.ms += report.draftMs + report.verifyMs + report.commitMs;
  }
  result.plainMs = static_cast<double>(answer.size() - 1) * prices.plain;
  return result;
}

}  // namespace tandem::measure
