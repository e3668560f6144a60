#include "engine/tokenizer/jinja/expression_parser.h"

#include <algorithm>
#include <charconv>

#include "engine/tokenizer/jinja/numbers.h"

namespace tandem::jinja {
namespace {

// Levels of binary operators; `not` stands between `and` and the comparisons.
constexpr int kOr = 1, kAnd = 2, kNot = 3, kCompare = 4, kAdd = 5, kConcat = 6, kMultiply = 7, kPower = 8;

bool isConstantName(std::string_view name) {
  return name == "true" || name == "false" || name == "True" || name == "False" || name == "none" ||
         name == "None";
}

Arithmetic arithmeticOf(std::string_view op) {
  if (op == "+") return Arithmetic::kAdd;
  if (op == "-") return Arithmetic::kSubtract;
  if (op == "*") return Arithmetic::kMultiply;
  if (op == "/") return Arithmetic::kDivide;
  if (op == "//") return Arithmetic::kFloorDivide;
  return op == "%" ? Arithmetic::kModulo : Arithmetic::kPower;
}

}  // namespace

Token ExpressionParser::take() {
  Token token = tokens_[position_];
  if (position_ + 1 < tokens_.size()) ++position_;
  return token;
}

bool ExpressionParser::skipOperator(std::string_view op) {
  const bool found = atOperator(op);
  if (found) take();
  return found;
}

bool ExpressionParser::skipName(std::string_view name) {
  const bool found = atName(name);
  if (found) take();
  return found;
}

void ExpressionParser::expectOperator(std::string_view op) {
  if (!skipOperator(op)) failHere("expected '" + std::string(op) + "'");
}

void ExpressionParser::expectName(std::string_view name) {
  if (!skipName(name)) failHere("expected '" + std::string(name) + "'");
}

std::string ExpressionParser::expectAnyName() {
  if (current().type != TokenType::kName) failHere("expected a name");
  return take().text;
}

void ExpressionParser::expect(TokenType type) {
  if (current().type != type) failUnexpected();
  take();
}

void ExpressionParser::failHere(std::string message) const {
  fail(FailureKind::kSyntax, std::move(message), current().line);
}

void ExpressionParser::failUnexpected() const {
  switch (current().type) {
    case TokenType::kEnd:
      failHere("unexpected end of template");
    case TokenType::kPrintEnd:
    case TokenType::kBlockEnd:
      failHere("unexpected end of tag");
    default:
      failHere("unexpected '" + current().text + "'");
  }
}

Value ExpressionParser::constantText(std::string_view text) {
  return program_.constants.string(text, true);
}

void ExpressionParser::hang(Expr* parent, const Expr* child) const {
  parent->depth = std::max(parent->depth, child->depth + 1);
  if (parent->depth > kMaxTreeDepth) fail(FailureKind::kBudget, "it is nested too deeply", current().line);
}

Expr* ExpressionParser::parseExpression(bool conditional) {
  const DepthGuard guard(nesting_, kMaxNesting);
  Expr* expr = parseOperators(kOr);
  while (conditional && skipName("if")) {
    auto* condition = make<ConditionExpr>();
    condition->then = expr;
    condition->test = parseOperators(kOr);
    if (skipName("else")) condition->otherwise = parseExpression();
    hang(condition, condition->then);
    hang(condition, condition->test);
    if (condition->otherwise) hang(condition, condition->otherwise);
    expr = condition;
  }
  return expr;
}

int ExpressionParser::operatorLevel() const {
  const Token& token = current();
  if (token.type == TokenType::kName) {
    if (token.text == "or") return kOr;
    if (token.text == "and") return kAnd;
    return token.text == "in" || (token.text == "not" && isName(look(), "in")) ? kCompare : 0;
  }
  if (token.type != TokenType::kOperator) return 0;
  const std::string& op = token.text;
  if (op == "==" || op == "!=" || op == "<" || op == "<=" || op == ">" || op == ">=") return kCompare;
  if (op == "+" || op == "-") return kAdd;
  if (op == "~") return kConcat;
  if (op == "*" || op == "/" || op == "//" || op == "%") return kMultiply;
  return op == "**" ? kPower : 0;
}

Expr* ExpressionParser::parseOperators(int lowest) {
  Expr* left = lowest <= kNot && atName("not") ? parseNot() : parseUnary(true);
  for (int level = operatorLevel(); level != 0 && level >= lowest; level = operatorLevel()) {
    left = parseChain(level, left);
  }
  return left;
}

// All operators of one level in a row make one node.
Expr* ExpressionParser::parseChain(int level, Expr* first) {
  const auto operand = [&](Expr* parent) {
    Expr* right = parseOperators(level + 1);
    hang(parent, right);
    return right;
  };
  if (level == kOr || level == kAnd) {
    auto* logic = make<LogicExpr>();
    logic->isAnd = level == kAnd;
    logic->operands.push_back(first);
    hang(logic, first);
    while (operatorLevel() == level) {
      take();
      logic->operands.push_back(operand(logic));
    }
    return logic;
  }
  if (level == kCompare) {
    auto* compare = make<CompareExpr>();
    compare->first = first;
    hang(compare, first);
    while (operatorLevel() == level) {
      const Comparison op = takeComparison();
      compare->rest.emplace_back(op, operand(compare));
    }
    return compare;
  }
  if (level == kConcat) {
    auto* concat = make<ConcatExpr>();
    concat->parts.push_back(first);
    hang(concat, first);
    while (operatorLevel() == level) {
      take();
      concat->parts.push_back(operand(concat));
    }
    return concat;
  }
  auto* arithmetic = make<ArithmeticExpr>();
  arithmetic->first = first;
  hang(arithmetic, first);
  while (operatorLevel() == level) {
    const Arithmetic op = arithmeticOf(take().text);
    arithmetic->rest.emplace_back(op, operand(arithmetic));
  }
  return arithmetic;
}

Comparison ExpressionParser::takeComparison() {
  const std::string op = take().text;
  if (op == "==") return Comparison::kEqual;
  if (op == "!=") return Comparison::kNotEqual;
  if (op == "<") return Comparison::kLess;
  if (op == "<=") return Comparison::kLessEqual;
  if (op == ">") return Comparison::kGreater;
  if (op == ">=") return Comparison::kGreaterEqual;
  if (op == "in") return Comparison::kIn;
  take();  // the "in" of "not in"
  return Comparison::kNotIn;
}

Expr* ExpressionParser::parseNot() {
  const DepthGuard guard(nesting_, kMaxNesting);
  auto* unary = make<UnaryExpr>();
  take();
  unary->operand = parseOperators(kNot);
  hang(unary, unary->operand);
  return unary;
}

Expr* ExpressionParser::parseUnary(bool withFilters) {
  Expr* expr = nullptr;
  if (atOperator("-") || atOperator("+")) {
    const DepthGuard guard(nesting_, kMaxNesting);
    auto* unary = make<UnaryExpr>();
    unary->op = take().text == "-" ? UnaryExpr::Op::kNegate : UnaryExpr::Op::kPositive;
    unary->operand = parseUnary(false);
    hang(unary, unary->operand);
    expr = unary;
  } else {
    expr = parsePrimary();
  }
  expr = parsePostfix(expr);
  return withFilters ? parseFilterOrTest(expr) : expr;
}

Expr* ExpressionParser::parsePrimary() {
  const Token& token = current();
  switch (token.type) {
    case TokenType::kName: {
      if (isConstantName(token.text)) {
        auto* constant = make<ConstExpr>();
        const char first = take().text[0];
        if (first == 't' || first == 'T')
          constant->value = Value::boolean(true, true);
        else if (first == 'f' || first == 'F')
          constant->value = Value::boolean(false, true);
        else
          constant->value = Value::none();
        return constant;
      }
      auto* name = make<NameExpr>();
      name->name = constantText(take().text);
      return name;
    }
    case TokenType::kString:
      return parseStrings();
    case TokenType::kInteger:
    case TokenType::kFloat:
      return parseNumber();
    case TokenType::kOperator:
      if (token.text == "(") {
        take();
        Expr* inside = parseTuple(true, "", true);
        expectOperator(")");
        return inside;
      }
      if (token.text == "[") return parseList();
      if (token.text == "{") return parseDict();
      [[fallthrough]];
    default:
      failUnexpected();
  }
}

Expr* ExpressionParser::parseNumber() {
  auto* constant = make<ConstExpr>();
  const Token token = take();
  if (token.type == TokenType::kFloat) {
    constant->value = Value::real(parseFloat(token.text).value_or(0), true);
    return constant;
  }
  constant->value = Value::integer(parseInteger(token.text, 0).value_or(0), true);
  return constant;
}

Expr* ExpressionParser::parseStrings() {
  auto* constant = make<ConstExpr>();
  std::string text;
  while (current().type == TokenType::kString)
    text += take().text;
  constant->value = constantText(text);
  return constant;
}

Expr* ExpressionParser::parseList() {
  auto* list = make<SequenceExpr>();
  take();
  while (!atOperator("]")) {
    if (!list->items.empty()) expectOperator(",");
    if (atOperator("]")) break;
    list->items.push_back(parseExpression());
    hang(list, list->items.back());
  }
  expectOperator("]");
  return list;
}

Expr* ExpressionParser::parseDict() {
  auto* dict = make<DictExpr>();
  take();
  while (!atOperator("}")) {
    if (!dict->items.empty()) expectOperator(",");
    if (atOperator("}")) break;
    Expr* key = parseExpression();
    expectOperator(":");
    Expr* value = parseExpression();
    hang(dict, key);
    hang(dict, value);
    dict->items.emplace_back(key, value);
  }
  expectOperator("}");
  return dict;
}

bool ExpressionParser::atTupleEnd(std::string_view endName) const {
  const TokenType type = current().type;
  return type == TokenType::kPrintEnd || type == TokenType::kBlockEnd || atOperator(")") ||
         (!endName.empty() && atName(endName));
}

Expr* ExpressionParser::parseTuple(bool conditional, std::string_view endName, bool parenthesized) {
  auto* tuple = make<SequenceExpr>();
  tuple->sequence = Kind::kTuple;
  bool isTuple = false;
  while (true) {
    if (!tuple->items.empty()) expectOperator(",");
    if (atTupleEnd(endName)) break;
    tuple->items.push_back(parseExpression(conditional));
    if (!atOperator(",")) break;
    isTuple = true;
  }
  if (!isTuple && !tuple->items.empty()) return tuple->items.front();
  if (!isTuple && !parenthesized) failHere("expected an expression");
  for (const Expr* item : tuple->items)
    hang(tuple, item);
  return tuple;
}

Value ExpressionParser::parseTargetName() {
  if (current().type != TokenType::kName) failHere("expected a name");
  if (isConstantName(current().text)) failHere("can't assign to '" + current().text + "'");
  return constantText(take().text);
}

Target ExpressionParser::parseSimpleTarget(bool attributes) {
  if (atOperator("(")) {
    const DepthGuard guard(nesting_, kMaxNesting);
    take();
    Target target = parseTarget("", attributes);
    expectOperator(")");
    return target;
  }
  Target target;
  target.name = parseTargetName();
  if (attributes && skipOperator(".")) {
    target.form = Target::Form::kAttribute;
    target.attribute = constantText(expectAnyName());
  }
  return target;
}

Target ExpressionParser::parseTarget(std::string_view endName, bool attributes) {
  Target tuple;
  tuple.form = Target::Form::kTuple;
  bool isTuple = false;
  while (true) {
    if (!tuple.items.empty()) expectOperator(",");
    if (atTupleEnd(endName)) break;
    tuple.items.push_back(parseSimpleTarget(attributes));
    if (!atOperator(",")) break;
    isTuple = true;
  }
  if (tuple.items.empty()) failHere("expected a name to assign to");
  if (!isTuple) return Target(tuple.items.front());
  return tuple;
}

}  // namespace tandem::jinja
