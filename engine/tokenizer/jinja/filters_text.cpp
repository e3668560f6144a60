// Filters on texts.
#include <algorithm>
#include <unordered_map>

#include "engine/tokenizer/jinja/attributes.h"
#include "engine/tokenizer/jinja/builtins.h"
#include "engine/tokenizer/jinja/format.h"
#include "engine/tokenizer/jinja/iteration.h"
#include "engine/tokenizer/jinja/json.h"
#include "engine/tokenizer/jinja/operators.h"
#include "engine/tokenizer/jinja/text.h"
#include "engine/tokenizer/jinja/text_ops.h"
#include "engine/tokenizer/jinja/utf8.h"

namespace tandem::jinja {
namespace {

// The input as a string value; what is no string is printed first.
const String& input(Runtime& runtime, const Value& self) {
  const Value text = toString(runtime, self);
  runtime.budget.spendScan(text.asString().text.size());
  return text.asString();
}

template <Case kTo>
Value changeCaseFilter(Runtime& runtime, const Value& self, const Arguments& arguments) {
  bind("a case filter", arguments, {});
  const String& text = input(runtime, self);
  runtime.budget.spendBytes(text.text.size());
  return runtime.text(changeCase(text.text, kTo), text.markup);
}

// Words start after white space and after - ( { [ <; unlike str.title, nothing else starts one.
Value title(Runtime& runtime, const Value& self, const Arguments& arguments) {
  bind("title", arguments, {});
  const String& text = input(runtime, self);
  runtime.budget.spendBytes(text.text.size());
  TaggedText out;
  bool atStart = true;
  std::size_t position = 0;
  for (const TaggedText::Run& run : text.text.runs()) {
    std::string changed;
    for (const std::size_t end = position + run.length; position < end;) {
      const utf8::Char c = utf8::decode(text.view(), position);
      const bool separates = utf8::isSpace(c.code) ||
                             (c.code < 0x80 && std::string_view("-({[<").find(static_cast<char>(c.code)) !=
                                                   std::string_view::npos);
      changed += atStart ? utf8::upper(c.code) : utf8::lower(c.code);
      atStart = separates;
      position += c.length;
    }
    out.append(changed, run.fromTemplate);
  }
  return runtime.text(std::move(out));
}

Value trim(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("trim", arguments, {"chars"});
  const String& text = input(runtime, self);
  if (given[0].isMissing() || given[0].isNone())
    return runtime.text(strip(text.text, nullptr, Side::kBoth), text.markup);
  if (!given[0].isString()) failType("trim needs a string of characters");
  const std::string_view chars = given[0].asString().view();
  runtime.budget.spendScan(text.text.size() * std::max<std::size_t>(chars.size(), 1));
  return runtime.text(strip(text.text, &chars, Side::kBoth), text.markup);
}

Value replaceFilter(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("replace", arguments, {"old", "new", "count"}, 2);
  const TaggedText from = toText(runtime, given[0]);
  const bool all = given[2].isMissing() || given[2].isNone();
  return runtime.text(replace(runtime.budget, input(runtime, self).text, from.text(),
                              toText(runtime, given[1]), all ? -1 : integerOr(given[2], -1, "count")));
}

Value string(Runtime& runtime, const Value& self, const Arguments& arguments) {
  bind("string", arguments, {});
  return toString(runtime, self);
}

Value safe(Runtime& runtime, const Value& self, const Arguments& arguments) {
  bind("safe", arguments, {});
  return runtime.text(toText(runtime, self), true);
}

Value escape(Runtime& runtime, const Value& self, const Arguments& arguments) {
  bind("escape", arguments, {});
  return toMarkup(runtime, self);
}

Value forceEscape(Runtime& runtime, const Value& self, const Arguments& arguments) {
  bind("forceescape", arguments, {});
  return runtime.text(escapeHtml(toText(runtime, self)), true);
}

Value indent(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("indent", arguments, {"width", "first", "blank"});
  if (self.isUndefined()) self.as<Undefined>().raise();
  if (!self.isString()) failType("indent needs a string");
  TaggedText indention;
  if (given[0].isString()) {
    indention = given[0].asString().text;
  } else {
    const std::int64_t width = std::max<std::int64_t>(integerOr(given[0], 4, "width"), 0);
    indention = pad(runtime.budget, {}, 0, width, TaggedText(" ", false), Align::kLeft);
  }
  const bool blank = truthOr(given[2], false);
  // With the line end that is added here, a text that ends in one keeps an empty last line.
  TaggedText text = self.asString().text;
  text.append("\n", false);
  const std::vector<TaggedText> lines = splitLines(runtime.budget, text, false);
  TaggedText out;
  if (truthOr(given[1], false)) out.append(indention);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.append("\n", false);
    if (i > 0 && (blank || !lines[i].empty())) {
      runtime.budget.spendBytes(costOf(indention));
      out.append(indention);
    }
    out.append(lines[i]);
  }
  return runtime.text(std::move(out), self.asString().markup);
}

Value center(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("center", arguments, {"width"});
  const String& text = input(runtime, self);
  return runtime.text(pad(runtime.budget, text.text, text.length, integerOr(given[0], 80, "width"),
                          TaggedText(" ", false), Align::kCenter),
                      text.markup);
}

Value wordCount(Runtime& runtime, const Value& self, const Arguments& arguments) {
  bind("wordcount", arguments, {});
  const String& text = input(runtime, self);
  std::int64_t words = 0;
  bool inside = false;
  for (std::size_t i = 0; i < text.text.size();) {
    const utf8::Char c = utf8::decode(text.view(), i);
    const bool isWord = c.code == '_' || utf8::isAlnum(c.code);
    if (isWord && !inside) ++words;
    inside = isWord;
    i += c.length;
  }
  return Value::integer(words);
}

Value format(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const String& text = input(runtime, self);
  if (!arguments.keywords.empty() && !arguments.positional.empty()) {
    failType("format cannot take positional and named arguments at the same time");
  }
  if (arguments.keywords.empty())
    return percentFormat(runtime, text, runtime.arena.tuple(arguments.positional));
  auto* named = runtime.arena.make<Dict>();
  for (const auto& [name, value] : arguments.keywords)
    named->set(runtime.budget, name, value);
  return percentFormat(runtime, text, Value(named));
}

Value truncateFilter(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("truncate", arguments, {"length", "killwords", "end", "leeway"});
  const Value end = given[2].isMissing() ? runtime.data("...") : given[2];
  if (!end.isString()) failType("the end of truncate must be a string");
  const std::int64_t length = integerOr(given[0], 255, "length");
  const std::int64_t leeway = given[3].isNone() ? 5 : integerOr(given[3], 5, "leeway");
  const auto endLength = static_cast<std::int64_t>(end.asString().length);
  if (length < endLength || leeway < 0) failType("truncate was given a length or leeway that is too small");
  if (requireLength(self) - leeway <= length) return self;
  if (!self.isString()) failType("truncate needs a string");
  const Value cut = slice(runtime, self, Value::none(), Value::integer(length - endLength), Value::none());
  TaggedText kept = cut.asString().text;
  if (!truthOr(given[1], false)) {
    const std::size_t space = kept.text().rfind(' ');
    if (space != std::string::npos) kept = kept.substr(0, space);
  }
  kept.append(end.asString().text);
  return runtime.text(std::move(kept), self.asString().markup);
}

Value toJsonFilter(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given =
      bind("tojson", arguments, {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  style.ensureAscii = truthOr(given[0], false);
  style.sortKeys = truthOr(given[3], false);
  if (!given[1].isMissing() && !given[1].isNone()) {
    const bool asText = given[1].isString();
    const std::int64_t width = asText ? 0 : std::max<std::int64_t>(integerOr(given[1], 0, "indent"), 0);
    runtime.budget.spend(static_cast<std::uint64_t>(width));
    style.indent =
        asText ? std::string(given[1].asString().view()) : std::string(static_cast<std::size_t>(width), ' ');
    style.itemSeparator = ",";
  }
  if (!given[2].isMissing() && !given[2].isNone()) {
    const std::vector<Value> separators = collect(runtime, given[2]);
    if (separators.size() != 2 || !separators[0].isString() || !separators[1].isString()) {
      failType("separators of tojson must be two strings");
    }
    style.itemSeparator = separators[0].asString().view();
    style.keySeparator = separators[1].asString().view();
  }
  return runtime.data(toJson(runtime, self, style));
}

}  // namespace

NativeCall findTextFilter(std::string_view name) {
  static const std::unordered_map<std::string_view, NativeCall> kFilters = {
      {"capitalize", changeCaseFilter<Case::kCapitalize>},
      {"center", center},
      {"e", escape},
      {"escape", escape},
      {"forceescape", forceEscape},
      {"format", format},
      {"indent", indent},
      {"lower", changeCaseFilter<Case::kLower>},
      {"replace", replaceFilter},
      {"safe", safe},
      {"string", string},
      {"title", title},
      {"tojson", toJsonFilter},
      {"trim", trim},
      {"truncate", truncateFilter},
      {"upper", changeCaseFilter<Case::kUpper>},
      {"wordcount", wordCount},
  };
  const auto found = kFilters.find(name);
  return found == kFilters.end() ? nullptr : found->second;
}

}  // namespace tandem::jinja
