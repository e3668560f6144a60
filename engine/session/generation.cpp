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
  }
  return "plain";
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
  }
  return "failed";
}

}  // namespace tandem
