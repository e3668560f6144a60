// The names of one frame while a template is compiled, and what is known about each.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tokenizer/jinja/ast.h"

namespace tandem::jinja {

class Symbols {
 public:
  Symbols(Symbols* parent, FunctionScope* function) : parent_(parent), function_(function) {}

  // Notes a use, an assignment, or a parameter of the frame.
  void load(const Value& name);
  void store(const Value& name);
  VarRef declareParameter(const Value& name);

  // For the branches of an `if`: each is analysed on a copy, then the copies are joined.
  Symbols branch() const { return *this; }
  void join(const std::vector<Symbols>& branches);

  // Where `name` lives, seen from this frame; a name nobody noted is looked up in the context.
  VarRef refer(const Value& name);

  // How the frame's own slots start out.
  Frame frame() const;

 private:
  enum class Start { kParameter, kFromContext, kFromOuter, kMissing };
  struct Entry {
    Value name;
    std::uint32_t slot;
    Start start;
  };

  // The frame, this one or one around it, that has noted `name`; nullptr when none has.
  const Symbols* owner(std::string_view name) const;
  void define(const Value& name, Start start);
  VarRef refTo(const Symbols& owner, std::string_view name) const;

  Symbols* parent_;
  FunctionScope* function_;
  std::map<std::string, Entry, std::less<>> entries_;
  std::set<std::string, std::less<>> stores_;
  // Slots by name; shared with the copies that branch() makes, which are the same frame.
  std::shared_ptr<std::map<std::string, std::uint32_t, std::less<>>> slots_ =
      std::make_shared<std::map<std::string, std::uint32_t, std::less<>>>();
};

}  // namespace tandem::jinja
