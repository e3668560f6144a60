// The vocabulary of one generation: what is asked for, what comes out, and what it cost. Plain data, shared
// by the engine's session, the service, the command line and the window.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/tokenizer/token_id.h"

namespace tandem {

// Where a committed token came from: the target's own step, or a drafter whose guess the target confirmed.
// The numbers are stored with messages; never renumber.
enum class TokenOrigin : std::uint8_t { kPlain = 0, kOwnText = 1, kWrong = 2 };
inline constexpr int kTokenOriginCount = 3;
const char* tokenOriginName(TokenOrigin origin);  // "plain", "own-text", "wrong"

// Sampling of one request; see docs/sampling.md for every parameter at its edges.
struct SamplingParams {
  float temperature = 0.0f;  // 0: the highest score, lowest id on a tie; otherwise finite and > 0
  std::int64_t topK = 0;     // 0: no limit
  float topP = 1.0f;         // in (0, 1]; 1: no limit
  float minP = 0.0f;         // in [0, 1]; 0: no limit
  std::uint64_t seed = 0;    // keys the noise; unused at temperature 0

  bool greedy() const { return temperature == 0.0f; }
};

// Which drafter proposes, and how long a chain it may draft.
enum class DrafterKind : std::uint8_t { kOff, kOwnText, kWrong };
struct SpeculationOptions {
  DrafterKind drafter = DrafterKind::kOwnText;
  int width = 7;  // drafted tokens per round, 1 to 31
};

enum class FinishReason : std::uint8_t {
  kEndToken,   // the model ended its answer
  kLength,     // max_tokens, or the context is full
  kCancelled,  // stopped by the person or the caller
  kFailed,
};
const char* finishReasonName(FinishReason reason);  // "stop", "length", "cancelled", "failed"

// One committed token and the part of the emitted text it completed.
struct PieceToken {
  TokenId id;
  TokenOrigin origin;
  std::uint32_t
      textBytes;  // UTF-8 bytes of TextPiece::text that appeared with this token; 0 while a character waits
};

// What one round added to the answer. `text` is valid UTF-8 made of whole characters; the sum of textBytes is
// its size (only the last piece of an answer may carry text without a token: a held, incomplete character
// shown as U+FFFD).
struct TextPiece {
  std::string text;
  std::vector<PieceToken> tokens;
};

// Costs of one generation. Times in milliseconds on a steady clock.
struct GenerationStats {
  int promptTokens = 0;
  int cachedTokens = 0;      // prompt tokens that needed no forward pass
  int completionTokens = 0;  // committed tokens, the end token included
  double queueMs = 0;        // submit to start
  double prefillMs = 0;
  double ttftMs = 0;    // submit to first token
  double decodeMs = 0;  // first token to last token
  double totalMs = 0;
  int rounds = 0;  // verify passes after prefill
  int drafted = 0;
  int accepted = 0;
  int acceptedBy[kTokenOriginCount] = {};  // committed tokens by origin; sums to completionTokens
  FinishReason finish = FinishReason::kEndToken;
  std::uint64_t seed = 0;
  std::uint64_t logitsFingerprint = 0;  // hash of the bits of every chosen row's logits, in order

  int rejected() const { return drafted - accepted; }
  double decodeTokensPerSecond() const {
    return decodeMs > 0 && completionTokens > 1 ? (completionTokens - 1) * 1000.0 / decodeMs : 0;
  }
  double prefillTokensPerSecond() const {
    return prefillMs > 0 ? (promptTokens - cachedTokens) * 1000.0 / prefillMs : 0;
  }
  // The first token comes from the prefill, not from a round.
  double tokensPerRound() const {
    return rounds > 0 ? static_cast<double>(completionTokens - 1) / rounds : 0;
  }
  double acceptance() const { return drafted > 0 ? static_cast<double>(accepted) / drafted : 0; }
};

}  // namespace tandem
