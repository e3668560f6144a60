#include "engine/tokenizer/jinja/scope.h"

#include <algorithm>
#include <functional>
#include <set>

#include "engine/tokenizer/jinja/symbols.h"

namespace tandem::jinja {
namespace {

using Visit = std::function<void(Expr*)>;

void forArguments(const CallArguments& arguments, const Visit& visit) {
  for (Expr* argument : arguments.positional) visit(argument);
  for (const auto& keyword : arguments.keywords) visit(keyword.second);
  if (arguments.star) visit(arguments.star);
  if (arguments.doubleStar) visit(arguments.doubleStar);
}

// Calls `visit` for the direct children of `expr`, left to right.
void forChildren(const Expr& expr, const Visit& visit) {
  switch (expr.kind) {
    case ExprKind::kConst:
    case ExprKind::kName:
    case ExprKind::kCaptured: return;
    case ExprKind::kSequence:
      for (Expr* item : static_cast<const SequenceExpr&>(expr).items) visit(item);
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
      for (Expr* operand : static_cast<const LogicExpr&>(expr).operands) visit(operand);
      return;
    case ExprKind::kCompare: {
      const auto& compare = static_cast<const CompareExpr&>(expr);
      visit(compare.first);
      for (const auto& [op, operand] : compare.rest) visit(operand);
      return;
    }
    case ExprKind::kArithmetic: {
      const auto& arithmetic = static_cast<const ArithmeticExpr&>(expr);
      visit(arithmetic.first);
      for (const auto& [op, operand] : arithmetic.rest) visit(operand);
      return;
    }
    case ExprKind::kConcat:
      for (Expr* part : static_cast<const ConcatExpr&>(expr).parts) visit(part);
      return;
    case ExprKind::kUnary: return visit(static_cast<const UnaryExpr&>(expr).operand);
    case ExprKind::kAttribute: return visit(static_cast<const AttributeExpr&>(expr).target);
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

// --- What a frame's text uses and assigns; stops where inner frames begin ---

void noteExpr(Symbols& symbols, Expr* expr) {
  if (expr->kind == ExprKind::kName) return symbols.load(static_cast<NameExpr*>(expr)->name);
  forChildren(*expr, [&symbols](Expr* child) { noteExpr(symbols, child); });
}

void noteTarget(Symbols& symbols, Target& target, bool asParameter) {
  switch (target.form) {
    case Target::Form::kAttribute: return symbols.load(target.name);
    case Target::Form::kTuple:
      for (Target& item : target.items) noteTarget(symbols, item, asParameter);
      return;
    case Target::Form::kName:
      if (asParameter) symbols.declareParameter(target.name);
      else symbols.store(target.name);
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
    case StmtKind::kPrint: return noteExpr(symbols, static_cast<PrintStmt*>(stmt)->value);
    case StmtKind::kIf: return noteIf(symbols, *static_cast<IfStmt*>(stmt));
    case StmtKind::kFor: return noteExpr(symbols, static_cast<ForStmt*>(stmt)->iterable);
    case StmtKind::kMacro: return symbols.store(static_cast<MacroStmt*>(stmt)->code.name);
    case StmtKind::kCallBlock: return noteExpr(symbols, static_cast<CallBlockStmt*>(stmt)->call);
    case StmtKind::kFilterBlock: return noteExpr(symbols, static_cast<FilterBlockStmt*>(stmt)->filter);
    case StmtKind::kSet: {
      auto* set = static_cast<SetStmt*>(stmt);
      noteExpr(symbols, set->value);
      return noteTarget(symbols, set->target, false);
    }
    case StmtKind::kSetBlock: return noteTarget(symbols, static_cast<SetBlockStmt*>(stmt)->target, false);
    case StmtKind::kWith:
      for (Expr* value : static_cast<WithStmt*>(stmt)->values) noteExpr(symbols, value);
      return;
    case StmtKind::kText:
    case StmtKind::kGeneration:
    case StmtKind::kBreak:
    case StmtKind::kContinue: return;
  }
}

void noteBlock(Symbols& symbols, const Block& block) {
  for (Stmt* stmt : block) noteStmt(symbols, stmt);
}

// --- Whether a macro's body uses caller, kwargs and varargs without assigning them first ---

class SpecialNames {
 public:
  explicit SpecialNames(const Block& body) { block(body); }
  bool uses(std::string_view name) const { return used_.find(name) != used_.end(); }

 private:
  void expr(Expr* node) {
    if (node->kind == ExprKind::kName) {
      const std::string_view name = static_cast<NameExpr*>(node)->name.asString().view();
      if (open_.find(name) != open_.end()) used_.emplace(name);
      return;
    }
    forChildren(*node, [this](Expr* child) { expr(child); });
  }

  void target(const Target& node) {
    if (node.form == Target::Form::kName) assigned(node.name);
    for (const Target& item : node.items) target(item);
  }

  void assigned(const Value& name) {
    const auto found = open_.find(name.asString().view());
    if (found != open_.end()) open_.erase(found);
  }

  void code(const MacroCode& macro) {
    for (const MacroCode::Parameter& parameter : macro.parameters) assigned(parameter.name);
    for (const MacroCode::Parameter& parameter : macro.parameters) {
      if (parameter.fallback) expr(parameter.fallback);
    }
    block(macro.body);
  }

  void block(const Block& statements) {
    for (Stmt* stmt : statements) statement(stmt);
  }

  void statement(Stmt* stmt) {
    switch (stmt->kind) {
      case StmtKind::kPrint: return expr(static_cast<PrintStmt*>(stmt)->value);
      case StmtKind::kIf: {
        auto* node = static_cast<IfStmt*>(stmt);
        for (auto& [test, body] : node->branches) {
          expr(test);
          block(body);
        }
        return block(node->otherwise);
      }
      case StmtKind::kFor: {
        auto* node = static_cast<ForStmt*>(stmt);
        target(node->target);
        expr(node->iterable);
        block(node->body);
        block(node->otherwise);
        if (node->test) expr(node->test);
        return;
      }
      case StmtKind::kMacro: return code(static_cast<MacroStmt*>(stmt)->code);
      case StmtKind::kCallBlock:
        expr(static_cast<CallBlockStmt*>(stmt)->call);
        return code(static_cast<CallBlockStmt*>(stmt)->body);
      case StmtKind::kGeneration: return code(static_cast<GenerationStmt*>(stmt)->body);
      case StmtKind::kFilterBlock:
        block(static_cast<FilterBlockStmt*>(stmt)->body);
        return expr(static_cast<FilterBlockStmt*>(stmt)->filter);
      case StmtKind::kSet:
        target(static_cast<SetStmt*>(stmt)->target);
        return expr(static_cast<SetStmt*>(stmt)->value);
      case StmtKind::kSetBlock: {
        auto* node = static_cast<SetBlockStmt*>(stmt);
        target(node->target);
        if (node->filter) expr(node->filter);
        return block(node->body);
      }
      case StmtKind::kWith: {
        auto* node = static_cast<WithStmt*>(stmt);
        for (const Target& item : node->targets) target(item);
        for (Expr* value : node->values) expr(value);
        return block(node->body);
      }
      case StmtKind::kText:
      case StmtKind::kBreak:
      case StmtKind::kContinue: return;
    }
  }

  std::set<std::string, std::less<>> open_ = {"caller", "kwargs", "varargs"};
  std::set<std::string, std::less<>> used_;
};

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
      for (Target& item : node.items) target(symbols, item, line);
      return;
    }
    if (node.form == Target::Form::kName && loopDepth_ > 0 && node.name.asString().view() == "loop") {
      fail(FailureKind::kSyntax, "Can't assign to special loop variable in for-loop target", line);
    }
    node.ref = symbols.refer(node.name);
  }

  void block(Symbols& symbols, Block& statements, bool soft) {
    for (Stmt* stmt : statements) statement(symbols, stmt, soft);
  }

  void statement(Symbols& symbols, Stmt* stmt, bool soft) {
    switch (stmt->kind) {
      case StmtKind::kPrint: return expr(symbols, static_cast<PrintStmt*>(stmt)->value, soft);
      case StmtKind::kIf: {
        auto* node = static_cast<IfStmt*>(stmt);
        for (auto& [test, body] : node->branches) {
          expr(symbols, test, true);
          block(symbols, body, true);
        }
        return block(symbols, node->otherwise, true);
      }
      case StmtKind::kFor: return loop(symbols, *static_cast<ForStmt*>(stmt), soft);
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
      case StmtKind::kGeneration: return macro(symbols, static_cast<GenerationStmt*>(stmt)->body, stmt->line);
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
        for (Target& item : node->targets) noteTarget(inner, item, true);
        noteBlock(inner, node->body);
        for (Target& item : node->targets) target(inner, item, node->line);
        for (Expr* value : node->values) expr(symbols, value, soft);
        block(inner, node->body, false);
        node->frame = inner.frame();
        return;
      }
      case StmtKind::kText:
      case StmtKind::kBreak:
      case StmtKind::kContinue: return;
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
    const SpecialNames special(code.body);
    const auto parameter = [&](std::string_view name) {
      return std::find_if(code.parameters.begin(), code.parameters.end(), [&](const MacroCode::Parameter& p) {
        return p.name.asString().view() == name;
      });
    };
    if (special.uses("caller")) {
      const auto explicitCaller = parameter("caller");
      if (explicitCaller == code.parameters.end()) {
        code.caller = inner.declareParameter(constant("caller"));
        code.usesCaller = true;
      } else if (!explicitCaller->fallback) {
        fail(FailureKind::kSyntax, "the special \"caller\" argument must be omitted or be given a default", line);
      }
    }
    if (special.uses("kwargs") && parameter("kwargs") == code.parameters.end()) {
      code.keywords = inner.declareParameter(constant("kwargs"));
      code.usesKeywords = true;
    }
    if (special.uses("varargs") && parameter("varargs") == code.parameters.end()) {
      code.varargs = inner.declareParameter(constant("varargs"));
      code.usesVarargs = true;
    }
  }

  Program& program_;
  FunctionScope* function_ = &program_.scope;
  int loopDepth_ = 0;
};

}  // namespace

void resolveScopes(Program& program) { Resolver(program).run(); }

}  // namespace tandem::jinja
