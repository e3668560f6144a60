#include "engine/base/status.h"

namespace tandem {

const char* errorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kCorruptFile:
      return "corrupt_file";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kOutOfMemory:
      return "out_of_memory";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kContextLengthExceeded:
      return "context_length_exceeded";
    case ErrorCode::kBudgetExceeded:
      return "budget_exceeded";
    case ErrorCode::kNonFinite:
      return "non_finite";
    case ErrorCode::kTemplate:
      return "template";
    case ErrorCode::kBusy:
      return "busy";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";
}

std::string Error::describe() const {
  std::string text = message;
  if (!field.empty() || offset) {
    text += " (";
    if (!field.empty()) text += "field " + field;
    if (!field.empty() && offset) text += ", ";
    if (offset) text += "byte " + std::to_string(*offset);
    text += ")";
  }
  return text;
}

}  // namespace tandem
