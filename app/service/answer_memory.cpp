#include "app/service/answer_memory.h"

#include <algorithm>
#include <utility>

#include "app/service/hidden_text.h"

namespace tandem::service {
namespace {

// All of a message, each part with its length before it, so that no two messages look alike.
std::string saidIn(const PromptMessage& message) {
  std::string said;
  const auto add = [&](std::string_view part) {
    said += std::to_string(part.size());
    said += ':';
    said += part;
  };
  add(message.role);
  add(message.content);
  add(message.toolCallId);
  for (const ToolCall& call : message.toolCalls) {
    add(call.name);
    add(call.arguments);
    add(call.id);
  }
  return said;
}

}  // namespace

WrittenAnswer writtenAnswer(const Model& model, std::span<const TokenId> prompt,
                            const GenerateRequest& request, const GenerationOutcome& outcome) {
  WrittenAnswer answer{.tokens = outcome.tokens};
  // As an end token: the template writes its own.
  if (outcome.stats.finish == FinishReason::kStopToken) answer.tokens.pop_back();
  const WrittenText written = writtenText(model.sharedTokenizer(), answer.tokens);
  answer.text = written.text + written.unfinished;
  const std::optional<ReasoningMarks> marks = reasoningMarks(model);
  if (marks && beginsInThought(answer.text, *marks)) answer.opened = marks->open;
  answer.hidden =
      hiddenIn(model.sharedTokenizer(), marks, prompt, answer.tokens, request.stop, request.minTokens);
  return answer;
}

std::size_t AnswerMemory::Node::bytes() const {
  return sizeof(Node) + said.size() + answer.text.size() + answer.tokens.size() * sizeof(TokenId);
}

std::size_t AnswerMemory::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void AnswerMemory::recall(std::vector<PromptMessage>& messages) {
  const std::lock_guard lock(mutex_);
  Node* node = &root_;
  for (PromptMessage& message : messages) {
    Node* const found = next(*node, message);
    if (found == nullptr) break;
    node = found;
    if (!message.tokens.empty()) continue;
    message.tokens = node->answer.tokens;
    message.hidden = node->answer.hidden;
  }
  touch(node);
}

void AnswerMemory::keep(const std::vector<PromptMessage>& messages, WrittenAnswer answer) {
  const std::lock_guard lock(mutex_);
  Node* node = &root_;
  for (const PromptMessage& message : messages) {
    Node* const found = next(*node, message);
    node = found ? found : add(node, {.said = saidIn(message)});
  }
  // Written again, the same answer takes the last place. Shown otherwise, it is another.
  const auto known = std::ranges::find_if(node->answers, [&](const Node* other) {
    return other->answer.tokens == answer.tokens && other->answer.hidden == answer.hidden;
  });
  if (known != node->answers.end()) {
    std::rotate(known, known + 1, node->answers.end());
    node = node->answers.back();
  } else {
    node = add(node, {.answer = std::move(answer)});
  }
  touch(node);
  evict();
}

// The message below the node; null: it is not known there. Of several answers that it may be a copy of it is
// the last one.
AnswerMemory::Node* AnswerMemory::next(Node& node, const PromptMessage& message) {
  if (message.role == "assistant" && message.toolCalls.empty()) {
    const auto found = std::find_if(node.answers.rbegin(), node.answers.rend(), [&](const Node* answer) {
      return isCopy(message.content, answer->answer.text, answer->answer.hidden, answer->answer.opened);
    });
    if (found != node.answers.rend()) return *found;
  }
  const auto found = node.children.find(saidIn(message));
  return found == node.children.end() ? nullptr : found->second;
}

AnswerMemory::Node* AnswerMemory::add(Node* parent, Node node) {
  node.parent = parent;
  nodes_.push_front(std::move(node));
  Node* const added = &nodes_.front();
  places_[added] = nodes_.begin();
  if (added->said.empty()) {
    parent->answers.push_back(added);
  } else {
    parent->children.emplace(added->said, added);
  }
  bytes_ += added->bytes();
  return added;
}

void AnswerMemory::touch(Node* node) {
  for (; node != &root_; node = node->parent)
    nodes_.splice(nodes_.begin(), nodes_, places_.at(node));
}

void AnswerMemory::evict() {
  while (bytes_ > budget_ && !nodes_.empty()) {
    Node& last = nodes_.back();
    if (last.said.empty()) {
      std::erase(last.parent->answers, &last);
    } else {
      last.parent->children.erase(last.said);
    }
    bytes_ -= last.bytes();
    places_.erase(&last);
    nodes_.pop_back();
  }
}

}  // namespace tandem::service
