#include "engine/tokenizer/jinja/scope.h"

#include <algorithm>

#include "engine/tokenizer/jinja/ast_walk.h"
#include "engine/tokenizer/jinja/special_names.h"
#include "engine/tokenizer/jinja/symbols.h"

namespace tandem::jinja {
namespace {

// --- What a frame's text uses and assigns; stops where inner frames begin ---

void noteExpr(Symbols& symbols, Expr* expr) {
  if (expr->kind == ExprKind::kName) return symbols.load(static_cast<NameExpr*>(expr)->name);
  forChildren(*expr, [&symbols](Expr* child) { noteExpr(symbols, child); });
}

void noteTarget(Symbols& symbols, Target& target, bool asParameter) {
  switch (target.form) {
    case Target::Form::kAttribute:
      return symbols.load(target.name);
    case Target::Form::kTuple:
      for (Target& item : target.items)
        noteTarget(symbols, item, asParameter);
      return;
    case Target::Form::kName:
      if (asParameter)
        symbols.declareParameter(target.name);
      else
        symbols.store(target.name);
  }
}

void noteBlock(Symbols& symbols, const Block& block);

void noteIf(Symbols& symbols, IfStmt& node) {
  noteExpr(symbols, node.branches.front().first);
  // The tests of elif branches belong to their branches; all elifs share one.
  std::vector<Symbols> branches(3, symbols.branch());
  noteBlock(branches[0], node.branches.front().second);
  for (std::size_t i = 1; i < node.branches.size(); ++i) {
    noteExpr(branches[1], node.branches[i].first);
    Symbols elif = branches[1].branch();
    noteBlock(elif, node.branches[i].second);
    branches[1].join({elif});
  }
  noteBlock(branches[2], node.otherwise);
  symbols.join(branches);
}

void noteStmt(Symbols& symbols, Stmt* stmt) {
  switch (stmt->kind) {
    case StmtKind::kPrint:
      return noteExpr(symbols, static_cast<PrintStmt*>(stmt)->value);
    case StmtKind::kIf:
      return noteIf(symbols, *static_cast<IfStmt*>(stmt));
    case StmtKind::kFor:
      return noteExpr(symbols, static_cast<ForStmt*>(stmt)->iterable);
    case StmtKind::kMacro:
      return symbols.store(static_cast<MacroStmt*>(stmt)->code.name);
    case StmtKind::kCallBlock:
      return noteExpr(symbols, static_cast<CallBlockStmt*>(stmt)->call);
    case StmtKind::kFilterBlock:
      return noteExpr(symbols, static_cast<FilterBlockStmt*>(stmt)->filter);
    case StmtKind::kSet: {
      auto* set = static_cast<SetStmt*>(stmt);
      noteExpr(symbols, set->value);
      return noteTarget(symbols, set->target, false);
    }
    case StmtKind::kSetBlock:
      return noteTarget(symbols, static_cast<SetBlockStmt*>(stmt)->target, false);
    case StmtKind::kWith:
      for (Expr* value : static_cast<WithStmt*>(stmt)->values)
        noteExpr(symbols, value);
      return;
    case StmtKind::kText:
    case StmtKind::kGeneration:
    case StmtKind::kBreak:
    case StmtKind::kContinue:
      return;
  }
}

void noteBlock(Symbols& symbols, const Block& block) {
  for (Stmt* stmt : block)
    noteStmt(symbols, stmt);
}

// --- Filling in the references ---

class Resolver {
 public:
  explicit Resolver(Program& program) : program_(program) {}

  void run() {
    Symbols symbols(nullptr, &program_.scope);
    noteBlock(symbols, program_.body);
    block(symbols, program_.body, false);
    program_.frame = symbols.frame();
  }

 private:
  Value constant(std::string_view text) { return program_.constants.string(text, true); }

  // `soft` is whether an if or inline-if in the same frame may keep this from being reached.
  void expr(Symbols& symbols, Expr* node, bool soft) {
    if (node->kind == ExprKind::kName) {
      auto* name = static_cast<NameExpr*>(node);
      name->ref = symbols.refer(name->name);
      return;
    }
    if (node->kind == ExprKind::kFilter || node->kind == ExprKind::kTest) {
      const auto* native = static_cast<NativeExpr*>(node);
      if (!native->call && !soft) {
        const std::string what = node->kind == ExprKind::kFilter ? "filter" : "test";
        fail(FailureKind::kSyntax, "no " + what + " named '" + native->name + "'", node->line);
      }
    }
    const bool inner = soft || node->kind == ExprKind::kCondition;
    forChildren(*node, [&](Expr* child) { expr(symbols, child, inner); });
  }

  void target(Symbols& symbols, Target& node, int line) {
    if (node.form == Target::Form::kTuple) {
      for (Target& item : node.items)
        target(symbols, item, line);
      return;
    }
    if (node.form == Target::Form::kName && loopDepth_ > 0 && node.name.asString().view() == "loop") {
      fail(FailureKind::kSyntax, "Can't assign to special loop variable in for-loop target", line);
    }
    node.ref = symbols.refer(node.name);
  }

  void block(Symbols& symbols, Block& statements, bool soft) {
    for (Stmt* stmt : statements)
      statement(symbols, stmt, soft);
  }

  void statement(Symbols& symbols, Stmt* stmt, bool soft) {
    switch (stmt->kind) {
      case StmtKind::kPrint:
        return expr(symbols, static_cast<PrintStmt*>(stmt)->value, soft);
      case StmtKind::kIf: {
        auto* node = static_cast<IfStmt*>(stmt);
        for (auto& [test, body] : node->branches) {
          expr(symbols, test, true);
          block(symbols, body, true);
        }
        return block(symbols, node->otherwise, true);
      }
      case StmtKind::kFor:
        return loop(symbols, *static_cast<ForStmt*>(stmt), soft);
      case StmtKind::kMacro: {
        auto* node = static_cast<MacroStmt*>(stmt);
        macro(symbols, node->code, node->line);
        node->ref = symbols.refer(node->code.name);
        return;
      }
      case StmtKind::kCallBlock: {
        auto* node = static_cast<CallBlockStmt*>(stmt);
        macro(symbols, node->body, node->line);
        return expr(symbols, node->call, soft);
      }
      case StmtKind::kGeneration:
        return macro(symbols, static_cast<GenerationStmt*>(stmt)->body, stmt->line);
      case StmtKind::kFilterBlock: {
        auto* node = static_cast<FilterBlockStmt*>(stmt);
        Symbols inner(&symbols, function_);
        noteBlock(inner, node->body);
        noteExpr(inner, node->filter);
        block(inner, node->body, false);
        expr(inner, node->filter, false);
        node->frame = inner.frame();
        return;
      }
      case StmtKind::kSet: {
        auto* node = static_cast<SetStmt*>(stmt);
        target(symbols, node->target, node->line);
        return expr(symbols, node->value, soft);
      }
      case StmtKind::kSetBlock: {
        auto* node = static_cast<SetBlockStmt*>(stmt);
        Symbols inner(&symbols, function_);
        noteBlock(inner, node->body);
        block(inner, node->body, false);
        target(symbols, node->target, node->line);
        if (node->filter) expr(inner, node->filter, false);
        node->frame = inner.frame();
        return;
      }
      case StmtKind::kWith: {
        auto* node = static_cast<WithStmt*>(stmt);
        Symbols inner(&symbols, function_);
        for (Target& item : node->targets)
          noteTarget(inner, item, true);
        noteBlock(inner, node->body);
        for (Target& item : node->targets)
          target(inner, item, node->line);
        for (Expr* value : node->values)
          expr(symbols, value, soft);
        block(inner, node->body, false);
        node->frame = inner.frame();
        return;
      }
      case StmtKind::kText:
      case StmtKind::kBreak:
      case StmtKind::kContinue:
        return;
    }
  }

  void loop(Symbols& symbols, ForStmt& node, bool soft) {
    ++loopDepth_;
    expr(symbols, node.iterable, soft);

    Symbols body(&symbols, function_);
    node.loop = body.declareParameter(constant("loop"));
    noteTarget(body, node.target, true);
    noteBlock(body, node.body);
    target(body, node.target, node.line);
    block(body, node.body, false);
    node.bodyFrame = body.frame();

    Symbols otherwise(&symbols, function_);
    noteBlock(otherwise, node.otherwise);
    block(otherwise, node.otherwise, false);
    node.otherwiseFrame = otherwise.frame();

    if (node.test) {
      FunctionScope* outer = function_;
      node.testScope.parent = outer;
      function_ = &node.testScope;
      Symbols test(&symbols, function_);
      noteTarget(test, node.testTarget, true);
      noteExpr(test, node.test);
      target(test, node.testTarget, node.line);
      expr(test, node.test, false);
      node.testFrame = test.frame();
      function_ = outer;
    }
    --loopDepth_;
  }

  void macro(Symbols& symbols, MacroCode& code, int line) {
    FunctionScope* outer = function_;
    code.scope.parent = outer;
    function_ = &code.scope;
    Symbols inner(&symbols, function_);
    for (MacroCode::Parameter& parameter : code.parameters) {
      parameter.ref = inner.declareParameter(parameter.name);
      code.hasCallerParameter = code.hasCallerParameter || parameter.name.asString().view() == "caller";
    }
    declareSpecials(inner, code, line);
    for (MacroCode::Parameter& parameter : code.parameters) {
      if (parameter.fallback) noteExpr(inner, parameter.fallback);
    }
    noteBlock(inner, code.body);
    for (MacroCode::Parameter& parameter : code.parameters) {
      if (parameter.fallback) expr(inner, parameter.fallback, false);
    }
    block(inner, code.body, false);
    code.frame = inner.frame();
    function_ = outer;
  }

  void declareSpecials(Symbols& inner, MacroCode& code, int line) {
    const std::set<std::string, std::less<>> used = usedSpecialNames(code.body);
    const auto parameter = [&](std::string_view name) {
      return std::find_if(code.parameters.begin(), code.parameters.end(),
                          [&](const MacroCode::Parameter& p) { return p.name.asString().view() == name; });
    };
    if (used.contains("caller")) {
      const auto explicitCaller = parameter("caller");
      if (explicitCaller == code.parameters.end()) {
        code.caller = inner.declareParameter(constant("caller"));
        code.usesCaller = true;
      } else if (!explicitCaller->fallback) {
        fail(FailureKind::kSyntax, "the special \"caller\" argument must be omitted or be given a default",
             line);
      }
    }
    if (used.contains("kwargs") && parameter("kwargs") == code.parameters.end()) {
      code.keywords = inner.declareParameter(constant("kwargs"));
      code.usesKeywords = true;
    }
    if (used.contains("varargs") && parameter("varargs") == code.parameters.end()) {
      code.varargs = inner.declareParameter(constant("varargs"));
      code.usesVarargs = true;
    }
  }

  Program& program_;
  FunctionScope* function_ = &program_.scope;
  int loopDepth_ = 0;
};

}  // namespace

void resolveScopes(Program& program) {
  Resolver(program).run();
}

}  // namespace tandem::jinja
