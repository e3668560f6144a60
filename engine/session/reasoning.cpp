#include "engine/session/reasoning.h"

#include <algorithm>

#include "engine/model/model.h"

namespace tandem {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

}  // namespace

const char* reasoningEndName(ReasoningEnd end) {
  switch (end) {
    case ReasoningEnd::kNone:
      return "none";
    case ReasoningEnd::kOpen:
      return "open";
    case ReasoningEnd::kOwn:
      return "own";
    case ReasoningEnd::kBudget:
      return "budget";
    case ReasoningEnd::kStall:
      return "stall";
  }
  return "none";
}

std::optional<ReasoningMarks> reasoningMarks(std::string_view chatTemplate) {
  for (const char* name : {"think", "thinking", "reasoning", "thought"}) {
    ReasoningMarks marks{std::string("<") + name + ">", std::string("</") + name + ">"};
    if (chatTemplate.find(marks.close) != std::string_view::npos) return marks;
  }
  const ReasoningMarks brackets{"[THINK]", "[/THINK]"};
  if (chatTemplate.find(brackets.close) != std::string_view::npos) return brackets;
  return std::nullopt;
}

std::optional<ReasoningMarks> reasoningMarks(const Model& model) {
  const auto source = model.file().getString("tokenizer.chat_template");
  return source.ok() && *source ? reasoningMarks(**source) : std::nullopt;
}

Reasoning::Reasoning(std::shared_ptr<const Tokenizer> tokenizer, std::optional<ReasoningMarks> marks,
                     const ReasoningOptions& options)
    : tokenizer_(std::move(tokenizer)), marks_(std::move(marks)), options_(options) {}

void Reasoning::begin(std::span<const TokenId> prompt) {
  if (!marks_) return;
  const std::size_t tail = std::min<std::size_t>(prompt.size(), 32);
  std::string text;
  for (const TokenId token : prompt.last(tail))
    text += tokenizer_->decode(token, ControlText::kShown);
  const std::size_t end = text.find_last_not_of(kSpace);
  if (end != std::string::npos) text.resize(end + 1);
  if (!text.ends_with(marks_->open)) return;
  state_ = State::kInside;
  end_ = ReasoningEnd::kOpen;
}

void Reasoning::push(TokenId token) {
  if (!closing_.empty()) closing_.erase(closing_.begin());
  if (!marks_ || state_ == State::kAfter) return;
  text_ += tokenizer_->decode(token, ControlText::kShown);
  if (state_ == State::kBefore) {
    // Only white space may stand before a block; a mark further on is text.
    const std::size_t first = std::min(text_.find_first_not_of(kSpace), text_.size());
    const std::string_view rest = std::string_view(text_).substr(first);
    if (rest.starts_with(marks_->open)) {
      state_ = State::kInside;
      end_ = ReasoningEnd::kOpen;
      text_.clear();
    } else if (!std::string_view(marks_->open).starts_with(rest)) {
      state_ = State::kAfter;
    }
    return;
  }
  ++tokens_;
  if (text_.find(marks_->close) != std::string::npos) {
    state_ = State::kAfter;
    if (end_ == ReasoningEnd::kOpen) end_ = ReasoningEnd::kOwn;
    return;
  }
  if (text_.size() >= marks_->close.size()) text_.erase(0, text_.size() - marks_->close.size() + 1);
  if (end_ != ReasoningEnd::kOpen) return;
  if (options_.budget > 0 && tokens_ >= options_.budget) {
    closeWith(ReasoningEnd::kBudget);
  } else if (stall_.push(token) && options_.stallClose) {
    closeWith(ReasoningEnd::kStall);
  }
}

void Reasoning::closeWith(ReasoningEnd end) {
  auto closing = tokenizer_->encode(TaggedText("\n" + marks_->close + "\n\n", true));
  if (!closing.ok()) return;
  closing_ = std::move(*closing);
  end_ = end;
}

std::optional<TokenId> Reasoning::forced() const {
  return closing_.empty() ? std::nullopt : std::optional(closing_.front());
}

}  // namespace tandem
