// The answers that were written to callers who keep their conversations themselves and send them again whole,
// as clients of a server do. Their copies carry no token ids and may lack what was hidden; here an answer is
// found again by what stood before it and by its text.
//
// A tree: a node is a message after those above it. What people and tools said is compared byte by byte,
// answers as isCopy() compares. Belongs to one vocabulary. Any thread may call.
#pragma once

#include <list>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/service/engine_backend.h"
#include "engine/model/model.h"
#include "engine/session/generator.h"

namespace tandem::service {

// What a model wrote.
struct WrittenAnswer {
  std::vector<TokenId> tokens = {};
  std::string text = {};                // what they say; see writtenText()
  std::vector<HiddenText> hidden = {};  // of the text, what readers need not have been shown
  std::string opened = {};              // the mark of the thinking block that its prompt opened; else empty
};

// The answer that a request got to this prompt. REQUIRES: it was no continued one.
WrittenAnswer writtenAnswer(const Model& model, std::span<const TokenId> prompt,
                            const GenerateRequest& request, const GenerationOutcome& outcome);

class AnswerMemory {
 public:
  // budget: bytes of texts and ids; the conversation that was asked least recently loses its end first.
  explicit AnswerMemory(std::size_t budget = std::size_t{16} << 20) : budget_(budget) {}

  // Gives ids and hidden stretches to the answers among the messages that are known there and have none.
  void recall(std::vector<PromptMessage>& messages);
  // The answer that was written to these messages.
  void keep(const std::vector<PromptMessage>& messages, WrittenAnswer answer);

  std::size_t bytes() const;

 private:
  struct Node {
    Node* parent = nullptr;
    std::string said = {};  // of a message that is no answer of ours
    WrittenAnswer answer = {};
    std::map<std::string_view, Node*> children = {};  // by `said`
    std::vector<Node*> answers = {};                  // the last one behind

    std::size_t bytes() const;
  };
  using Place = std::list<Node>::iterator;

  Node* next(Node& node, const PromptMessage& message);
  Node* add(Node* parent, Node node);
  void touch(Node* node);
  void evict();

  const std::size_t budget_;
  mutable std::mutex mutex_;
  Node root_;
  // The last one asked for first. A message stands before those that follow it, so the last is no one's
  // parent.
  std::list<Node> nodes_;
  std::map<const Node*, Place> places_;
  std::size_t bytes_ = 0;
};

}  // namespace tandem::service
