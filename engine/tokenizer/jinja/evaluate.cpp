// The expression half of Interpreter.
#include "engine/tokenizer/jinja/attributes.h"
#include "engine/tokenizer/jinja/interpreter.h"
#include "engine/tokenizer/jinja/iteration.h"
#include "engine/tokenizer/jinja/operators.h"
#include "engine/tokenizer/jinja/text.h"

namespace tandem::jinja {
namespace {

[[noreturn]] void failNotCallable(const Value& callee) {
  failType(std::string("'") + typeName(callee) + "' object is not callable");
}

Value callJoiner(Runtime& runtime, Joiner& joiner, const Arguments& arguments) {
  positionalOnly("joiner", arguments, 0, 0);
  const bool first = !joiner.used;
  joiner.used = true;
  return first ? runtime.data("") : joiner.separator;
}

}  // namespace

Value Interpreter::evaluate(const Expr& expr, Activation& activation) {
  runtime_.budget.spend(1);
  const DepthGuard guard(runtime_.budget);
  switch (expr.kind) {
    case ExprKind::kConst:
      return static_cast<const ConstExpr&>(expr).value;
    case ExprKind::kName:
      return evaluateName(static_cast<const NameExpr&>(expr), activation);
    case ExprKind::kCaptured:
      return captured_;
    case ExprKind::kSequence:
      return evaluateSequence(static_cast<const SequenceExpr&>(expr), activation);
    case ExprKind::kDict:
      return evaluateDict(static_cast<const DictExpr&>(expr), activation);
    case ExprKind::kCondition:
      return evaluateCondition(static_cast<const ConditionExpr&>(expr), activation);
    case ExprKind::kLogic:
      return evaluateLogic(static_cast<const LogicExpr&>(expr), activation);
    case ExprKind::kCompare:
      return evaluateCompare(static_cast<const CompareExpr&>(expr), activation);
    case ExprKind::kArithmetic:
      return evaluateArithmetic(static_cast<const ArithmeticExpr&>(expr), activation);
    case ExprKind::kConcat:
      return evaluateConcat(static_cast<const ConcatExpr&>(expr), activation);
    case ExprKind::kUnary:
      return evaluateUnary(static_cast<const UnaryExpr&>(expr), activation);
    case ExprKind::kAttribute:
      return evaluateAttribute(static_cast<const AttributeExpr&>(expr), activation);
    case ExprKind::kItem:
      return evaluateItem(static_cast<const ItemExpr&>(expr), activation);
    case ExprKind::kSlice:
      return evaluateSlice(static_cast<const SliceExpr&>(expr), activation);
    case ExprKind::kCall:
      return evaluateCall(static_cast<const CallExpr&>(expr), {}, activation);
    case ExprKind::kFilter:
    case ExprKind::kTest:
      return evaluateNative(static_cast<const NativeExpr&>(expr), activation);
  }
  return {};
}

Value Interpreter::evaluateName(const NameExpr& expr, Activation& activation) {
  const Value& value = activation.at(expr.ref);
  return value.isMissing() ? runtime_.undefinedName(expr.name) : value;
}

Value Interpreter::evaluateSequence(const SequenceExpr& expr, Activation& activation) {
  std::vector<Value> items;
  items.reserve(expr.items.size());
  for (const Expr* item : expr.items)
    items.push_back(evaluate(*item, activation));
  return expr.sequence == Kind::kList ? runtime_.arena.list(std::move(items))
                                      : runtime_.arena.tuple(std::move(items));
}

Value Interpreter::evaluateDict(const DictExpr& expr, Activation& activation) {
  auto* dict = runtime_.arena.make<Dict>();
  for (const auto& [key, value] : expr.items) {
    runtime_.budget.spendBytes(sizeof(Dict::Entry));
    const Value name = evaluate(*key, activation);
    dict->set(runtime_.budget, name, evaluate(*value, activation));
  }
  return Value(dict);
}

Value Interpreter::evaluateCondition(const ConditionExpr& expr, Activation& activation) {
  if (truthy(evaluate(*expr.test, activation))) return evaluate(*expr.then, activation);
  if (expr.otherwise) return evaluate(*expr.otherwise, activation);
  return runtime_.undefinedHint(
      "the inline if-expression evaluated to false and no else section was defined.");
}

Value Interpreter::evaluateLogic(const LogicExpr& expr, Activation& activation) {
  Value value;
  for (const Expr* operand : expr.operands) {
    value = evaluate(*operand, activation);
    if (truthy(value) != expr.isAnd) break;
  }
  return value;
}

Value Interpreter::evaluateCompare(const CompareExpr& expr, Activation& activation) {
  Value left = evaluate(*expr.first, activation);
  for (const auto& [op, operand] : expr.rest) {
    const Value right = evaluate(*operand, activation);
    if (!compare(runtime_, op, left, right)) return Value::boolean(false);
    left = right;
  }
  return Value::boolean(true);
}

Value Interpreter::evaluateArithmetic(const ArithmeticExpr& expr, Activation& activation) {
  Value left = evaluate(*expr.first, activation);
  for (const auto& [op, operand] : expr.rest)
    left = arithmetic(runtime_, op, left, evaluate(*operand, activation));
  return left;
}

Value Interpreter::evaluateConcat(const ConcatExpr& expr, Activation& activation) {
  TaggedText joined;
  for (const Expr* part : expr.parts)
    joined.append(toText(runtime_, evaluate(*part, activation)));
  return runtime_.text(std::move(joined));
}

Value Interpreter::evaluateUnary(const UnaryExpr& expr, Activation& activation) {
  const Value operand = evaluate(*expr.operand, activation);
  switch (expr.op) {
    case UnaryExpr::Op::kNot:
      return Value::boolean(!truthy(operand));
    case UnaryExpr::Op::kNegate:
      return negate(operand);
    case UnaryExpr::Op::kPositive:
      return positive(operand);
  }
  return {};
}

Value Interpreter::evaluateAttribute(const AttributeExpr& expr, Activation& activation) {
  return getAttribute(runtime_, evaluate(*expr.target, activation), expr.name);
}

Value Interpreter::evaluateItem(const ItemExpr& expr, Activation& activation) {
  const Value target = evaluate(*expr.target, activation);
  return getItem(runtime_, target, evaluate(*expr.key, activation));
}

Value Interpreter::evaluateSlice(const SliceExpr& expr, Activation& activation) {
  const Value target = evaluate(*expr.target, activation);
  const auto bound = [&](const Expr* node) { return node ? evaluate(*node, activation) : Value::none(); };
  const Value start = bound(expr.start);
  const Value stop = bound(expr.stop);
  return slice(runtime_, target, start, stop, bound(expr.step));
}

Arguments Interpreter::evaluateArguments(const CallArguments& given, Activation& activation) {
  Arguments arguments;
  arguments.positional.reserve(given.positional.size());
  for (const Expr* argument : given.positional)
    arguments.positional.push_back(evaluate(*argument, activation));
  if (given.star) {
    const std::vector<Value> more = collect(runtime_, evaluate(*given.star, activation));
    arguments.positional.insert(arguments.positional.end(), more.begin(), more.end());
  }
  for (const auto& [name, value] : given.keywords)
    arguments.keywords.emplace_back(name, evaluate(*value, activation));
  if (given.doubleStar) {
    const Value more = evaluate(*given.doubleStar, activation);
    if (!more.is(Kind::kDict)) failType("argument after ** must be a mapping");
    // The named ones of the call are few; those of the dictionary are unique among themselves.
    const std::size_t named = arguments.keywords.size();
    for (const auto& [name, value] : more.asDict().entries()) {
      if (!name.isString()) failType("keywords must be strings");
      for (std::size_t i = 0; i < named; ++i) {
        if (equal(runtime_.budget, arguments.keywords[i].first, name))
          failType("got multiple values for an argument");
      }
      runtime_.budget.spendBytes(2 * sizeof(Value));
      arguments.keywords.emplace_back(name, value);
    }
  }
  return arguments;
}

Value Interpreter::evaluateNative(const NativeExpr& expr, Activation& activation) {
  const Value self = evaluate(*expr.target, activation);
  const Arguments arguments = evaluateArguments(expr.arguments, activation);
  if (!expr.call) {
    const bool isFilter = expr.kind == ExprKind::kFilter;
    failType(std::string("No ") + (isFilter ? "filter" : "test") + " named '" + expr.name + "' found.");
  }
  return expr.call(runtime_, self, arguments);
}

// `caller` is what a call block passes along, or missing.
Value Interpreter::evaluateCall(const CallExpr& expr, const Value& caller, Activation& activation) {
  const Value callee = evaluate(*expr.callee, activation);
  Arguments arguments = evaluateArguments(expr.arguments, activation);
  if (!caller.isMissing()) {
    if (!arguments.takeKeyword("caller").isMissing())
      failType("got multiple values for the argument 'caller'");
    static const String kCaller(TaggedText("caller", true), false);
    arguments.keywords.emplace_back(Value(&kCaller), caller);
  }
  return call(callee, std::move(arguments));
}

Value Interpreter::call(const Value& callee, Arguments&& arguments) {
  switch (callee.kind()) {
    case Kind::kFunction:
      return callee.as<Function>().call(runtime_, callee.as<Function>().self, arguments);
    case Kind::kMacro:
      return callMacro(callee.as<Macro>(), std::move(arguments));
    case Kind::kUndefined:
      callee.as<Undefined>().raise();
    case Kind::kJoiner:
      return callJoiner(runtime_, callee.asMutable<Joiner>(), arguments);
    case Kind::kLoop:
      failType("The loop must have the 'recursive' marker to be called recursively.");
    default:
      failNotCallable(callee);
  }
}

Value Interpreter::callMacro(const Macro& macro, Arguments&& arguments) {
  const DepthGuard guard(runtime_.budget, kMacroDepth);
  const MacroCode& code = *macro.code;
  Activation* activation = makeActivation(runtime_, code.scope, macro.closure);
  enterFrame(code.frame, *activation);
  takeArguments(runtime_, macro, std::move(arguments), *activation);
  for (const MacroCode::Parameter& parameter : code.parameters) {
    Value& slot = activation->at(parameter.ref);
    if (slot.isMissing() && parameter.fallback) slot = evaluate(*parameter.fallback, *activation);
  }
  Capture capture(out_);
  runBlock(code.body, *activation);
  return runtime_.text(capture.take());
}

}  // namespace tandem::jinja
