#include "engine/tokenizer/jinja/parser.h"

#include <algorithm>
#include <initializer_list>

#include "engine/tokenizer/jinja/expression_parser.h"

namespace tandem::jinja {
namespace {

class StatementParser : private ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  void run() {
    program_.body = parseBlock({});
    if (current().type != TokenType::kEnd) failUnexpected();
  }

 private:
  using EndNames = std::initializer_list<std::string_view>;

  template <class T>
  T* make() {
    return program_.make<T>(current().line);
  }

  // Text, prints and statements up to a tag that starts with one of `ends`, whose opening is taken; with no
  // ends up to the end of the template.
  Block parseBlock(EndNames ends) {
    const DepthGuard guard(nesting_, kMaxNesting);
    Block block;
    while (current().type != TokenType::kEnd) {
      switch (current().type) {
        case TokenType::kText: {
          auto* text = make<TextStmt>();
          text->text = program_.constants.string(take().text, true);
          block.push_back(text);
          break;
        }
        case TokenType::kPrintBegin: {
          take();
          auto* print = make<PrintStmt>();
          print->value = parseTuple(true, "", false);
          expect(TokenType::kPrintEnd);
          block.push_back(print);
          break;
        }
        case TokenType::kBlockBegin:
          take();
          if (std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return atName(end); }))
            return block;
          parseStatement(block);
          expect(TokenType::kBlockEnd);
          break;
        default:
          failUnexpected();
      }
    }
    if (ends.size() != 0)
      failHere("unexpected end of template, '" + std::string(*ends.begin()) + "' is missing");
    return block;
  }

  // The body of a statement: the end of its own tag, then a block.
  Block parseBody(EndNames ends) {
    skipOperator(":");
    expect(TokenType::kBlockEnd);
    return parseBlock(ends);
  }
  Block parseLastBody(std::string_view end) {
    Block body = parseBody({end});
    take();
    return body;
  }

  void parseStatement(Block& block) {
    if (current().type != TokenType::kName) failHere("tag name expected");
    const std::string tag = current().text;
    if (tag == "for")
      block.push_back(parseFor());
    else if (tag == "if")
      block.push_back(parseIf());
    else if (tag == "set")
      block.push_back(parseSet());
    else if (tag == "macro")
      block.push_back(parseMacro());
    else if (tag == "call")
      block.push_back(parseCallBlock());
    else if (tag == "filter")
      block.push_back(parseFilterBlock());
    else if (tag == "with")
      block.push_back(parseWith());
    else if (tag == "generation")
      block.push_back(parseGeneration());
    else if (tag == "print")
      parsePrint(block);
    else if (tag == "break" || tag == "continue")
      block.push_back(parseLoopControl());
    else
      failTag(tag);
  }

  [[noreturn]] void failTag(const std::string& tag) {
    for (const std::string_view known : {"block", "extends", "include", "import", "from", "autoescape"}) {
      if (tag == known) failHere("the tag '" + tag + "' is not supported in chat templates");
    }
    failHere("encountered unknown tag '" + tag + "'");
  }

  Stmt* parseFor() {
    auto* loop = make<ForStmt>();
    take();
    loop->target = parseTarget("in", false);
    loop->testTarget = loop->target;
    expectName("in");
    loop->iterable = parseTuple(false, "recursive", false);
    if (skipName("if")) loop->test = parseExpression();
    if (atName("recursive")) failHere("recursive loops are not supported in chat templates");
    ++loopDepth_;
    loop->body = parseBody({"endfor", "else"});
    --loopDepth_;
    if (skipName("else"))
      loop->otherwise = parseLastBody("endfor");
    else
      take();  // the endfor
    return loop;
  }

  Stmt* parseIf() {
    auto* node = make<IfStmt>();
    take();
    while (true) {
      Expr* test = parseTuple(false, "", false);
      Block body = parseBody({"elif", "else", "endif"});
      node->branches.emplace_back(test, std::move(body));
      if (skipName("elif")) continue;
      if (skipName("else"))
        node->otherwise = parseLastBody("endif");
      else
        take();  // the endif
      return node;
    }
  }

  Stmt* parseSet() {
    const int line = take().line;
    Target target = parseTarget("", true);
    if (skipOperator("=")) {
      auto* set = program_.make<SetStmt>(line);
      set->target = std::move(target);
      set->value = parseTuple(true, "", false);
      return set;
    }
    auto* set = program_.make<SetBlockStmt>(line);
    set->target = std::move(target);
    if (atOperator("|")) set->filter = parseCapturedFilters(false);
    set->body = parseLastBody("endset");
    return set;
  }

  void parseParameters(MacroCode& code) {
    expectOperator("(");
    while (!atOperator(")")) {
      if (!code.parameters.empty()) expectOperator(",");
      MacroCode::Parameter parameter;
      parameter.name = parseTargetName();
      const bool mustHaveDefault = !code.parameters.empty() && code.parameters.back().fallback;
      if (skipOperator("="))
        parameter.fallback = parseExpression();
      else if (mustHaveDefault)
        failHere("non-default argument follows default argument");
      for (const MacroCode::Parameter& other : code.parameters) {
        if (equalNames(other.name, parameter.name)) failHere("a parameter is named twice");
      }
      code.parameters.push_back(parameter);
    }
    expectOperator(")");
  }

  static bool equalNames(const Value& a, const Value& b) {
    return a.asString().view() == b.asString().view();
  }

  // A function's body: a loop outside of it cannot be left from inside.
  Block parseFunctionBody(std::string_view end) {
    const int outer = loopDepth_;
    loopDepth_ = 0;
    Block body = parseLastBody(end);
    loopDepth_ = outer;
    return body;
  }

  Stmt* parseMacro() {
    auto* macro = make<MacroStmt>();
    take();
    macro->code.name = parseTargetName();
    parseParameters(macro->code);
    macro->code.body = parseFunctionBody("endmacro");
    return macro;
  }

  Stmt* parseCallBlock() {
    auto* block = make<CallBlockStmt>();
    take();
    if (atOperator("(")) parseParameters(block->body);
    Expr* call = parseExpression();
    if (call->kind != ExprKind::kCall) failHere("expected call");
    block->call = static_cast<CallExpr*>(call);
    block->body.body = parseFunctionBody("endcall");
    return block;
  }

  Stmt* parseFilterBlock() {
    auto* block = make<FilterBlockStmt>();
    take();
    block->filter = parseCapturedFilters(true);
    block->body = parseLastBody("endfilter");
    return block;
  }

  Stmt* parseGeneration() {
    auto* block = make<GenerationStmt>();
    take();
    block->body.body = parseFunctionBody("endgeneration");
    return block;
  }

  Stmt* parseWith() {
    auto* with = make<WithStmt>();
    take();
    while (current().type != TokenType::kBlockEnd) {
      if (!with->targets.empty()) expectOperator(",");
      with->targets.push_back(parseTarget("", false));
      expectOperator("=");
      with->values.push_back(parseExpression());
    }
    with->body = parseLastBody("endwith");
    return with;
  }

  void parsePrint(Block& block) {
    take();
    for (bool first = true; current().type != TokenType::kBlockEnd; first = false) {
      if (!first) expectOperator(",");
      auto* print = make<PrintStmt>();
      print->value = parseExpression();
      block.push_back(print);
    }
  }

  Stmt* parseLoopControl() {
    if (loopDepth_ == 0) failHere("'" + current().text + "' outside of a loop");
    if (atName("break")) {
      auto* node = make<BreakStmt>();
      take();
      return node;
    }
    auto* node = make<ContinueStmt>();
    take();
    return node;
  }

  int loopDepth_ = 0;
};

}  // namespace

std::unique_ptr<Program> parseTemplate(std::string_view source) {
  if (source.size() > kMaxSourceBytes) fail(FailureKind::kBudget, "its source is too long");
  auto program = std::make_unique<Program>();
  StatementParser(*program, tokenize(source)).run();
  return program;
}

}  // namespace tandem::jinja
