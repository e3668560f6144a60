#include "engine/tokenizer/jinja/symbols.h"

namespace tandem::jinja {
namespace {

std::string textOf(const Value& name) {
  return std::string(name.asString().view());
}

}  // namespace

const Symbols* Symbols::owner(std::string_view name) const {
  for (const Symbols* frame = this; frame; frame = frame->parent_) {
    if (frame->entries_.find(name) != frame->entries_.end()) return frame;
  }
  return nullptr;
}

void Symbols::define(const Value& name, Start start) {
  const std::string text = textOf(name);
  const auto [slot, isNew] = slots_->try_emplace(text, function_->slotCount);
  if (isNew) ++function_->slotCount;
  entries_[text] = Entry{name, slot->second, start};
}

void Symbols::load(const Value& name) {
  if (!owner(name.asString().view())) define(name, Start::kFromContext);
}

void Symbols::store(const Value& name) {
  stores_.insert(textOf(name));
  if (entries_.find(name.asString().view()) != entries_.end()) return;
  define(name, parent_ && parent_->owner(name.asString().view()) ? Start::kFromOuter : Start::kMissing);
}

VarRef Symbols::declareParameter(const Value& name) {
  stores_.insert(textOf(name));
  define(name, Start::kParameter);
  return refTo(*this, name.asString().view());
}

void Symbols::join(const std::vector<Symbols>& branches) {
  std::set<std::string, std::less<>> stored;
  for (const Symbols& branch : branches)
    stored.insert(branch.stores_.begin(), branch.stores_.end());
  for (const std::string& name : stores_)
    stored.erase(name);
  for (const Symbols& branch : branches) {
    for (const auto& [name, entry] : branch.entries_)
      entries_[name] = entry;
    stores_.insert(branch.stores_.begin(), branch.stores_.end());
  }
  // Assigned in some branch only: without it the name keeps what it was outside.
  for (const std::string& name : stored) {
    entries_.at(name).start = parent_ && parent_->owner(name) ? Start::kFromOuter : Start::kFromContext;
  }
}

VarRef Symbols::refTo(const Symbols& owner, std::string_view name) const {
  VarRef ref;
  for (const FunctionScope* function = function_; function != owner.function_; function = function->parent)
    ++ref.hops;
  ref.slot = owner.entries_.find(name)->second.slot;
  return ref;
}

VarRef Symbols::refer(const Value& name) {
  const std::string_view text = name.asString().view();
  const Symbols* found = owner(text);
  if (!found) {
    define(name, Start::kFromContext);
    found = this;
  }
  return refTo(*found, text);
}

Frame Symbols::frame() const {
  Frame frame;
  for (const auto& [name, entry] : entries_) {
    switch (entry.start) {
      case Start::kParameter:
        break;
      case Start::kFromContext:
        frame.starts.push_back({SlotStart::Kind::kFromContext, entry.slot, entry.name, {}});
        break;
      case Start::kFromOuter:
        frame.starts.push_back(
            {SlotStart::Kind::kFromOuter, entry.slot, {}, refTo(*parent_->owner(name), name)});
        break;
      case Start::kMissing:
        frame.starts.push_back({SlotStart::Kind::kMissing, entry.slot, {}, {}});
        break;
    }
  }
  return frame;
}

}  // namespace tandem::jinja
