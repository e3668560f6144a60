// The vocabulary of one generation: what is asked for, what comes out, and what it cost. Plain data, shared
// by the engine's session, the service, the command line and the window.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/tokenizer/token_id.h"

namespace tandem {

// Where a committed token came from: the target's own step, or a drafter whose guess the target confirmed.
// The numbers are stored with messages; never renumber.
enum class TokenOrigin : std::uint8_t {
  kPlain = 0,
  kOwnText = 1,     // lookup in the request's own text
  kWrong = 2,       // wrong on purpose
  kStore = 3,       // lookup in earlier texts
  kDraftModel = 4,  // a small model of the same vocabulary
  kMtp = 5,         // the model file's own multi-token-prediction head
  kHalfRight = 6,   // right or wrong by a seeded coin
  kOracle = 7,      // knows the text
  kRandom = 8,      // random trees of random tokens
};
inline constexpr int kTokenOriginCount = 9;
// "plain", "own-text", "wrong", "store", "draft", "mtp", "half-right", "oracle", "random".
const char* tokenOriginName(TokenOrigin origin);

// What is added to a token's score.
struct TokenBias {
  TokenId token;
  float bias;

  bool operator==(const TokenBias&) const = default;
};

// How a drafted token is held against a sampled choice.
enum class Sampler : std::uint8_t {
  kGumbel,     // it stays exactly while it is the choice: the text does not depend on drafts
  kRejection,  // measurement only: it stays with probability min(1, p/q); equal in distribution only
};

inline constexpr int kMaxLogprobs = 20;

// How the tokens of one request are chosen; see docs/sampling.md for every parameter at its edges.
struct SamplingParams {
  float temperature = 0.0f;  // 0: the highest score, lowest id on a tie; otherwise finite and > 0
  std::int64_t topK = 0;     // 0: no limit
  float topP = 1.0f;         // in (0, 1]; 1: no limit
  float minP = 0.0f;         // in [0, 1]; 0: no limit
  std::uint64_t seed = 0;    // keys the noise; unused at temperature 0
  std::uint32_t choice = 0;  // index among the answers to one prompt; keys the noise too
  Sampler sampler = Sampler::kGumbel;

  // What changes scores, before temperature and filters.
  float repetitionPenalty = 1.0f;  // of tokens in prompt and answer; 1: none
  float presencePenalty = 0.0f;    // of tokens in the answer
  float frequencyPenalty = 0.0f;   // the same, for each time
  int penaltyWindow = 0;           // of the last tokens so many count for penalties; 0: all
  int noRepeatNgramSize = 0;       // no run of so many tokens comes twice; 0: off
  std::vector<TokenBias> logitBias = {};

  int logprobs = -1;  // likeliest tokens told with each chosen one, 0 to kMaxLogprobs; -1: nothing is told

  bool greedy() const { return temperature == 0.0f; }
  bool penalises() const {
    return repetitionPenalty != 1.0f || presencePenalty != 0.0f || frequencyPenalty != 0.0f;
  }
  bool changesScores() const { return penalises() || noRepeatNgramSize > 0 || !logitBias.empty(); }
  bool operator==(const SamplingParams&) const = default;
};

inline constexpr int kMaxDraftNodes = 31;  // with the certain token 32 rows of one pass

// What is drafted in a round: a chain or a tree of so many nodes, or what the router finds best.
struct DraftShape {
  enum class Kind : std::uint8_t { kAuto, kChain, kTree };
  Kind kind = Kind::kAuto;
  int nodes = kMaxDraftNodes;  // 1 to kMaxDraftNodes; the most that kAuto takes

  bool operator==(const DraftShape&) const = default;
};

// Who drafts, and what. Names and parsing: engine/speculation/options.h.
struct SpeculationOptions {
  // Own text, store, draft model and multi-token prediction where they exist; the router decides each round,
  // also to draft nothing.
  bool automatic = true;
  // Not automatic: these drafters, named by their origin. None: plain decoding. With a chain or a tree as the
  // shape they draft in every round and as much as they can; with kAuto the router decides.
  std::vector<TokenOrigin> drafters = {};
  DraftShape shape = {};
  // The answer's tokens from its index 0 on, of which kOracle and kHalfRight draw their guesses.
  std::vector<TokenId> reference = {};
  std::uint64_t seed = 0;  // of kHalfRight's coin, kRandom's trees and kOracle's wrong siblings
  // Relaxed accept, for measurement only: it breaks the promise, and the result depends on what was drafted.
  // A drafted token is taken when its logit lies at most relaxTau below the highest (0: off) and at most
  // relaxRank tokens score higher (0: off); with both set both must hold.
  float relaxTau = 0;
  int relaxRank = 0;

  bool enabled() const { return automatic || !drafters.empty(); }
  bool relaxed() const { return relaxTau > 0 || relaxRank > 0; }
  static SpeculationOptions off() { return {.automatic = false}; }
  static SpeculationOptions of(std::vector<TokenOrigin> drafters, DraftShape shape = {}) {
    return {.automatic = false, .drafters = std::move(drafters), .shape = shape};
  }
  static SpeculationOptions chain(TokenOrigin drafter, int nodes) {
    return of({drafter}, {DraftShape::Kind::kChain, nodes});
  }
  static SpeculationOptions tree(TokenOrigin drafter, int nodes) {
    return of({drafter}, {DraftShape::Kind::kTree, nodes});
  }
};

enum class FinishReason : std::uint8_t {
  kEndToken,   // the model ended its answer
  kLength,     // max_tokens, or the context is full
  kCancelled,  // stopped by the person or the caller
  kFailed,
  kStopString,  // the text came to a stop string, and is cut before it
  kStopToken,   // the model chose one of the request's stop tokens
};
// "stop", "length", "cancelled", "failed", "stop_string", "stop_token"
const char* finishReasonName(FinishReason reason);

// One committed token and the part of the emitted text it completed.
struct PieceToken {
  TokenId id;
  TokenOrigin origin;
  std::uint32_t
      textBytes;  // UTF-8 bytes of TextPiece::text that appeared with this token; 0 while a character waits
};

// Natural logarithms of probabilities in the distribution that a token was drawn from (docs/sampling.md).
struct TokenLogprob {
  TokenId token;
  double logprob;

  bool operator==(const TokenLogprob&) const = default;
};
struct ChosenLogprobs {
  double chosen;                  // the token's own; -infinity where another rule than sampling took it
  std::vector<TokenLogprob> top;  // the likeliest, by probability and then id; as many as asked for and there

  bool operator==(const ChosenLogprobs&) const = default;
};

// What one round added to the answer. `text` is valid UTF-8 made of whole characters; the sum of textBytes is
// its size (only the last piece of an answer may carry text without a token: a held, incomplete character
// shown as U+FFFD).
struct TextPiece {
  std::string text;
  std::vector<PieceToken> tokens;
  std::vector<ChosenLogprobs> logprobs = {};  // one for each token where they were asked for, else empty
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
  int draftedBy[kTokenOriginCount] = {};   // drafted nodes by origin; sums to drafted
  int acceptedBy[kTokenOriginCount] = {};  // committed tokens by origin; sums to completionTokens
  double draftMs = 0;                      // of all rounds: proposing and routing,
  double verifyMs = 0;                     // the verify passes,
  double commitMs = 0;                     // choosing and committing
  FinishReason finish = FinishReason::kEndToken;
  std::uint64_t seed = 0;
  std::uint64_t logitsFingerprint = 0;  // hash of the bits of every chosen row's logits, in order; 0: none
  bool fromResponse = false;  // the same request's answer given again, without a pass: there is no rate

  int rejected() const { return drafted - accepted; }
  double decodeTokensPerSecond() const {
    return !fromResponse && decodeMs > 0 && completionTokens > 1 ? (completionTokens - 1) * 1000.0 / decodeMs
                                                                 : 0;
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
// What spared work: "response", "prefix" (of the prompt), "none".
const char* cacheSourceName(const GenerationStats& stats);

}  // namespace tandem
