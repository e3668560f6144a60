// The values a template works with: Python's, as far as chat templates meet them.
//
// A Value is 16 bytes and copied freely: a scalar, or a pointer to an Object. Objects belong to an Arena
// (arena.h) and live until the render ends, so values need no counting and cycles do no harm. Constants of a
// template live in the template's own arena and are never changed, which is what lets threads share a
// template.
//
// Origin. Strings are TaggedText: every byte knows whether the template wrote it or whether it is data. A
// number, a bool or none carries one flag for the text it would print as: written or counted by the template,
// or data.
#pragma once

#include <cassert>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/tokenizer/jinja/failure.h"
#include "engine/tokenizer/tagged_text.h"

namespace tandem::jinja {

class Budget;
class Runtime;

// Base of everything that an Arena owns.
class Object {
 public:
  virtual ~Object() = default;
};

enum class Kind : std::uint8_t {
  kMissing,  // no value at all: an argument not given, a variable not set; never seen by a template
  kUndefined,
  kNone,
  kBool,
  kInt,
  kFloat,
  kString,
  kList,
  kTuple,
  kDict,
  kDictView,
  kRange,
  kNamespace,
  kIterator,
  kFunction,
  kMacro,
  kLoop,
  kCycler,
  kJoiner,
};

struct String;
struct Sequence;
class Dict;
struct DictView;
struct Range;
struct Namespace;
struct Iterator;
struct Function;
struct Macro;
struct Loop;
struct Cycler;
struct Joiner;
struct Undefined;

class Value {
 public:
  Value() = default;  // kMissing

  static Value none() { return Value(Kind::kNone, false); }
  static Value boolean(bool value, bool fromTemplate = false) {
    Value v(Kind::kBool, fromTemplate);
    v.bool_ = value;
    return v;
  }
  static Value integer(std::int64_t value, bool fromTemplate = false) {
    Value v(Kind::kInt, fromTemplate);
    v.int_ = value;
    return v;
  }
  static Value real(double value, bool fromTemplate = false) {
    Value v(Kind::kFloat, fromTemplate);
    v.float_ = value;
    return v;
  }
  Value(const String* object);  // NOLINT: implicit, an object is its value
  Value(const Dict* object);    // NOLINT
  Value(Kind kind, const Object* object) : kind_(kind), object_(object) {}

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool isMissing() const { return kind_ == Kind::kMissing; }
  bool isUndefined() const { return kind_ == Kind::kUndefined; }
  bool isNone() const { return kind_ == Kind::kNone; }
  bool isString() const { return kind_ == Kind::kString; }
  bool isSequence() const { return kind_ == Kind::kList || kind_ == Kind::kTuple; }
  // An int, or a bool, which is an int in Python.
  bool isIntegral() const { return kind_ == Kind::kInt || kind_ == Kind::kBool; }
  bool isNumber() const { return isIntegral() || kind_ == Kind::kFloat; }

  // Whether the template wrote the text of this scalar; meaningless for objects.
  bool fromTemplate() const { return fromTemplate_; }

  // Each REQUIRES the kind it names; asIntegral also takes bools.
  bool asBool() const {
    assert(kind_ == Kind::kBool);
    return bool_;
  }
  std::int64_t asIntegral() const {
    assert(isIntegral());
    return kind_ == Kind::kBool ? static_cast<std::int64_t>(bool_) : int_;
  }
  double asFloat() const {
    assert(kind_ == Kind::kFloat);
    return float_;
  }
  const String& asString() const;
  const Sequence& asSequence() const;
  const Dict& asDict() const;
  template <class T>
  const T& as() const {
    return static_cast<const T&>(*object_);
  }
  // For the kinds that change while a template runs: namespace, iterator, loop, cycler, joiner.
  template <class T>
  T& asMutable() const {
    return const_cast<T&>(static_cast<const T&>(*object_));
  }
  const Object* object() const { return object_; }

 private:
  Value(Kind kind, bool fromTemplate) : kind_(kind), fromTemplate_(fromTemplate) {}

  Kind kind_ = Kind::kMissing;
  bool fromTemplate_ = false;
  union {
    bool bool_;
    std::int64_t int_;
    double float_;
    const Object* object_ = nullptr;
  };
};

struct String : Object {
  String(TaggedText content, bool isMarkup);

  TaggedText text;
  std::size_t length;  // characters
  bool markup;         // Python's Markup: joining it with plain text escapes the plain text for HTML

  std::string_view view() const { return text.text(); }
  bool isAscii() const { return length == text.size(); }
};

// A list or a tuple; which one is the Value's kind.
struct Sequence : Object {
  std::vector<Value> items;
  bool isGroup = false;  // a pair made by groupby, whose parts are also called grouper and list
};

// A dictionary in insertion order.
class Dict : public Object {
 public:
  using Entry = std::pair<Value, Value>;

  const std::vector<Entry>& entries() const { return entries_; }
  // The value under `key`, or nullptr. Fails for a key that cannot be hashed.
  const Value* find(Budget& budget, const Value& key) const;
  const Value* find(std::string_view key) const;
  // Adds or replaces; a replaced key keeps its place.
  void set(Budget& budget, const Value& key, const Value& value);

 private:
  template <class Same>
  std::ptrdiff_t indexOf(std::uint64_t hash, const Same& same) const;

  std::vector<Entry> entries_;
  std::unordered_multimap<std::uint64_t, std::size_t> index_;  // hash to entry, once there are many
};

// What dict.keys(), .values() and .items() give: a window on the dictionary.
struct DictView : Object {
  enum class Part { kKeys, kValues, kItems };
  const Dict* dict;
  Part part;
};

struct Range : Object {
  std::int64_t start, stop, step;
  std::int64_t size;          // number of items
  bool fromTemplate = false;  // origin of its items
  std::int64_t at(std::int64_t index) const { return start + index * step; }
};

struct Namespace : Object {
  Dict attributes;
};

// A one-pass source of values: Python's generators and iterators. `next` gives a missing value at the end.
struct Iterator : Object {
  std::function<Value(Runtime&)> next;
};

// What a call was given.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<Value, Value>> keywords;  // names are strings, each once

  // Takes the keyword `name` out; missing when it is not there.
  Value takeKeyword(std::string_view name);
};

// Filters, tests, methods and global functions share one form. `self` is what they are applied to (a filter's
// input, a method's object), missing for a global function.
using NativeCall = Value (*)(Runtime& runtime, const Value& self, const Arguments& arguments);

struct Function : Object {
  std::string_view name;
  NativeCall call;
  Value self;
};

struct Cycler : Object {
  std::vector<Value> items;
  std::size_t position = 0;
};

struct Joiner : Object {
  Value separator;
  bool used = false;
};

// A value that is not there. Printing it gives nothing; most other uses fail with its message.
struct Undefined : Object {
  std::string_view hint;        // the whole message, when it is not about a name
  const char* owner = nullptr;  // the type that lacks `name`, or nullptr for a variable
  Value name;
  bool unsafe = false;  // kept away by the sandbox

  std::string message() const;
  [[noreturn]] void raise() const;
};

// The name Python gives the value's type: "str", "dict", ...
const char* typeName(const Value& value);

// Python's hash, as far as equal values have equal hashes. Fails for lists, dictionaries and their like.
std::uint64_t hashOf(Budget& budget, const Value& value);
// Python's ==.
bool equal(Budget& budget, const Value& a, const Value& b);

inline Value::Value(const String* object) : kind_(Kind::kString), object_(object) {}
inline Value::Value(const Dict* object) : kind_(Kind::kDict), object_(object) {}
inline const String& Value::asString() const {
  assert(kind_ == Kind::kString);
  return static_cast<const String&>(*object_);
}
inline const Sequence& Value::asSequence() const {
  assert(isSequence());
  return static_cast<const Sequence&>(*object_);
}
inline const Dict& Value::asDict() const {
  assert(kind_ == Kind::kDict);
  return static_cast<const Dict&>(*object_);
}

}  // namespace tandem::jinja
