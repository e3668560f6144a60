#include "app/cli/statistics.h"

#include <cinttypes>
#include <cstdio>

namespace tandem::cli {

std::string hex64(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, value);
  return text;
}

nlohmann::json statisticsJson(const GenerationStats& s) {
  nlohmann::json by = nlohmann::json::object();
  for (int origin = 0; origin < kTokenOriginCount; ++origin) {
    if (s.acceptedBy[origin] > 0)
      by[tokenOriginName(static_cast<TokenOrigin>(origin))] = s.acceptedBy[origin];
  }
  return {{"prompt_tokens", s.promptTokens},
          {"cached_tokens", s.cachedTokens},
          {"cache_source", cacheSourceName(s)},
          {"completion_tokens", s.completionTokens},
          {"prefill_ms", s.prefillMs},
          {"ttft_ms", s.ttftMs},
          {"decode_ms", s.decodeMs},
          {"total_ms", s.totalMs},
          {"prefill_tokens_per_second", s.prefillTokensPerSecond()},
          {"decode_tokens_per_second", s.decodeTokensPerSecond()},
          {"rounds", s.rounds},
          {"drafted", s.drafted},
          {"accepted", s.accepted},
          {"rejected", s.rejected()},
          {"accepted_by", by},
          {"tokens_per_round", s.tokensPerRound()},
          {"finish", finishReasonName(s.finish)},
          {"seed", s.seed},
          {"logits_fingerprint", hex64(s.logitsFingerprint)}};
}

std::string statisticsText(const GenerationStats& s) {
  char lines[512];
  std::snprintf(lines, sizeof lines,
                "prompt %d tokens (%.1f/s), completion %d tokens (%.1f/s), finish %s, seed %" PRIu64
                "\n"
                "rounds %d, drafted %d, accepted %d, rejected %d, %.2f tokens a round\n"
                "logits fingerprint %s\n",
                s.promptTokens, s.prefillTokensPerSecond(), s.completionTokens, s.decodeTokensPerSecond(),
                finishReasonName(s.finish), s.seed, s.rounds, s.drafted, s.accepted, s.rejected(),
                s.tokensPerRound(), hex64(s.logitsFingerprint).c_str());
  return lines;
}

}  // namespace tandem::cli
