#include "engine/tokenizer/jinja/json.h"

#include <algorithm>
#include <cmath>

#include "engine/tokenizer/jinja/operators.h"
#include "engine/tokenizer/jinja/text.h"
#include "engine/tokenizer/jinja/utf8.h"

namespace tandem::jinja {
namespace {

void appendHex(std::string& out, std::uint32_t unit) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4)
    out += kDigits[unit >> shift & 0xF];
}

class JsonWriter {
 public:
  JsonWriter(Runtime& runtime, const JsonStyle& style) : runtime_(runtime), style_(style) {}

  std::string take() { return std::move(out_); }

  void write(const Value& value) {
    const DepthGuard guard(runtime_.budget, kValueDepth);
    switch (value.kind()) {
      case Kind::kNone:
        return put("null");
      case Kind::kBool:
        return put(value.asBool() ? "true" : "false");
      case Kind::kInt:
        return put(std::to_string(value.asIntegral()));
      case Kind::kFloat:
        return put(number(value.asFloat()));
      case Kind::kString:
        return string(value.asString().view());
      case Kind::kList:
      case Kind::kTuple:
        return array(value.asSequence().items);
      case Kind::kDict:
        return object(value.asDict());
      default:
        failType(std::string("object of type '") + typeName(value) + "' has no JSON form");
    }
  }

 private:
  void put(std::string_view text) {
    runtime_.budget.spendBytes(text.size());
    out_ += text;
  }

  static std::string number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    return formatFloat(value);
  }

  void string(std::string_view text) {
    std::string quoted = "\"";
    for (std::size_t i = 0; i < text.size();) {
      const utf8::Char c = utf8::decode(text, i);
      appendCharacter(quoted, c.code, text.substr(i, c.length));
      i += c.length;
    }
    put(quoted + "\"");
  }

  void appendCharacter(std::string& out, std::uint32_t code, std::string_view bytes) const {
    switch (code) {
      case '"':
        out += "\\\"";
        return;
      case '\\':
        out += "\\\\";
        return;
      case '\n':
        out += "\\n";
        return;
      case '\r':
        out += "\\r";
        return;
      case '\t':
        out += "\\t";
        return;
      case '\b':
        out += "\\b";
        return;
      case '\f':
        out += "\\f";
        return;
      default:
        break;
    }
    if (code < 0x20 || (style_.ensureAscii && code > 0x7E && code < 0x10000)) return appendHex(out, code);
    if (style_.ensureAscii && code >= 0x10000) {
      appendHex(out, 0xD800 + ((code - 0x10000) >> 10));
      return appendHex(out, 0xDC00 + ((code - 0x10000) & 0x3FF));
    }
    out += bytes;
  }

  void lineBreak(int level) {
    if (!style_.indent) return;
    put("\n");
    for (int i = 0; i < level; ++i)
      put(*style_.indent);
  }

  void array(const std::vector<Value>& items) {
    if (items.empty()) return put("[]");
    put("[");
    ++level_;
    bool first = true;
    for (const Value& item : items) {
      if (!first) put(style_.itemSeparator);
      first = false;
      lineBreak(level_);
      write(item);
    }
    lineBreak(--level_);
    put("]");
  }

  std::string key(const Value& value) {
    switch (value.kind()) {
      case Kind::kString:
        return std::string(value.asString().view());
      case Kind::kNone:
        return "null";
      case Kind::kBool:
        return value.asBool() ? "true" : "false";
      case Kind::kInt:
        return std::to_string(value.asIntegral());
      case Kind::kFloat:
        return number(value.asFloat());
      default:
        failType(std::string("a key of type '") + typeName(value) + "' has no JSON form");
    }
  }

  void object(const Dict& dict) {
    if (dict.entries().empty()) return put("{}");
    runtime_.budget.spendBytes(dict.entries().size() * sizeof(Dict::Entry));
    std::vector<Dict::Entry> entries = dict.entries();
    if (style_.sortKeys) {
      std::stable_sort(entries.begin(), entries.end(), [this](const Dict::Entry& a, const Dict::Entry& b) {
        return lessThan(runtime_, a.first, b.first);
      });
    }
    put("{");
    ++level_;
    bool first = true;
    for (const auto& [name, value] : entries) {
      if (!first) put(style_.itemSeparator);
      first = false;
      lineBreak(level_);
      string(key(name));
      put(style_.keySeparator);
      write(value);
    }
    lineBreak(--level_);
    put("}");
  }

  Runtime& runtime_;
  const JsonStyle& style_;
  std::string out_;
  int level_ = 0;
};

}  // namespace

std::string toJson(Runtime& runtime, const Value& value, const JsonStyle& style) {
  JsonWriter writer(runtime, style);
  writer.write(value);
  return writer.take();
}

}  // namespace tandem::jinja
