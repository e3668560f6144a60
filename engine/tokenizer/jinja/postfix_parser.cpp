// What can follow a value in an expression: attributes, subscripts, calls, filters and tests.
#include "engine/tokenizer/jinja/builtins.h"
#include "engine/tokenizer/jinja/expression_parser.h"

namespace tandem::jinja {

Expr* ExpressionParser::parsePostfix(Expr* base) {
  while (true) {
    if (atOperator(".") || atOperator("["))
      base = parseSubscript(base);
    else if (atOperator("("))
      base = parseCall(base);
    else
      return base;
  }
}

Expr* ExpressionParser::parseFilterOrTest(Expr* base) {
  while (true) {
    if (atOperator("|"))
      base = parseFilters(base, false);
    else if (atName("is"))
      base = parseTest(base);
    else if (atOperator("("))
      base = parseCall(base);
    else
      return base;
  }
}

Expr* ExpressionParser::parseSubscript(Expr* base) {
  if (!skipOperator(".")) return parseSliceOrItem(base);
  if (current().type == TokenType::kName) {
    auto* attribute = make<AttributeExpr>();
    attribute->target = base;
    attribute->name = constantText(take().text);
    hang(attribute, base);
    return attribute;
  }
  if (current().type != TokenType::kInteger) failHere("expected a name or number");
  auto* item = make<ItemExpr>();
  item->target = base;
  item->key = parseNumber();
  hang(item, base);
  return item;
}

Expr* ExpressionParser::parseSliceOrItem(Expr* base) {
  expectOperator("[");
  const auto atEnd = [&] { return atOperator("]") || atOperator(":"); };
  Expr* first = atEnd() ? nullptr : parseTuple(true, "", false);
  if (first && !atOperator(":")) {
    auto* item = make<ItemExpr>();
    item->target = base;
    item->key = first;
    hang(item, base);
    hang(item, first);
    expectOperator("]");
    return item;
  }
  auto* slice = make<SliceExpr>();
  slice->target = base;
  slice->start = first;
  expectOperator(":");
  if (!atEnd()) slice->stop = parseExpression();
  if (skipOperator(":") && !atEnd()) slice->step = parseExpression();
  expectOperator("]");
  hang(slice, base);
  for (const Expr* bound : {slice->start, slice->stop, slice->step}) {
    if (bound) hang(slice, bound);
  }
  return slice;
}

Expr* ExpressionParser::parseCall(Expr* callee) {
  auto* call = make<CallExpr>();
  call->callee = callee;
  hang(call, callee);
  call->arguments = parseArguments(call);
  return call;
}

CallArguments ExpressionParser::parseArguments(Expr* owner) {
  CallArguments arguments;
  const auto ensure = [&](bool valid) {
    if (!valid) failHere("invalid syntax for function call expression");
  };
  expectOperator("(");
  for (bool first = true; !atOperator(")"); first = false) {
    if (!first) {
      expectOperator(",");
      if (atOperator(")")) break;
    }
    Expr* value = nullptr;
    if (skipOperator("*")) {
      ensure(!arguments.star && !arguments.doubleStar);
      value = arguments.star = parseExpression();
    } else if (skipOperator("**")) {
      ensure(!arguments.doubleStar);
      value = arguments.doubleStar = parseExpression();
    } else if (current().type == TokenType::kName && isOperator(look(), "=")) {
      ensure(!arguments.doubleStar);
      const std::string name = take().text;
      take();
      for (const auto& keyword : arguments.keywords)
        ensure(keyword.first.asString().view() != name);
      value = parseExpression();
      arguments.keywords.emplace_back(constantText(name), value);
    } else {
      ensure(!arguments.star && !arguments.doubleStar && arguments.keywords.empty());
      value = parseExpression();
      arguments.positional.push_back(value);
    }
    hang(owner, value);
  }
  expectOperator(")");
  return arguments;
}

std::string ExpressionParser::parseDottedName() {
  std::string name = expectAnyName();
  while (skipOperator("."))
    name += "." + expectAnyName();
  return name;
}

Expr* ExpressionParser::parseFilters(Expr* base, bool inlineStart) {
  while (inlineStart || skipOperator("|")) {
    inlineStart = false;
    auto* filter = program_.make<NativeExpr>(current().line, ExprKind::kFilter);
    filter->target = base;
    hang(filter, base);
    filter->name = parseDottedName();
    filter->call = findFilter(filter->name);
    if (atOperator("(")) filter->arguments = parseArguments(filter);
    base = filter;
  }
  return base;
}

Expr* ExpressionParser::parseCapturedFilters(bool inlineStart) {
  return parseFilters(make<CapturedExpr>(), inlineStart);
}

Expr* ExpressionParser::parseTest(Expr* base) {
  auto* test = program_.make<NativeExpr>(take().line, ExprKind::kTest);
  const bool negated = skipName("not");
  test->target = base;
  hang(test, base);
  test->name = parseDottedName();
  test->call = findTest(test->name);
  const TokenType type = current().type;
  const bool startsArgument = type == TokenType::kName || type == TokenType::kString ||
                              type == TokenType::kInteger || type == TokenType::kFloat || atOperator("[") ||
                              atOperator("{");
  if (atOperator("(")) {
    test->arguments = parseArguments(test);
  } else if (startsArgument && !atName("else") && !atName("or") && !atName("and")) {
    if (atName("is")) failHere("You cannot chain multiple tests with is");
    Expr* argument = parsePostfix(parsePrimary());
    hang(test, argument);
    test->arguments.positional.push_back(argument);
  }
  if (!negated) return test;
  auto* unary = make<UnaryExpr>();
  unary->operand = test;
  hang(unary, test);
  return unary;
}

}  // namespace tandem::jinja
