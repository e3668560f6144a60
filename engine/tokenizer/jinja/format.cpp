#include "engine/tokenizer/jinja/format.h"

#include "engine/tokenizer/jinja/attributes.h"
#include "engine/tokenizer/jinja/format_spec.h"
#include "engine/tokenizer/jinja/numbers.h"
#include "engine/tokenizer/jinja/operators.h"
#include "engine/tokenizer/jinja/text.h"
#include "engine/tokenizer/jinja/utf8.h"

namespace tandem::jinja {
namespace {

std::int64_t readNumber(std::string_view text, std::size_t& position) {
  std::int64_t number = 0;
  while (position < text.size() && text[position] >= '0' && text[position] <= '9') {
    number = std::min<std::int64_t>(number * 10 + (text[position++] - '0'), 1'000'000'000);
  }
  return number;
}

// Fills in one "%" format string.
class PercentFormatter {
 public:
  PercentFormatter(Runtime& runtime, const String& format, const Value& right)
      : runtime_(runtime), format_(format), view_(format.view()), right_(right) {}

  Value run() {
    for (std::size_t i = 0; i < view_.size();) {
      const std::size_t percent = std::min(view_.find('%', i), view_.size());
      out_.append(format_.text.substr(i, percent - i));
      i = percent;
      if (i < view_.size()) i = directive(i + 1);
    }
    if (hasUnused()) failType("not all arguments converted during string formatting");
    return runtime_.text(std::move(out_), format_.markup);
  }

 private:
  // What can be subscripted counts as named values, which need not all be used.
  bool hasUnused() const {
    switch (right_.kind()) {
      case Kind::kTuple:
        return used_ < right_.asSequence().items.size();
      case Kind::kDict:
      case Kind::kList:
      case Kind::kRange:
      case Kind::kUndefined:
        return false;
      default:
        return used_ == 0;
    }
  }

  Value nextArgument() {
    if (right_.is(Kind::kTuple)) {
      const std::vector<Value>& items = right_.asSequence().items;
      if (used_ >= items.size()) failType("not enough arguments for format string");
      return items[used_++];
    }
    if (used_++ > 0) failType("not enough arguments for format string");
    return right_;
  }

  std::int64_t starOrNumber(std::size_t& i) {
    if (i < view_.size() && view_[i] == '*') {
      ++i;
      return integerOr(nextArgument(), 0, "*");
    }
    return readNumber(view_, i);
  }

  // Handles what stands behind the percent sign at `i` and returns the position after it.
  std::size_t directive(std::size_t i) {
    FormatSpec spec;
    Value argument;
    if (i < view_.size() && view_[i] == '(') {
      const std::size_t close = view_.find(')', i);
      if (close == std::string_view::npos) failType("incomplete format key");
      if (!right_.is(Kind::kDict)) failType("format requires a mapping");
      const Value* found = right_.asDict().find(view_.substr(i + 1, close - i - 1));
      if (!found) failType("the format names a key that is not there");
      argument = *found;
      i = close + 1;
    }
    for (; i < view_.size(); ++i) {
      const char c = view_[i];
      if (c == '-')
        spec.align = '<';
      else if (c == '+' || (c == ' ' && spec.sign != '+'))
        spec.sign = c;
      else if (c == '#')
        spec.alternate = true;
      else if (c == '0')
        spec.zero = true;
      else if (c != ' ')
        break;
    }
    spec.width = starOrNumber(i);
    if (spec.width < 0) {
      spec.align = '<';
      spec.width = -spec.width;
    }
    if (i < view_.size() && view_[i] == '.') spec.precision = std::max<std::int64_t>(starOrNumber(++i), 0);
    while (i < view_.size() && (view_[i] == 'h' || view_[i] == 'l' || view_[i] == 'L'))
      ++i;
    if (i >= view_.size()) failType("incomplete format");
    spec.type = view_[i];
    if (spec.type == '%') {
      out_.append(format_.text.substr(i, 1));
      return i + 1;
    }
    if (argument.isMissing()) argument = nextArgument();
    append(argument, spec);
    return i + 1;
  }

  void append(const Value& argument, FormatSpec spec) {
    switch (spec.type) {
      case 's':
      case 'r':
      case 'a':
        return appendText(argument, spec);
      case 'c': {
        if (argument.isString() && argument.asString().length == 1) return appendText(argument, spec);
        const std::int64_t code = integerOr(argument, -1, "%c");
        if (code < 0 || code > 0x10FFFF) failType("%c needs a character");
        std::string character;
        utf8::append(character, static_cast<std::uint32_t>(code));
        spec.precision = -1;
        return out_.append(padField(runtime_, TaggedText(character, argument.fromTemplate()), spec, true));
      }
      case 'd':
      case 'i':
      case 'u':
        if (!argument.isNumber()) failType("%d needs a number");
        return appendNumber(Value::integer(truncate(argument), argument.fromTemplate()), spec, 'd');
      case 'x':
      case 'X':
      case 'o':
        if (!argument.isIntegral()) failType("%x and %o need an integer");
        return appendNumber(argument, spec, spec.type);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G': {
        const Value number = argument.isString() ? Value() : argument;
        if (number.isUndefined()) number.as<Undefined>().raise();
        if (!number.isNumber()) failType("a float format needs a number");
        return appendNumber(number, spec, spec.type);
      }
      default:
        failType("unsupported format character");
    }
  }

  void appendNumber(const Value& number, FormatSpec spec, char type) {
    spec.type = type;
    std::string digits = formatNumber(number, spec);
    // For integers a precision is the least number of digits.
    if (!number.is(Kind::kFloat) && (type == 'd' || type == 'x' || type == 'X' || type == 'o')) {
      const std::size_t sign = digits.find_first_of("0123456789abcdefABCDEF");
      const auto least = static_cast<std::size_t>(std::clamp<std::int64_t>(spec.precision, 0, 1000));
      if (digits.size() - sign < least) digits.insert(sign, least - (digits.size() - sign), '0');
    }
    out_.append(padField(runtime_, TaggedText(digits, number.fromTemplate()), spec, true));
  }

  void appendText(const Value& argument, FormatSpec spec) {
    TaggedText text =
        spec.type == 's' ? toText(runtime_, argument) : TaggedText(repr(runtime_, argument), false);
    const bool isSafe = argument.isString() && argument.asString().markup && spec.type == 's';
    if (format_.markup && !isSafe) text = escapeHtml(text);
    spec.zero = false;
    if (spec.precision >= 0) {
      text = text.substr(0, utf8::offsetOf(text.text(), static_cast<std::size_t>(spec.precision)));
    }
    out_.append(padField(runtime_, text, spec, true));
  }

  Runtime& runtime_;
  const String& format_;
  std::string_view view_;
  Value right_;
  TaggedText out_;
  std::size_t used_ = 0;
};

// Fills in one "{}" format string.
class BraceFormatter {
 public:
  BraceFormatter(Runtime& runtime, const String& format, const Arguments& arguments)
      : runtime_(runtime), format_(format), arguments_(arguments) {}

  Value run() { return runtime_.text(fill(format_.text, 0), format_.markup); }

 private:
  TaggedText fill(const TaggedText& format, int nesting) {
    if (nesting > 2) failType("format fields are nested too deeply");
    const std::string_view view = format.text();
    TaggedText out;
    for (std::size_t i = 0; i < view.size();) {
      const std::size_t brace = std::min(view.find_first_of("{}", i), view.size());
      out.append(format.substr(i, brace - i));
      i = brace;
      if (i == view.size()) break;
      if (i + 1 < view.size() && view[i + 1] == view[i]) {
        out.append(format.substr(i, 1));
        i += 2;
        continue;
      }
      if (view[i] == '}') failType("single '}' encountered in format string");
      const std::size_t close = closing(view, i);
      out.append(field(format.substr(i + 1, close - i - 1), nesting));
      i = close + 1;
    }
    return out;
  }

  static std::size_t closing(std::string_view view, std::size_t open) {
    int depth = 0;
    for (std::size_t i = open; i < view.size(); ++i) {
      if (view[i] == '{') ++depth;
      if (view[i] == '}' && --depth == 0) return i;
    }
    failType("expected '}' before end of string");
  }

  TaggedText field(const TaggedText& content, int nesting) {
    const std::string_view view = content.text();
    std::size_t end = 0;
    for (bool bracket = false; end < view.size(); ++end) {
      if (view[end] == '[') bracket = true;
      if (view[end] == ']') bracket = false;
      if (!bracket && (view[end] == ':' || view[end] == '!')) break;
    }
    Value value = lookUp(view.substr(0, end));
    if (end < view.size() && view[end] == '!') {
      const char conversion = end + 1 < view.size() ? view[end + 1] : '\0';
      if (conversion == 's')
        value = toString(runtime_, value);
      else if (conversion == 'r')
        value = runtime_.data(repr(runtime_, value));
      else
        failType("unknown conversion in format string");
      end += 2;
      if (end < view.size() && view[end] != ':') failType("expected ':' after conversion specifier");
    }
    const bool hasSpec = end < view.size();
    const TaggedText spec = hasSpec ? fill(content.substr(end + 1), nesting + 1) : TaggedText();
    if (format_.markup) value = toMarkup(runtime_, value);
    if (spec.empty()) return toText(runtime_, value);
    return formatValue(runtime_, value, parseFormatSpec(spec.text()));
  }

  Value lookUp(std::string_view path) {
    const std::size_t nameEnd = std::min(path.find_first_of(".["), path.size());
    Value value = argument(path.substr(0, nameEnd));
    for (std::size_t i = nameEnd; i < path.size();) {
      if (path[i] == '.') {
        const std::size_t end = std::min(path.find_first_of(".[", i + 1), path.size());
        value = getAttribute(runtime_, value, runtime_.data(path.substr(i + 1, end - i - 1)));
        i = end;
      } else {
        const std::size_t close = path.find(']', i);
        if (path[i] != '[' || close == std::string_view::npos)
          failType("malformed field name in format string");
        value = getItem(runtime_, value, keyOf(path.substr(i + 1, close - i - 1)));
        i = close + 1;
      }
    }
    return value;
  }

  Value keyOf(std::string_view text) {
    std::size_t end = 0;
    const std::int64_t number = readNumber(text, end);
    return end == text.size() && end > 0 ? Value::integer(number) : runtime_.data(text);
  }

  Value argument(std::string_view name) {
    std::size_t end = 0;
    const std::int64_t number = readNumber(name, end);
    if (end == name.size()) {
      const std::size_t index = name.empty() ? automatic_++ : static_cast<std::size_t>(number);
      (name.empty() ? usedAutomatic_ : usedManual_) = true;
      if (usedAutomatic_ && usedManual_)
        failType("cannot switch between manual and automatic field numbering");
      if (index >= arguments_.positional.size()) failType("the format has more fields than arguments");
      return arguments_.positional[index];
    }
    for (const auto& [key, value] : arguments_.keywords) {
      if (key.asString().view() == name) return value;
    }
    failType("the format names an argument that was not given");
  }

  Runtime& runtime_;
  const String& format_;
  const Arguments& arguments_;
  std::size_t automatic_ = 0;
  bool usedAutomatic_ = false;
  bool usedManual_ = false;
};

}  // namespace

Value percentFormat(Runtime& runtime, const String& format, const Value& right) {
  return PercentFormatter(runtime, format, right).run();
}

Value braceFormat(Runtime& runtime, const String& format, const Arguments& arguments) {
  return BraceFormatter(runtime, format, arguments).run();
}

}  // namespace tandem::jinja
