#include "engine/session/generation.h"

namespace tandem {

const char* tokenOriginName(TokenOrigin origin) {
  switch (origin) {
    case TokenOrigin::kPlain:
      return "plain";
    case TokenOrigin::kOwnText:
      return "own-text";
    case TokenOrigin::kWrong:
      return "wrong";
    case TokenOrigin::kStore:
      return "store";
    case TokenOrigin::kDraftModel:
      return "draft";
    case TokenOrigin::kMtp:
      return "mtp";
    case TokenOrigin::kHalfRight:
      return "half-right";
    case TokenOrigin::kOracle:
      return "oracle";
    case TokenOrigin::kRandom:
      return "random";
  }
  return "plain";
}

const char* cacheSourceName(const GenerationStats& stats) {
  if (stats.fromResponse) return "response";
  return stats.cachedTokens > 0 ? "prefix" : "none";
}

const char* finishReasonName(FinishReason reason) {
  switch (reason) {
    case FinishReason::kEndToken:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancelled:
      return "cancelled";
    case FinishReason::kFailed:
      return "failed";
    case FinishReason::kStopString:
      return "stop_string";
    case FinishReason::kStopToken:
      return "stop_token";
  }
  return "failed";
}

}  // namespace tandem
