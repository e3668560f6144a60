#include "engine/tokenizer/jinja/interpreter.h"

#include "engine/tokenizer/jinja/builtins.h"
#include "engine/tokenizer/jinja/iteration.h"
#include "engine/tokenizer/jinja/text.h"

namespace tandem::jinja {
TaggedText Interpreter::run() {
  Activation* activation = makeActivation(runtime_, program_.scope, nullptr);
  enterFrame(program_.frame, *activation);
  runBlock(program_.body, *activation);
  return std::move(result_);
}

void Interpreter::write(const TaggedText& text) {
  runtime_.budget.spendBytes(costOf(text));
  if (out_ == &result_) runtime_.budget.spendOutput(text.size());
  out_->append(text);
}

void Interpreter::writeValue(const Value& value) {
  if (value.isString()) return write(value.asString().text);
  write(toText(runtime_, value));
}

Value Interpreter::lookUp(const Value& name) {
  const Value* found = variables_.find(name.asString().view());
  return found ? *found : findGlobal(runtime_, name.asString().view());
}

void Interpreter::enterFrame(const Frame& frame, Activation& activation) {
  runtime_.budget.spend(frame.starts.size());
  for (const SlotStart& start : frame.starts) {
    Value& slot = activation.slots[start.slot];
    switch (start.kind) {
      case SlotStart::Kind::kFromContext:
        slot = lookUp(start.name);
        break;
      case SlotStart::Kind::kFromOuter:
        slot = activation.at(start.outer);
        break;
      case SlotStart::Kind::kMissing:
        slot = Value();
        break;
    }
  }
}

Interpreter::Flow Interpreter::runBlock(const Block& block, Activation& activation) {
  const DepthGuard guard(runtime_.budget);
  for (const Stmt* stmt : block) {
    const Flow flow = runStatement(*stmt, activation);
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Interpreter::Flow Interpreter::runStatement(const Stmt& stmt, Activation& activation) {
  runtime_.budget.spend(1);
  line_ = stmt.line;
  switch (stmt.kind) {
    case StmtKind::kText:
      write(static_cast<const TextStmt&>(stmt).text->text);
      break;
    case StmtKind::kPrint:
      writeValue(evaluate(*static_cast<const PrintStmt&>(stmt).value, activation));
      break;
    case StmtKind::kIf:
      return runIf(static_cast<const IfStmt&>(stmt), activation);
    case StmtKind::kFor:
      return runFor(static_cast<const ForStmt&>(stmt), activation);
    case StmtKind::kMacro:
      runMacro(static_cast<const MacroStmt&>(stmt), activation);
      break;
    case StmtKind::kCallBlock:
      runCallBlock(static_cast<const CallBlockStmt&>(stmt), activation);
      break;
    case StmtKind::kGeneration:
      writeValue(call(makeMacro(runtime_, static_cast<const GenerationStmt&>(stmt).body, activation), {}));
      break;
    case StmtKind::kFilterBlock:
      return runFilterBlock(static_cast<const FilterBlockStmt&>(stmt), activation);
    case StmtKind::kSet:
      runSet(static_cast<const SetStmt&>(stmt), activation);
      break;
    case StmtKind::kSetBlock:
      return runSetBlock(static_cast<const SetBlockStmt&>(stmt), activation);
    case StmtKind::kWith:
      return runWith(static_cast<const WithStmt&>(stmt), activation);
    case StmtKind::kBreak:
      return Flow::kBreak;
    case StmtKind::kContinue:
      return Flow::kContinue;
  }
  return Flow::kNext;
}

Interpreter::Flow Interpreter::runIf(const IfStmt& node, Activation& activation) {
  for (const auto& [test, body] : node.branches) {
    line_ = test->line;
    if (truthy(evaluate(*test, activation))) return runBlock(body, activation);
  }
  return runBlock(node.otherwise, activation);
}

Interpreter::Flow Interpreter::runFor(const ForStmt& node, Activation& activation) {
  Value iterable = evaluate(*node.iterable, activation);
  if (node.test) iterable = filteredLoop(node, iterable, activation);
  Loop* loop = makeLoop(runtime_, iterable);
  bool finishedOne = false;
  for (Value item = advance(runtime_, *loop); !item.isMissing(); item = advance(runtime_, *loop)) {
    activation.at(node.loop) = Value(Kind::kLoop, loop);
    assign(node.target, item, activation);
    enterFrame(node.bodyFrame, activation);
    const Flow flow = runBlock(node.body, activation);
    if (flow == Flow::kBreak) break;
    // An iteration that ends in break or continue does not count for `else`, as in Jinja.
    if (flow == Flow::kNext) finishedOne = true;
  }
  if (finishedOne || node.otherwise.empty()) return Flow::kNext;
  enterFrame(node.otherwiseFrame, activation);
  return runBlock(node.otherwise, activation);
}

// The items for which the loop's own test holds, tested one by one as the loop reaches them.
Value Interpreter::filteredLoop(const ForStmt& node, const Value& iterable, Activation& activation) {
  Activation* scope = makeActivation(runtime_, node.testScope, &activation);
  enterFrame(node.testFrame, *scope);
  Iterator* source = &iterate(runtime_, iterable);
  return runtime_.iterator([this, &node, scope, source](Runtime& runtime) -> Value {
    for (Value item = next(runtime, *source); !item.isMissing(); item = next(runtime, *source)) {
      assign(node.testTarget, item, *scope);
      if (truthy(evaluate(*node.test, *scope))) return item;
    }
    return {};
  });
}

void Interpreter::runMacro(const MacroStmt& node, Activation& activation) {
  activation.at(node.ref) = makeMacro(runtime_, node.code, activation);
}

void Interpreter::runCallBlock(const CallBlockStmt& node, Activation& activation) {
  writeValue(evaluateCall(*node.call, makeMacro(runtime_, node.body, activation), activation));
}

Interpreter::Flow Interpreter::runFilterBlock(const FilterBlockStmt& node, Activation& activation) {
  enterFrame(node.frame, activation);
  {
    Capture capture(out_);
    const Flow flow = runBlock(node.body, activation);
    if (flow != Flow::kNext) return flow;
    captured_ = runtime_.text(capture.take());
  }
  writeValue(evaluate(*node.filter, activation));
  return Flow::kNext;
}

void Interpreter::runSet(const SetStmt& node, Activation& activation) {
  checkNamespaces(node.target, activation);
  assign(node.target, evaluate(*node.value, activation), activation);
}

Interpreter::Flow Interpreter::runSetBlock(const SetBlockStmt& node, Activation& activation) {
  enterFrame(node.frame, activation);
  {
    Capture capture(out_);
    const Flow flow = runBlock(node.body, activation);
    if (flow != Flow::kNext) return flow;
    captured_ = runtime_.text(capture.take());
  }
  const Value value = node.filter ? evaluate(*node.filter, activation) : captured_;
  checkNamespaces(node.target, activation);
  assign(node.target, value, activation);
  return Flow::kNext;
}

Interpreter::Flow Interpreter::runWith(const WithStmt& node, Activation& activation) {
  enterFrame(node.frame, activation);
  for (std::size_t i = 0; i < node.targets.size(); ++i) {
    assign(node.targets[i], evaluate(*node.values[i], activation), activation);
  }
  return runBlock(node.body, activation);
}

void Interpreter::checkNamespaces(const Target& target, Activation& activation) {
  for (const Target& item : target.items)
    checkNamespaces(item, activation);
  if (target.form == Target::Form::kAttribute && !activation.at(target.ref).is(Kind::kNamespace)) {
    failType("cannot assign attribute on non-namespace object");
  }
}

void Interpreter::assign(const Target& target, const Value& value, Activation& activation) {
  runtime_.budget.spend(1);
  switch (target.form) {
    case Target::Form::kName:
      activation.at(target.ref) = value;
      return;
    case Target::Form::kAttribute: {
      Dict& attributes = activation.at(target.ref).asMutable<Namespace>().attributes;
      runtime_.budget.spendBytes(sizeof(Dict::Entry));
      attributes.set(runtime_.budget, target.attribute, value);
      return;
    }
    case Target::Form::kTuple: {
      const std::vector<Value> items = collect(runtime_, value);
      if (items.size() != target.items.size()) {
        failType("expected " + std::to_string(target.items.size()) + " values to unpack, got " +
                 std::to_string(items.size()));
      }
      for (std::size_t i = 0; i < items.size(); ++i)
        assign(target.items[i], items[i], activation);
      return;
    }
  }
}

}  // namespace tandem::jinja
