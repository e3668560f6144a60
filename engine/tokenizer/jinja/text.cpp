#include "engine/tokenizer/jinja/text.h"

#include <charconv>
#include <cmath>

#include "engine/tokenizer/jinja/iteration.h"
#include "engine/tokenizer/jinja/loop.h"
#include "engine/tokenizer/jinja/macro.h"
#include "engine/tokenizer/jinja/utf8.h"

namespace tandem::jinja {
namespace {

// Writes one repr, charging the budget as the text grows: a small value may be shared so often that its text
// is huge.
class ReprWriter {
 public:
  explicit ReprWriter(Runtime& runtime) : runtime_(runtime) {}

  std::string take() { return std::move(out_); }

  void write(const Value& value) {
    const DepthGuard guard(runtime_.budget, kValueDepth);
    switch (value.kind()) {
      case Kind::kString:
        return string(value.asString());
      case Kind::kList:
        return items("[", value.asSequence().items, "]");
      case Kind::kTuple:
        return items("(", value.asSequence().items, value.asSequence().items.size() == 1 ? ",)" : ")");
      case Kind::kDict:
        return dict(value.asDict());
      case Kind::kDictView:
        return view(value);
      case Kind::kNamespace:
        put("<Namespace ");
        dict(value.as<Namespace>().attributes);
        return put(">");
      default:
        return put(plain(value));
    }
  }

 private:
  void put(std::string_view text) {
    runtime_.budget.spendBytes(text.size());
    out_ += text;
  }

  void items(std::string_view open, const std::vector<Value>& values, std::string_view close) {
    put(open);
    bool first = true;
    for (const Value& value : values) {
      if (!first) put(", ");
      first = false;
      write(value);
    }
    put(close);
  }

  void dict(const Dict& dictionary) {
    put("{");
    bool first = true;
    for (const auto& [key, value] : dictionary.entries()) {
      if (!first) put(", ");
      first = false;
      write(key);
      put(": ");
      write(value);
    }
    put("}");
  }

  void view(const Value& value) {
    constexpr std::string_view kNames[] = {"dict_keys(", "dict_values(", "dict_items("};
    put(kNames[static_cast<std::size_t>(value.as<DictView>().part)]);
    items("[", collect(runtime_, value), "])");
  }

  void string(const String& text);
  std::string plain(const Value& value);

  Runtime& runtime_;
  std::string out_;
};

std::string hexEscape(std::uint32_t code) {
  constexpr char kDigits[] = "0123456789abcdef";
  const int digits = code <= 0xFF ? 2 : code <= 0xFFFF ? 4 : 8;
  std::string escaped = digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
    escaped += kDigits[code >> shift & 0xF];
  return escaped;
}

void ReprWriter::string(const String& text) {
  const std::string_view content = text.view();
  const bool doubleQuoted =
      content.find('\'') != std::string_view::npos && content.find('"') == std::string_view::npos;
  const char quote = doubleQuoted ? '"' : '\'';
  std::string quoted(text.markup ? "Markup(" : "");
  quoted += quote;
  for (std::size_t i = 0; i < content.size();) {
    const utf8::Char c = utf8::decode(content, i);
    if (c.code == static_cast<std::uint32_t>(quote) || c.code == '\\') {
      quoted += '\\';
      quoted += static_cast<char>(c.code);
    } else if (c.code == '\n') {
      quoted += "\\n";
    } else if (c.code == '\r') {
      quoted += "\\r";
    } else if (c.code == '\t') {
      quoted += "\\t";
    } else if (!utf8::isPrintable(c.code)) {
      quoted += hexEscape(c.code);
    } else {
      quoted += content.substr(i, c.length);
    }
    i += c.length;
  }
  quoted += quote;
  if (text.markup) quoted += ')';
  put(quoted);
}

std::string ReprWriter::plain(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return "Undefined";
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return value.asBool() ? "True" : "False";
    case Kind::kInt:
      return std::to_string(value.asIntegral());
    case Kind::kFloat:
      return formatFloat(value.asFloat());
    case Kind::kRange: {
      const auto& range = value.as<Range>();
      const std::string step = range.step == 1 ? "" : ", " + std::to_string(range.step);
      return "range(" + std::to_string(range.start) + ", " + std::to_string(range.stop) + step + ")";
    }
    case Kind::kFunction:
      return "<function " + std::string(value.as<Function>().name) + ">";
    case Kind::kMacro:
      return describe(value.as<Macro>());
    case Kind::kLoop:
      return describe(runtime_, value.asMutable<Loop>());
    default:
      return std::string("<") + typeName(value) + " object>";
  }
}

const char* entityOf(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '\'':
      return "&#39;";
    case '"':
      return "&#34;";
    default:
      return nullptr;
  }
}

}  // namespace

std::string repr(Runtime& runtime, const Value& value) {
  ReprWriter writer(runtime);
  writer.write(value);
  return writer.take();
}

TaggedText toText(Runtime& runtime, const Value& value) {
  if (value.isString()) {
    runtime.budget.spendBytes(costOf(value.asString().text));
    return value.asString().text;
  }
  if (value.isUndefined()) return {};
  const bool scalar = value.isNumber() || value.isNone();
  return TaggedText(repr(runtime, value), scalar && value.fromTemplate());
}

Value toString(Runtime& runtime, const Value& value) {
  return value.isString() ? value : runtime.text(toText(runtime, value));
}

std::string formatFloat(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<std::size_t>(end - buffer));  // d.ddde±dd
  const bool negative = text.front() == '-';
  if (negative) text.remove_prefix(1);
  const std::size_t e = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), text.data() + text.size(), exponent);
  std::string digits(1, text[0]);
  if (e > 2) digits += text.substr(2, e - 2);

  std::string out(negative ? "-" : "");
  const int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (count > 1) out += "." + digits.substr(1);
    const std::string power = std::to_string(std::abs(exponent));
    return out + (exponent < 0 ? "e-" : "e+") + (power.size() < 2 ? "0" : "") + power;
  }
  if (exponent < 0) return out + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  const auto whole = static_cast<std::size_t>(exponent + 1);
  if (count <= exponent + 1) return out + digits + std::string(whole - digits.size(), '0') + ".0";
  return out + digits.substr(0, whole) + "." + digits.substr(whole);
}

TaggedText escapeHtml(const TaggedText& text) {
  TaggedText out;
  std::size_t position = 0;
  for (const TaggedText::Run& run : text.runs()) {
    std::string escaped;
    for (const char c : std::string_view(text.text()).substr(position, run.length)) {
      const char* entity = entityOf(c);
      if (entity) {
        escaped += entity;
      } else {
        escaped += c;
      }
    }
    out.append(escaped, run.fromTemplate);
    position += run.length;
  }
  return out;
}

Value toMarkup(Runtime& runtime, const Value& value) {
  if (value.isString() && value.asString().markup) return value;
  return runtime.text(escapeHtml(toText(runtime, value)), true);
}

}  // namespace tandem::jinja
