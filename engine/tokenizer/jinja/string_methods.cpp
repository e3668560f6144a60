// The methods of str.
#include <algorithm>
#include <unordered_map>

#include "engine/tokenizer/jinja/attributes.h"
#include "engine/tokenizer/jinja/format.h"
#include "engine/tokenizer/jinja/iteration.h"
#include "engine/tokenizer/jinja/text.h"
#include "engine/tokenizer/jinja/text_ops.h"
#include "engine/tokenizer/jinja/utf8.h"

namespace tandem::jinja {
namespace {

const String& receiver(Runtime& runtime, const Value& self) {
  runtime.budget.spendScan(self.asString().text.size());
  return self.asString();
}

const String& requireString(const Value& value, std::string_view function) {
  if (!value.isString()) {
    failType(std::string(function) + " needs a string, not '" + typeName(value) + "'");
  }
  return value.asString();
}

// A result is Markup when the string it was made from is.
Value like(Runtime& runtime, const String& string, TaggedText text) {
  return runtime.text(std::move(text), string.markup);
}

Value listOf(Runtime& runtime, const String& string, std::vector<TaggedText> parts) {
  std::vector<Value> items;
  items.reserve(parts.size());
  for (TaggedText& part : parts)
    items.push_back(like(runtime, string, std::move(part)));
  return runtime.arena.list(std::move(items));
}

template <Case kTo>
Value changeCaseMethod(Runtime& runtime, const Value& self, const Arguments& arguments) {
  positionalOnly("a case method", arguments, 0, 0);
  const String& string = receiver(runtime, self);
  runtime.budget.spendBytes(string.text.size());
  return like(runtime, string, changeCase(string.text, kTo));
}

template <Side kSide>
Value stripMethod(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value>& given = positionalOnly("strip", arguments, 0, 1);
  const String& string = receiver(runtime, self);
  if (given.empty() || given[0].isNone()) return like(runtime, string, strip(string.text, nullptr, kSide));
  const std::string_view chars = requireString(given[0], "strip").view();
  // Every character looked at is compared with every character of the set.
  runtime.budget.spendScan(string.text.size() * std::max<std::size_t>(chars.size(), 1));
  return like(runtime, string, strip(string.text, &chars, kSide));
}

template <bool kFromRight>
Value splitMethod(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("split", arguments, {"sep", "maxsplit"});
  const String& string = receiver(runtime, self);
  const std::int64_t limit = integerOr(given[1], -1, "maxsplit");
  const auto cut = kFromRight ? splitFromRight : split;
  if (given[0].isMissing() || given[0].isNone()) {
    return listOf(runtime, string, cut(runtime.budget, string.text, nullptr, limit));
  }
  const std::string_view separator = requireString(given[0], "split").view();
  if (separator.empty()) failType("empty separator");
  return listOf(runtime, string, cut(runtime.budget, string.text, &separator, limit));
}

Value splitLinesMethod(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("splitlines", arguments, {"keepends"});
  const String& string = receiver(runtime, self);
  return listOf(runtime, string, splitLines(runtime.budget, string.text, truthOr(given[0], false)));
}

// The byte range of string[start:stop], for the searching methods.
ByteRange searchRange(Runtime& runtime, const String& string, const std::vector<Value>& given) {
  const auto size = static_cast<std::int64_t>(string.length);
  const auto bound = [&](std::size_t index, std::int64_t fallback) {
    if (given.size() <= index || given[index].isNone()) return fallback;
    const std::int64_t at = integerOr(given[index], fallback, "an index");
    return at < 0 ? std::max<std::int64_t>(at + size, 0) : std::min(at, size + 1);
  };
  const std::int64_t start = bound(1, 0);
  const std::int64_t stop = std::min(bound(2, size), size);
  if (start > stop) return {std::string_view::npos, 0};
  if (string.isAscii()) return {static_cast<std::size_t>(start), static_cast<std::size_t>(stop)};
  runtime.budget.spendBytes(string.text.size());
  return {utf8::offsetOf(string.view(), static_cast<std::size_t>(start)),
          utf8::offsetOf(string.view(), static_cast<std::size_t>(stop))};
}

// find, rfind, index and rindex: the character index of the first or last occurrence.
template <bool kLast, bool kMustExist>
Value findMethod(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value>& given = positionalOnly("find", arguments, 1, 3);
  const String& string = receiver(runtime, self);
  const std::string_view part = requireString(given[0], "find").view();
  const ByteRange range = searchRange(runtime, string, given);
  std::size_t found = std::string_view::npos;
  if (range.begin != std::string_view::npos) {
    const std::string_view searched = string.view().substr(range.begin, range.end - range.begin);
    found = kLast ? searched.rfind(part) : searched.find(part);
  }
  if (found == std::string_view::npos) {
    if (kMustExist) failType("substring not found");
    return Value::integer(-1);
  }
  return Value::integer(
      static_cast<std::int64_t>(utf8::countChars(string.view().substr(0, range.begin + found))));
}

Value countMethod(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value>& given = positionalOnly("count", arguments, 1, 3);
  const String& string = receiver(runtime, self);
  const std::string_view part = requireString(given[0], "count").view();
  const ByteRange range = searchRange(runtime, string, given);
  if (range.begin == std::string_view::npos) return Value::integer(0);
  const std::size_t count = countOf(string.view().substr(range.begin, range.end - range.begin), part);
  runtime.budget.spend(count);
  return Value::integer(static_cast<std::int64_t>(count));
}

// startswith and endswith, with one text or a tuple of them.
template <bool kStart>
Value edgeMethod(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value>& given = positionalOnly("startswith", arguments, 1, 3);
  const String& string = self.asString();
  const ByteRange range = searchRange(runtime, string, given);
  if (range.begin == std::string_view::npos) return Value::boolean(false);
  const std::string_view view = string.view().substr(range.begin, range.end - range.begin);
  const auto matches = [&](const Value& part) {
    const std::string_view text = requireString(part, "startswith").view();
    runtime.budget.spendScan(text.size());
    return kStart ? view.starts_with(text) : view.ends_with(text);
  };
  if (!given[0].is(Kind::kTuple)) return Value::boolean(matches(given[0]));
  const std::vector<Value>& parts = given[0].asSequence().items;
  return Value::boolean(std::any_of(parts.begin(), parts.end(), matches));
}

template <bool kPrefix>
Value removeEdgeMethod(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value>& given = positionalOnly("removeprefix", arguments, 1, 1);
  const String& string = receiver(runtime, self);
  const std::string_view edge = requireString(given[0], "removeprefix").view();
  const bool has = kPrefix ? string.view().starts_with(edge) : string.view().ends_with(edge);
  if (!has) return self;
  return like(runtime, string,
              string.text.substr(kPrefix ? edge.size() : 0, string.text.size() - edge.size()));
}

Value replaceMethod(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value>& given = positionalOnly("replace", arguments, 2, 3);
  const String& string = receiver(runtime, self);
  const String& from = requireString(given[0], "replace");
  requireString(given[1], "replace");
  const Value to = string.markup ? toMarkup(runtime, given[1]) : given[1];
  const std::int64_t limit = given.size() > 2 ? integerOr(given[2], -1, "count") : -1;
  return like(runtime, string, replace(runtime.budget, string.text, from.view(), to.asString().text, limit));
}

Value joinMethod(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value>& given = positionalOnly("join", arguments, 1, 1);
  const String& separator = receiver(runtime, self);
  TaggedText out;
  bool first = true;
  for (const Value& item : collect(runtime, given[0])) {
    const String& part = separator.markup ? toMarkup(runtime, item).asString() : requireString(item, "join");
    if (!first) {
      runtime.budget.spendBytes(costOf(separator.text));
      out.append(separator.text);
    }
    first = false;
    runtime.budget.spendBytes(costOf(part.text));
    out.append(part.text);
  }
  return like(runtime, separator, std::move(out));
}

template <bool kFromRight>
Value partitionMethod(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value>& given = positionalOnly("partition", arguments, 1, 1);
  const String& string = receiver(runtime, self);
  const String& separator = requireString(given[0], "partition");
  if (separator.text.empty()) failType("empty separator");
  const std::size_t found =
      kFromRight ? string.view().rfind(separator.view()) : string.view().find(separator.view());
  const Value empty = like(runtime, string, {});
  if (found == std::string_view::npos) {
    return kFromRight ? runtime.arena.tuple({empty, empty, self}) : runtime.arena.tuple({self, empty, empty});
  }
  return runtime.arena.tuple({like(runtime, string, string.text.substr(0, found)),
                              like(runtime, string, string.text.substr(found, separator.text.size())),
                              like(runtime, string, string.text.substr(found + separator.text.size()))});
}

template <Align kAlign>
Value padMethod(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value>& given = positionalOnly("a padding method", arguments, 1, 2);
  const String& string = receiver(runtime, self);
  Value fill = given.size() > 1 ? given[1] : runtime.data(" ");
  if (requireString(fill, "padding").length != 1) failType("the fill character must be one character");
  if (string.markup) fill = toMarkup(runtime, fill);
  return like(runtime, string,
              pad(runtime.budget, string.text, string.length, integerOr(given[0], 0, "width"),
                  fill.asString().text, kAlign));
}

Value zfillMethod(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value>& given = positionalOnly("zfill", arguments, 1, 1);
  const String& string = receiver(runtime, self);
  const std::size_t sign =
      !string.text.empty() && (string.view()[0] == '-' || string.view()[0] == '+') ? 1 : 0;
  TaggedText out = string.text.substr(0, sign);
  const std::int64_t width = integerOr(given[0], 0, "width");
  if (width > static_cast<std::int64_t>(string.length)) {
    out.append(pad(runtime.budget, string.text.substr(sign), string.length - sign,
                   width - static_cast<std::int64_t>(sign), TaggedText("0", false), Align::kRight));
    return like(runtime, string, std::move(out));
  }
  return self;
}

Value expandTabsMethod(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> given = bind("expandtabs", arguments, {"tabsize"});
  const String& string = receiver(runtime, self);
  const std::int64_t size = std::max<std::int64_t>(integerOr(given[0], 8, "tabsize"), 0);
  TaggedText out;
  std::int64_t column = 0;
  for (std::size_t i = 0; i < string.text.size();) {
    const utf8::Char c = utf8::decode(string.view(), i);
    if (c.code == '\t') {
      const std::int64_t spaces = size == 0 ? 0 : size - column % size;
      runtime.budget.spend(static_cast<std::uint64_t>(spaces));
      out.append(std::string(static_cast<std::size_t>(spaces), ' '), false);
      column += spaces;
    } else {
      out.append(string.text.substr(i, c.length));
      column = c.code == '\n' || c.code == '\r' ? 0 : column + 1;
    }
    i += c.length;
  }
  return like(runtime, string, std::move(out));
}

// isalpha and its like: whether there is a character and all have the property.
template <bool (*kHas)(std::uint32_t)>
Value allCharsMethod(Runtime& runtime, const Value& self, const Arguments& arguments) {
  positionalOnly("a character test", arguments, 0, 0);
  const String& string = receiver(runtime, self);
  for (std::size_t i = 0; i < string.text.size();) {
    const utf8::Char c = utf8::decode(string.view(), i);
    if (!kHas(c.code)) return Value::boolean(false);
    i += c.length;
  }
  return Value::boolean(!string.text.empty() || kHas == utf8::isPrintable);
}

Value isAsciiMethod(Runtime&, const Value& self, const Arguments& arguments) {
  positionalOnly("isascii", arguments, 0, 0);
  const std::string_view view = self.asString().view();
  return Value::boolean(
      std::all_of(view.begin(), view.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
}

Value isIdentifierMethod(Runtime& runtime, const Value& self, const Arguments& arguments) {
  positionalOnly("isidentifier", arguments, 0, 0);
  const String& string = receiver(runtime, self);
  if (string.text.empty() || utf8::isNumeric(utf8::decode(string.view(), 0).code))
    return Value::boolean(false);
  return allCharsMethod<utf8::isIdentifier>(runtime, self, arguments);
}

// islower and isupper: some cased character, and none of the other cases.
template <bool kUpper>
Value isCaseMethod(Runtime& runtime, const Value& self, const Arguments& arguments) {
  positionalOnly("a case test", arguments, 0, 0);
  const String& string = receiver(runtime, self);
  bool any = false;
  for (std::size_t i = 0; i < string.text.size();) {
    const utf8::Char c = utf8::decode(string.view(), i);
    if (utf8::isTitle(c.code) || (kUpper ? utf8::isLower(c.code) : utf8::isUpper(c.code)))
      return Value::boolean(false);
    any = any || (kUpper ? utf8::isUpper(c.code) : utf8::isLower(c.code));
    i += c.length;
  }
  return Value::boolean(any);
}

Value isTitleMethod(Runtime& runtime, const Value& self, const Arguments& arguments) {
  positionalOnly("istitle", arguments, 0, 0);
  const String& string = receiver(runtime, self);
  bool any = false;
  bool afterCased = false;
  for (std::size_t i = 0; i < string.text.size();) {
    const utf8::Char c = utf8::decode(string.view(), i);
    const bool starts = utf8::isUpper(c.code) || utf8::isTitle(c.code);
    if ((starts && afterCased) || (utf8::isLower(c.code) && !afterCased)) return Value::boolean(false);
    afterCased = utf8::isCased(c.code);
    any = any || afterCased;
    i += c.length;
  }
  return Value::boolean(any);
}

Value formatMethod(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return braceFormat(runtime, receiver(runtime, self), arguments);
}

Value formatMapMethod(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value>& given = positionalOnly("format_map", arguments, 1, 1);
  if (!given[0].is(Kind::kDict)) failType("format_map needs a dictionary");
  Arguments named;
  for (const auto& [key, value] : given[0].asDict().entries()) {
    if (key.isString()) named.keywords.emplace_back(key, value);
  }
  return braceFormat(runtime, receiver(runtime, self), named);
}

Value unsupportedMethod(Runtime&, const Value&, const Arguments&) {
  failType("this method of strings is not supported in chat templates");
}

}  // namespace

NativeCall stringMethod(std::string_view name) {
  static const std::unordered_map<std::string_view, NativeCall> kMethods = {
      {"capitalize", changeCaseMethod<Case::kCapitalize>},
      {"casefold", changeCaseMethod<Case::kLower>},
      {"center", padMethod<Align::kCenter>},
      {"count", countMethod},
      {"encode", unsupportedMethod},
      {"endswith", edgeMethod<false>},
      {"expandtabs", expandTabsMethod},
      {"find", findMethod<false, false>},
      {"format", formatMethod},
      {"format_map", formatMapMethod},
      {"index", findMethod<false, true>},
      {"isalnum", allCharsMethod<utf8::isAlnum>},
      {"isalpha", allCharsMethod<utf8::isAlpha>},
      {"isascii", isAsciiMethod},
      {"isdecimal", allCharsMethod<utf8::isDecimal>},
      {"isdigit", allCharsMethod<utf8::isDigit>},
      {"isidentifier", isIdentifierMethod},
      {"islower", isCaseMethod<false>},
      {"isnumeric", allCharsMethod<utf8::isNumeric>},
      {"isprintable", allCharsMethod<utf8::isPrintable>},
      {"isspace", allCharsMethod<utf8::isSpace>},
      {"istitle", isTitleMethod},
      {"isupper", isCaseMethod<true>},
      {"join", joinMethod},
      {"ljust", padMethod<Align::kLeft>},
      {"lower", changeCaseMethod<Case::kLower>},
      {"lstrip", stripMethod<Side::kLeft>},
      {"maketrans", unsupportedMethod},
      {"partition", partitionMethod<false>},
      {"removeprefix", removeEdgeMethod<true>},
      {"removesuffix", removeEdgeMethod<false>},
      {"replace", replaceMethod},
      {"rfind", findMethod<true, false>},
      {"rindex", findMethod<true, true>},
      {"rjust", padMethod<Align::kRight>},
      {"rpartition", partitionMethod<true>},
      {"rsplit", splitMethod<true>},
      {"rstrip", stripMethod<Side::kRight>},
      {"split", splitMethod<false>},
      {"splitlines", splitLinesMethod},
      {"startswith", edgeMethod<true>},
      {"strip", stripMethod<Side::kBoth>},
      {"swapcase", changeCaseMethod<Case::kSwap>},
      {"title", changeCaseMethod<Case::kTitle>},
      {"translate", unsupportedMethod},
      {"upper", changeCaseMethod<Case::kUpper>},
      {"zfill", zfillMethod},
  };
  const auto found = kMethods.find(name);
  return found == kMethods.end() ? nullptr : found->second;
}

}  // namespace tandem::jinja
