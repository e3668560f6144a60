#include "engine/verify/speculation_checks.h"

#include <algorithm>

#include "engine/speculation/options.h"

namespace tandem {

Result<SpeculationChecks::Run> SpeculationChecks::generate(const SpeculationOptions& speculation) {
  Generation request;
  request.prompt.assign(text_.begin(), text_.begin() + std::min<std::size_t>(text_.size(), 100));
  request.maxTokens = tokens_;
  request.speculation = speculation;
  request.endAtEndTokens = false;
  Generator generator(decoder_);
  GenerationOutcome outcome = generator.run(request, {}, cancel_);
  if (!outcome.status.ok()) return outcome.status.error();
  return Run{std::move(outcome), generator.sequence()};
}

Status SpeculationChecks::check(TokenOrigin drafter, DraftShape shape, CheckResult& result) {
  if (!plain_) {
    auto plain = generate(SpeculationOptions::off());
    if (!plain.ok()) return plain.error();
    plain_ = std::move(*plain);
  }
  const std::vector<TokenId>& expected = plain_->outcome.tokens;
  auto speculation = SpeculationOptions::of({drafter}, shape);
  speculation.reference = expected;
  auto run = generate(speculation);
  if (!run.ok()) return run.error();

  const std::vector<TokenId>& got = run->outcome.tokens;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (i >= got.size() || got[i] != expected[i]) ++result.difference.bits;
  }
  result.difference.compared += expected.size();
  const GenerationStats& stats = run->outcome.stats;
  result.detail = std::to_string(got.size()) + " tokens, logits and cache, " + draftShapeName(shape) +
                  ": drafted " + std::to_string(stats.drafted) + ", accepted " +
                  std::to_string(stats.accepted) + ", rejected " + std::to_string(stats.rejected());
  const bool knows = drafter == TokenOrigin::kOracle || drafter == TokenOrigin::kRandom;
  const bool worked = drafter == TokenOrigin::kOwnText ? stats.drafted > 0 : stats.rejected() > 0;
  result.passed = stats.logitsFingerprint == plain_->outcome.stats.logitsFingerprint &&
                  run->sequence.sameBytes(plain_->sequence) && worked && (!knows || stats.accepted > 0);
  return {};
}

}  // namespace tandem
