// Walks a Program and writes its text.
#pragma once

#include "engine/tokenizer/jinja/ast.h"
#include "engine/tokenizer/jinja/loop.h"
#include "engine/tokenizer/jinja/macro.h"
#include "engine/tokenizer/jinja/runtime.h"

namespace tandem::jinja {

// One render. Used once, on one thread.
class Interpreter {
 public:
  // `variables` are the request's; the global functions stand behind them.
  Interpreter(Runtime& runtime, const Program& program, const Dict& variables)
      : runtime_(runtime), program_(program), variables_(variables) {}

  TaggedText run();
  // Line of the statement or tag that was run last.
  int line() const { return line_; }

 private:
  enum class Flow { kNext, kBreak, kContinue };

  // Sends what is written to a text of its own for as long as it lives.
  class Capture {
   public:
    explicit Capture(TaggedText*& out) : out_(out), outer_(out) { out_ = &text_; }
    ~Capture() { out_ = outer_; }
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;
    TaggedText take() { return std::move(text_); }

   private:
    TaggedText*& out_;
    TaggedText* outer_;
    TaggedText text_;
  };

  // Statements (interpreter.cpp)
  Flow runBlock(const Block& block, Activation& activation);
  Flow runStatement(const Stmt& stmt, Activation& activation);
  Flow runIf(const IfStmt& node, Activation& activation);
  Flow runFor(const ForStmt& node, Activation& activation);
  Value filteredLoop(const ForStmt& node, const Value& iterable, Activation& activation);
  void runMacro(const MacroStmt& node, Activation& activation);
  void runCallBlock(const CallBlockStmt& node, Activation& activation);
  Flow runFilterBlock(const FilterBlockStmt& node, Activation& activation);
  void runSet(const SetStmt& node, Activation& activation);
  Flow runSetBlock(const SetBlockStmt& node, Activation& activation);
  Flow runWith(const WithStmt& node, Activation& activation);
  void enterFrame(const Frame& frame, Activation& activation);
  void assign(const Target& target, const Value& value, Activation& activation);
  void checkNamespaces(const Target& target, Activation& activation);
  void write(const TaggedText& text);
  void writeValue(const Value& value);
  Value lookUp(const Value& name);

  // Expressions (evaluate.cpp)
  Value evaluate(const Expr& expr, Activation& activation);
  Value evaluateName(const NameExpr& expr, Activation& activation);
  Value evaluateSequence(const SequenceExpr& expr, Activation& activation);
  Value evaluateDict(const DictExpr& expr, Activation& activation);
  Value evaluateCondition(const ConditionExpr& expr, Activation& activation);
  Value evaluateLogic(const LogicExpr& expr, Activation& activation);
  Value evaluateCompare(const CompareExpr& expr, Activation& activation);
  Value evaluateArithmetic(const ArithmeticExpr& expr, Activation& activation);
  Value evaluateConcat(const ConcatExpr& expr, Activation& activation);
  Value evaluateUnary(const UnaryExpr& expr, Activation& activation);
  Value evaluateAttribute(const AttributeExpr& expr, Activation& activation);
  Value evaluateItem(const ItemExpr& expr, Activation& activation);
  Value evaluateSlice(const SliceExpr& expr, Activation& activation);
  Value evaluateCall(const CallExpr& expr, const Value& caller, Activation& activation);
  Value evaluateNative(const NativeExpr& expr, Activation& activation);
  Arguments evaluateArguments(const CallArguments& given, Activation& activation);
  Value call(const Value& callee, Arguments&& arguments);
  Value callMacro(const Macro& macro, Arguments&& arguments);

  Runtime& runtime_;
  const Program& program_;
  const Dict& variables_;
  TaggedText result_;
  TaggedText* out_ = &result_;  // where text goes: the result, or what a macro or block captures
  Value captured_;              // what the innermost filter block or block assignment captured
  int line_ = 0;
};

}  // namespace tandem::jinja
