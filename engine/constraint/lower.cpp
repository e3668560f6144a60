#include "engine/constraint/lower.h"

#include <algorithm>
#include <optional>

#include "engine/constraint/source_reader.h"

namespace tandem::constraint {
namespace {

using Kind = Expression::Kind;

constexpr std::uint64_t kMaxWrittenOut =
    4'000;  // characters of a regular part, its rules and repeats written out
constexpr std::uint64_t kNotRegular = ~std::uint64_t{0};
constexpr std::size_t kMaxPartStates = 2'000;  // of one automaton

class Lowering {
 public:
  Lowering(const ExpressionPool& pool, const std::vector<int>& rules, GrammarBuilder& builder)
      : pool_(pool), rules_(rules), builder_(builder) {
    for (std::size_t i = 0; i < rules.size(); ++i)
      numbers_.push_back(builder.newRule());
    ruleSizes_.assign(rules.size(), kUnknown);
  }

  int lower(int root) {
    for (std::size_t i = 0; i < rules_.size(); ++i)
      builder_.define(numbers_[i], node(rules_[i]));
    return builder_.call(numbers_[static_cast<std::size_t>(root)]);
  }

 private:
  static constexpr std::uint64_t kUnknown = kNotRegular - 1;
  static constexpr std::uint64_t kBeingSized = kNotRegular - 2;

  // How many characters the expression has when written out, or kNotRegular (recursive, or far too large).
  std::uint64_t sizeOf(int expression) {
    const Nesting nesting(depth_);
    const Expression& e = pool_.nodes[static_cast<std::size_t>(expression)];
    builder_.budget().spend(1);
    if (e.kind == Kind::kChars) return 1;
    if (e.kind == Kind::kRule) return ruleSize(static_cast<std::size_t>(e.index));
    std::uint64_t size = 1;
    for (const int child : e.children) {
      const std::uint64_t part = sizeOf(child);
      if (part > kMaxWrittenOut) return kNotRegular;
      size += part;
    }
    if (e.kind == Kind::kRepeat) size *= static_cast<std::uint64_t>(std::max({e.min, e.max, 1}));
    return size > kMaxWrittenOut ? kNotRegular : size;
  }

  std::uint64_t ruleSize(std::size_t rule) {
    std::uint64_t& size = ruleSizes_[rule];
    if (size == kBeingSized) return kNotRegular;  // it calls itself
    if (size == kUnknown) {
      size = kBeingSized;
      const std::uint64_t found = sizeOf(rules_[rule]);
      ruleSizes_[rule] = found;
      return found;
    }
    return size;
  }

  std::optional<int> automaton(int expression) {
    if (sizeOf(expression) == kNotRegular) return std::nullopt;
    const CharDfa dfa = buildCharDfa(pool_, expression, Match::kWhole, builder_.budget(), rules_);
    if (static_cast<std::size_t>(dfa.states()) > kMaxPartStates) return std::nullopt;
    return builder_.dfa(plainText(dfa, builder_.alphabet(), builder_.budget()));
  }

  int node(int expression) {
    const Nesting nesting(depth_);
    if (const std::optional<int> regular = automaton(expression)) return *regular;
    const Expression& e = pool_.nodes[static_cast<std::size_t>(expression)];
    std::vector<int> children;
    switch (e.kind) {
      case Kind::kRule:
        return builder_.call(numbers_[static_cast<std::size_t>(e.index)]);
      case Kind::kRepeat:
        return builder_.repeat(node(e.children.front()), e.min, e.max);
      case Kind::kSequence:
        for (const int child : e.children)
          children.push_back(node(child));
        return builder_.sequence(std::move(children));
      case Kind::kChoice:
        for (const int child : e.children)
          children.push_back(node(child));
        return builder_.choice(std::move(children));
      default:
        return builder_.empty();
    }
  }

  const ExpressionPool& pool_;
  const std::vector<int>& rules_;
  GrammarBuilder& builder_;
  std::vector<int> numbers_;  // of the rules in the builder
  std::vector<std::uint64_t> ruleSizes_;
  int depth_ = 0;
};

}  // namespace

int lowerRules(const ExpressionPool& pool, const std::vector<int>& rules, int root, GrammarBuilder& builder) {
  return Lowering(pool, rules, builder).lower(root);
}

}  // namespace tandem::constraint
