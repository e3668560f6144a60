#include "engine/tokenizer/jinja/ast_walk.h"

namespace tandem::jinja {
namespace {

using Visit = std::function<void(Expr*)>;

void forArguments(const CallArguments& arguments, const Visit& visit) {
  for (Expr* argument : arguments.positional)
    visit(argument);
  for (const auto& keyword : arguments.keywords)
    visit(keyword.second);
  if (arguments.star) visit(arguments.star);
  if (arguments.doubleStar) visit(arguments.doubleStar);
}

}  // namespace

void forChildren(const Expr& expr, const Visit& visit) {
  switch (expr.kind) {
    case ExprKind::kConst:
    case ExprKind::kName:
    case ExprKind::kCaptured:
      return;
    case ExprKind::kSequence:
      for (Expr* item : static_cast<const SequenceExpr&>(expr).items)
        visit(item);
      return;
    case ExprKind::kDict:
      for (const auto& [key, value] : static_cast<const DictExpr&>(expr).items) {
        visit(key);
        visit(value);
      }
      return;
    case ExprKind::kCondition: {
      const auto& condition = static_cast<const ConditionExpr&>(expr);
      visit(condition.test);
      visit(condition.then);
      if (condition.otherwise) visit(condition.otherwise);
      return;
    }
    case ExprKind::kLogic:
      for (Expr* operand : static_cast<const LogicExpr&>(expr).operands)
        visit(operand);
      return;
    case ExprKind::kCompare: {
      const auto& compare = static_cast<const CompareExpr&>(expr);
      visit(compare.first);
      for (const auto& [op, operand] : compare.rest)
        visit(operand);
      return;
    }
    case ExprKind::kArithmetic: {
      const auto& arithmetic = static_cast<const ArithmeticExpr&>(expr);
      visit(arithmetic.first);
      for (const auto& [op, operand] : arithmetic.rest)
        visit(operand);
      return;
    }
    case ExprKind::kConcat:
      for (Expr* part : static_cast<const ConcatExpr&>(expr).parts)
        visit(part);
      return;
    case ExprKind::kUnary:
      return visit(static_cast<const UnaryExpr&>(expr).operand);
    case ExprKind::kAttribute:
      return visit(static_cast<const AttributeExpr&>(expr).target);
    case ExprKind::kItem: {
      const auto& item = static_cast<const ItemExpr&>(expr);
      visit(item.target);
      visit(item.key);
      return;
    }
    case ExprKind::kSlice: {
      const auto& slice = static_cast<const SliceExpr&>(expr);
      visit(slice.target);
      for (Expr* bound : {slice.start, slice.stop, slice.step}) {
        if (bound) visit(bound);
      }
      return;
    }
    case ExprKind::kCall: {
      const auto& call = static_cast<const CallExpr&>(expr);
      visit(call.callee);
      return forArguments(call.arguments, visit);
    }
    case ExprKind::kFilter:
    case ExprKind::kTest: {
      const auto& native = static_cast<const NativeExpr&>(expr);
      visit(native.target);
      return forArguments(native.arguments, visit);
    }
  }
}

}  // namespace tandem::jinja
