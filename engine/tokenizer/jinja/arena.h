// Owns every object that a parse or a render makes, and charges the budget for it. Objects die together.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "engine/tokenizer/jinja/budget.h"
#include "engine/tokenizer/jinja/value.h"

namespace tandem::jinja {

// What a text takes: its bytes, and its runs of one origin.
inline std::uint64_t costOf(const TaggedText& text) {
  return text.size() + text.runs().size() * (sizeof(TaggedText::Run) + sizeof(std::size_t));
}

class Arena {
 public:
  // With no budget (a template's own constants) nothing is charged. The budget must outlive the arena's use.
  explicit Arena(Budget* budget = nullptr) : budget_(budget) {}

  // Charges the object itself; whoever fills a container charges its elements (spendBytes).
  template <class T, class... Args>
  T* make(Args&&... args) {
    spendBytes(sizeof(T));
    auto owned = std::make_unique<T>(std::forward<Args>(args)...);
    T* object = owned.get();
    objects_.push_back(std::move(owned));
    return object;
  }

  const String* string(TaggedText text, bool markup = false) {
    spendBytes(costOf(text));
    return make<String>(std::move(text), markup);
  }
  const String* string(std::string_view text, bool fromTemplate) {
    return string(TaggedText(text, fromTemplate));
  }

  Value list(std::vector<Value> items) { return sequence(Kind::kList, std::move(items)); }
  Value tuple(std::vector<Value> items) { return sequence(Kind::kTuple, std::move(items)); }

  void spendBytes(std::uint64_t bytes) {
    if (budget_) budget_->spendBytes(bytes);
  }

 private:
  Value sequence(Kind kind, std::vector<Value> items) {
    spendBytes(items.size() * sizeof(Value));
    auto* object = make<Sequence>();
    object->items = std::move(items);
    return Value(kind, object);
  }

  Budget* budget_;
  std::vector<std::unique_ptr<Object>> objects_;
};

}  // namespace tandem::jinja
