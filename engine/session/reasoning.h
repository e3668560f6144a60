// A model's thinking: where the block of it begins and ends in an answer, and when it is closed before the
// model does so itself, because its budget is used up or because it goes in circles (stall_detector.h). The
// closing is made of real tokens, which the model reads as if it had chosen them.
//
// A function of the answer's tokens alone, so drafts do not move it. Belongs to one request.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/session/reasoning_options.h"
#include "engine/session/stall_detector.h"
#include "engine/tokenizer/tokenizer.h"

namespace tandem {

class Model;

// How a block is marked in text.
struct ReasoningMarks {
  std::string open, close;  // "<think>", "</think>"

  bool operator==(const ReasoningMarks&) const = default;
};
// The marks that a chat template knows; nullopt: none.
std::optional<ReasoningMarks> reasoningMarks(std::string_view chatTemplate);
std::optional<ReasoningMarks> reasoningMarks(const Model& model);  // those of its own template

class Reasoning {
 public:
  // Without marks there never is a block.
  Reasoning(std::shared_ptr<const Tokenizer> tokenizer, std::optional<ReasoningMarks> marks,
            const ReasoningOptions& options);

  // A prompt whose last text is the opening mark has opened the block.
  void begin(std::span<const TokenId> prompt);
  // The answer's next token.
  void push(TokenId token);
  // The token that must come next, whatever the model says; nullopt: its own choice.
  std::optional<TokenId> forced() const;

  ReasoningStats stats() const { return {tokens_, end_}; }

 private:
  enum class State { kBefore, kInside, kAfter };
  void closeWith(ReasoningEnd end);

  const std::shared_ptr<const Tokenizer> tokenizer_;
  const std::optional<ReasoningMarks> marks_;
  const ReasoningOptions options_;
  State state_ = State::kBefore;
  ReasoningEnd end_ = ReasoningEnd::kNone;
  std::string text_;  // before the block: all of the answer; in it: what may begin the closing mark
  std::vector<TokenId> closing_;  // tokens that are still to come
  int tokens_ = 0;
  StallDetector stall_;
};

}  // namespace tandem
