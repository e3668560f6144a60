#include "engine/tokenizer/jinja/special_names.h"

#include "engine/tokenizer/jinja/ast_walk.h"

namespace tandem::jinja {
namespace {

class SpecialNames {
 public:
  explicit SpecialNames(const Block& body) { block(body); }
  std::set<std::string, std::less<>> take() { return std::move(used_); }

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
    for (const Target& item : node.items)
      target(item);
  }

  void assigned(const Value& name) {
    const auto found = open_.find(name.asString().view());
    if (found != open_.end()) open_.erase(found);
  }

  void code(const MacroCode& macro) {
    for (const MacroCode::Parameter& parameter : macro.parameters)
      assigned(parameter.name);
    for (const MacroCode::Parameter& parameter : macro.parameters) {
      if (parameter.fallback) expr(parameter.fallback);
    }
    block(macro.body);
  }

  void block(const Block& statements) {
    for (Stmt* stmt : statements)
      statement(stmt);
  }

  void statement(Stmt* stmt) {
    switch (stmt->kind) {
      case StmtKind::kPrint:
        return expr(static_cast<PrintStmt*>(stmt)->value);
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
      case StmtKind::kMacro:
        return code(static_cast<MacroStmt*>(stmt)->code);
      case StmtKind::kCallBlock:
        expr(static_cast<CallBlockStmt*>(stmt)->call);
        return code(static_cast<CallBlockStmt*>(stmt)->body);
      case StmtKind::kGeneration:
        return code(static_cast<GenerationStmt*>(stmt)->body);
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
        for (const Target& item : node->targets)
          target(item);
        for (Expr* value : node->values)
          expr(value);
        return block(node->body);
      }
      case StmtKind::kText:
      case StmtKind::kBreak:
      case StmtKind::kContinue:
        return;
    }
  }

  std::set<std::string, std::less<>> open_ = {"caller", "kwargs", "varargs"};
  std::set<std::string, std::less<>> used_;
};

}  // namespace

std::set<std::string, std::less<>> usedSpecialNames(const Block& body) {
  return SpecialNames(body).take();
}

}  // namespace tandem::jinja
