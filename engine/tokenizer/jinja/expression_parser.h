// Reads expressions from tokens, with the precedence and the quirks of Jinja's own parser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/tokenizer/jinja/ast.h"
#include "engine/tokenizer/jinja/lexer.h"

namespace tandem::jinja {

class ExpressionParser {
 public:
  ExpressionParser(Program& program, std::vector<Token> tokens)
      : program_(program), tokens_(std::move(tokens)) {}

  // --- The token stream ---
  const Token& current() const { return tokens_[position_]; }
  const Token& look() const { return tokens_[std::min(position_ + 1, tokens_.size() - 1)]; }
  Token take();
  bool atOperator(std::string_view op) const { return isOperator(current(), op); }
  bool atName(std::string_view name) const { return isName(current(), name); }
  bool skipOperator(std::string_view op);
  bool skipName(std::string_view name);
  void expectOperator(std::string_view op);
  void expectName(std::string_view name);
  std::string expectAnyName();
  void expect(TokenType type);
  [[noreturn]] void failHere(std::string message) const;
  [[noreturn]] void failUnexpected() const;

  // --- Expressions ---
  // With `conditional` unset, "a if b" ends before the "if".
  Expr* parseExpression(bool conditional = true);
  // One or more expressions; with commas they are a tuple. `endName` also ends it ("in", "recursive").
  Expr* parseTuple(bool conditional, std::string_view endName, bool parenthesized);
  // A chain of filters applied to `base`; `inlineStart` reads the first one without its "|".
  Expr* parseFilters(Expr* base, bool inlineStart);
  Expr* parseCapturedFilters(bool inlineStart);

  // What can be assigned to. Attributes of namespaces only where `attributes` is set.
  Target parseTarget(std::string_view endName, bool attributes);
  Value parseTargetName();

 protected:
  static bool isOperator(const Token& token, std::string_view op) {
    return token.type == TokenType::kOperator && token.text == op;
  }
  static bool isName(const Token& token, std::string_view name) {
    return token.type == TokenType::kName && token.text == name;
  }
  Value constantText(std::string_view text);

  Program& program_;
  int nesting_ = 0;

 private:
  template <class T>
  T* make() {
    return program_.make<T>(current().line);
  }
  // Notes that `child` hangs below `parent`, and fails when the tree grows too deep.
  void hang(Expr* parent, const Expr* child) const;

  bool atTupleEnd(std::string_view endName) const;
  // The level of the operator at the current token, or 0; higher binds tighter.
  int operatorLevel() const;
  Expr* parseOperators(int lowest);
  Expr* parseChain(int level, Expr* first);
  Comparison takeComparison();
  Expr* parseNot();
  Expr* parseUnary(bool withFilters);
  Expr* parsePrimary();
  Expr* parseNumber();
  Expr* parseStrings();
  Expr* parseList();
  Expr* parseDict();
  Expr* parsePostfix(Expr* base);
  Expr* parseFilterOrTest(Expr* base);
  Expr* parseSubscript(Expr* base);
  Expr* parseSliceOrItem(Expr* base);
  Expr* parseCall(Expr* callee);
  Expr* parseTest(Expr* base);
  CallArguments parseArguments(Expr* owner);
  std::string parseDottedName();
  Target parseSimpleTarget(bool attributes);

  std::vector<Token> tokens_;
  std::size_t position_ = 0;
};

}  // namespace tandem::jinja
