// The tree of a parsed template. Nodes belong to a Program and are never changed once the template is
// compiled.
//
// Variables are resolved when the template is compiled (scope.h): every name is a slot of an activation. A
// function (the template itself, a macro, the body of a call block or of a loop's filter) has one activation
// per call; the frames inside it (loops, with, captured blocks) own some of its slots and say how those start
// out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/tokenizer/jinja/arena.h"
#include "engine/tokenizer/jinja/operators.h"
#include "engine/tokenizer/jinja/value.h"

namespace tandem::jinja {

// Where a variable lives: `hops` functions outwards, then a slot.
struct VarRef {
  std::uint32_t hops = 0;
  std::uint32_t slot = 0;
};

struct FunctionScope {
  FunctionScope* parent = nullptr;  // the function whose text this one stands in
  std::uint32_t slotCount = 0;
};

// How a slot of a frame starts out each time the frame is entered.
struct SlotStart {
  enum class Kind { kFromContext, kFromOuter, kMissing };
  Kind kind;
  std::uint32_t slot;
  Value name;    // kFromContext
  VarRef outer;  // kFromOuter
};
struct Frame {
  std::vector<SlotStart> starts;
};

struct Node {
  virtual ~Node() = default;
  int line = 0;
};

// --- Expressions ---

enum class ExprKind : std::uint8_t {
  kConst,
  kName,
  kCaptured,
  kSequence,
  kDict,
  kCondition,
  kLogic,
  kCompare,
  kArithmetic,
  kConcat,
  kUnary,
  kAttribute,
  kItem,
  kSlice,
  kCall,
  kFilter,
  kTest,
};

struct Expr : Node {
  explicit Expr(ExprKind k) : kind(k) {}
  const ExprKind kind;
  int depth = 1;  // levels of nesting below and including this node
};

struct ConstExpr : Expr {
  ConstExpr() : Expr(ExprKind::kConst) {}
  Value value;
};
struct NameExpr : Expr {
  NameExpr() : Expr(ExprKind::kName) {}
  Value name;
  VarRef ref;
};
// What a filter block or block assignment has captured.
struct CapturedExpr : Expr {
  CapturedExpr() : Expr(ExprKind::kCaptured) {}
};
struct SequenceExpr : Expr {
  SequenceExpr() : Expr(ExprKind::kSequence) {}
  Kind sequence = Kind::kList;  // or kTuple
  std::vector<Expr*> items;
};
struct DictExpr : Expr {
  DictExpr() : Expr(ExprKind::kDict) {}
  std::vector<std::pair<Expr*, Expr*>> items;
};
struct ConditionExpr : Expr {
  ConditionExpr() : Expr(ExprKind::kCondition) {}
  Expr* test = nullptr;
  Expr* then = nullptr;
  Expr* otherwise = nullptr;  // nullptr gives an undefined value
};
// `and` or `or` over two or more operands.
struct LogicExpr : Expr {
  LogicExpr() : Expr(ExprKind::kLogic) {}
  bool isAnd = false;
  std::vector<Expr*> operands;
};
// A chain: first op second op third ...
struct CompareExpr : Expr {
  CompareExpr() : Expr(ExprKind::kCompare) {}
  Expr* first = nullptr;
  std::vector<std::pair<Comparison, Expr*>> rest;
};
// Left to right.
struct ArithmeticExpr : Expr {
  ArithmeticExpr() : Expr(ExprKind::kArithmetic) {}
  Expr* first = nullptr;
  std::vector<std::pair<Arithmetic, Expr*>> rest;
};
struct ConcatExpr : Expr {
  ConcatExpr() : Expr(ExprKind::kConcat) {}
  std::vector<Expr*> parts;
};
struct UnaryExpr : Expr {
  UnaryExpr() : Expr(ExprKind::kUnary) {}
  enum class Op { kNot, kNegate, kPositive };
  Op op = Op::kNot;
  Expr* operand = nullptr;
};
struct AttributeExpr : Expr {
  AttributeExpr() : Expr(ExprKind::kAttribute) {}
  Expr* target = nullptr;
  Value name;
};
struct ItemExpr : Expr {
  ItemExpr() : Expr(ExprKind::kItem) {}
  Expr* target = nullptr;
  Expr* key = nullptr;
};
struct SliceExpr : Expr {
  SliceExpr() : Expr(ExprKind::kSlice) {}
  Expr* target = nullptr;
  Expr* start = nullptr;  // each nullptr when left out
  Expr* stop = nullptr;
  Expr* step = nullptr;
};

struct CallArguments {
  std::vector<Expr*> positional;
  std::vector<std::pair<Value, Expr*>> keywords;
  Expr* star = nullptr;        // *expr
  Expr* doubleStar = nullptr;  // **expr
};
struct CallExpr : Expr {
  CallExpr() : Expr(ExprKind::kCall) {}
  Expr* callee = nullptr;
  CallArguments arguments;
};
// A filter, or a test whose result is a bool.
struct NativeExpr : Expr {
  explicit NativeExpr(ExprKind k) : Expr(k) {}
  Expr* target = nullptr;
  std::string name;
  NativeCall call = nullptr;  // nullptr when there is no such filter or test; an error only if it is reached
  CallArguments arguments;
};

// --- Statements ---

enum class StmtKind : std::uint8_t {
  kText,
  kPrint,
  kIf,
  kFor,
  kMacro,
  kCallBlock,
  kGeneration,
  kFilterBlock,
  kSet,
  kSetBlock,
  kWith,
  kBreak,
  kContinue,
};

struct Stmt : Node {
  explicit Stmt(StmtKind k) : kind(k) {}
  const StmtKind kind;
};
using Block = std::vector<Stmt*>;

// What can be assigned to: a name, an attribute of a namespace, or a tuple of these.
struct Target {
  enum class Form { kName, kAttribute, kTuple };
  Form form = Form::kName;
  Value name;       // of the variable or of the namespace
  Value attribute;  // kAttribute
  std::vector<Target> items;
  VarRef ref;
};

struct TextStmt : Stmt {
  TextStmt() : Stmt(StmtKind::kText) {}
  const String* text = nullptr;
};
struct PrintStmt : Stmt {
  PrintStmt() : Stmt(StmtKind::kPrint) {}
  Expr* value = nullptr;
};
struct IfStmt : Stmt {
  IfStmt() : Stmt(StmtKind::kIf) {}
  std::vector<std::pair<Expr*, Block>> branches;
  Block otherwise;
};
struct ForStmt : Stmt {
  ForStmt() : Stmt(StmtKind::kFor) {}
  Target target;
  Expr* iterable = nullptr;
  Expr* test = nullptr;  // the loop's filter, or nullptr
  Block body, otherwise;
  Frame bodyFrame, otherwiseFrame;
  VarRef loop;
  // The filter runs as a function of its own, with its own copy of the target.
  FunctionScope testScope;
  Frame testFrame;
  Target testTarget;
};
// The code of a macro or of the body of a call block.
struct MacroCode {
  struct Parameter {
    Value name;
    VarRef ref;
    Expr* fallback = nullptr;
  };
  Value name;  // missing for the body of a call block
  std::vector<Parameter> parameters;
  Block body;
  FunctionScope scope;
  Frame frame;
  // Slots of the special variables, where the body uses them.
  bool usesCaller = false, usesKeywords = false, usesVarargs = false;
  bool hasCallerParameter = false;
  VarRef caller, keywords, varargs;
};
struct MacroStmt : Stmt {
  MacroStmt() : Stmt(StmtKind::kMacro) {}
  MacroCode code;
  VarRef ref;
};
struct CallBlockStmt : Stmt {
  CallBlockStmt() : Stmt(StmtKind::kCallBlock) {}
  MacroCode body;
  CallExpr* call = nullptr;
};
// {% generation %}: marks what the model writes; it prints its body.
struct GenerationStmt : Stmt {
  GenerationStmt() : Stmt(StmtKind::kGeneration) {}
  MacroCode body;
};
struct FilterBlockStmt : Stmt {
  FilterBlockStmt() : Stmt(StmtKind::kFilterBlock) {}
  Expr* filter = nullptr;
  Block body;
  Frame frame;
};
struct SetStmt : Stmt {
  SetStmt() : Stmt(StmtKind::kSet) {}
  Target target;
  Expr* value = nullptr;
};
struct SetBlockStmt : Stmt {
  SetBlockStmt() : Stmt(StmtKind::kSetBlock) {}
  Target target;
  Expr* filter = nullptr;  // nullptr when the text is taken as it is
  Block body;
  Frame frame;
};
struct WithStmt : Stmt {
  WithStmt() : Stmt(StmtKind::kWith) {}
  std::vector<Target> targets;
  std::vector<Expr*> values;
  Block body;
  Frame frame;
};
struct BreakStmt : Stmt {
  BreakStmt() : Stmt(StmtKind::kBreak) {}
};
struct ContinueStmt : Stmt {
  ContinueStmt() : Stmt(StmtKind::kContinue) {}
};

// A whole template. Nodes are kept in one list, so that deep trees are torn down without recursion.
struct Program {
  Arena constants;
  std::vector<std::unique_ptr<Node>> nodes;
  Block body;
  FunctionScope scope;
  Frame frame;

  template <class T, class... Args>
  T* make(int line, Args&&... args) {
    auto owned = std::make_unique<T>(std::forward<Args>(args)...);
    owned->line = line;
    T* node = owned.get();
    nodes.push_back(std::move(owned));
    return node;
  }
};

}  // namespace tandem::jinja
