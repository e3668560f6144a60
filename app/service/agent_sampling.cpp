#include "app/service/agent_sampling.h"

#include <cmath>

#include "app/service/loop_escape.h"

namespace tandem::service {
namespace {

// The number at the key, where there is one from `least` to `most`.
std::optional<double> number(const gguf::File& file, const char* key, double least, double most) {
  std::optional<double> value;
  if (const auto real = file.getFloat(key); real.ok()) {
    value = *real;
  } else if (const auto whole = file.getUint(key); whole.ok() && whole->has_value()) {
    value = static_cast<double>(**whole);
  }
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

}  // namespace

SamplingParams recommendedSampling(const gguf::File& file) {
  SamplingParams sampling{.temperature = 0.7f, .topK = 20, .topP = 0.95f};
  constexpr double kLeast = 1e-6;  // above 0
  if (const auto value = number(file, "general.sampling.temp", kLeast, 100))
    sampling.temperature = static_cast<float>(*value);
  if (const auto value = number(file, "general.sampling.top_k", 0, 1e9))
    sampling.topK = static_cast<std::int64_t>(*value);
  if (const auto value = number(file, "general.sampling.top_p", kLeast, 1))
    sampling.topP = static_cast<float>(*value);
  if (const auto value = number(file, "general.sampling.min_p", 0, 1))
    sampling.minP = static_cast<float>(*value);
  return sampling;
}

std::optional<ChosenSampling> chooseSampling(const GenerateRequest& request,
                                             const SamplingParams& recommended, std::uint64_t seed) {
  const bool own = request.agentSampling == AgentSampling::kAsAsked || !request.sampling.greedy();
  if (own || !request.answerSoFar.empty() || !isAgentTurn(request.messages)) return std::nullopt;
  ChosenSampling chosen{.kind = "card", .params = request.sampling};
  if (const LoopJudgement judgement = judgeLoop(request.messages); judgement.loop != Loop::kNone) {
    chosen.kind = "loop_escape";
    chosen.reason = loopName(judgement.loop);
    chosen.stepsBack = judgement.stepsBack;
  } else if (request.agentSampling != AgentSampling::kCard) {
    return std::nullopt;
  }
  chosen.params.temperature = recommended.temperature;
  chosen.params.topK = recommended.topK;
  chosen.params.topP = recommended.topP;
  chosen.params.minP = recommended.minP;
  chosen.params.seed = seed;
  return chosen;
}

}  // namespace tandem::service
