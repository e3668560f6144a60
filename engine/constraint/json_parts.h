// The parts that JSON texts are made of, as grammar nodes. Each is made once.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/constraint/grammar_builder.h"

namespace tandem::constraint {

class JsonParts {
 public:
  explicit JsonParts(GrammarBuilder& builder);

  // Any value; numbers are written as docs/structured-output.md says.
  int anyValue();
  int anyObject();
  int anyArray();
  int anyString() const { return string_; }
  int anyNumber() const { return number_; }
  int anyInteger() const { return integer_; }
  int boolean() const { return boolean_; }
  int null() const { return null_; }

  // This very value.
  int value(const nlohmann::ordered_json& value);
  // A string that the automaton accepts.
  int stringOf(const CharDfa& dfa, Escapes escapes = Escapes::kNonAscii);
  // Text that matches the regular expression as a whole: for numbers, which are ASCII.
  int regex(const std::string& text);
  // A member of an object: the nodes of key and value.
  ObjectRule::Property property(int key, int value, bool required = false);
  // The characters between the brackets included.
  // `first` are the values that must or may come first; behind them come `rest`, where -1 allows none. max
  // -1: without limit.
  int array(const std::vector<int>& first, int rest, int min, int max);
  int object(ObjectRule rule);

 private:
  int key(const std::string& name);

  GrammarBuilder& builder_;
  int colon_;
  int separator_;  // comma and white space, with the space before them
  int string_;
  int number_;
  int integer_;
  int boolean_;
  int null_;
  int anyValue_ = -1;   // a rule
  int anyObject_ = -1;  // nodes
  int anyArray_ = -1;
};

CharDfa regexDfa(const std::string& text, const std::string& field, Match match, Budget& budget);

}  // namespace tandem::constraint
