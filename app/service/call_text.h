// What of a tool's call and result is compared (docs/loop-escape.md). Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::service {

inline constexpr int kMostNesting = 64;

// A call's arguments as a value of the given JSON type; nullopt where they are no JSON or nested deeper than
// kMostNesting. No arguments, and null, are an empty object.
template <class Json>
std::optional<Json> argumentsOf(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos) return Json::object();
  bool tooDeep = false;
  const auto watchDepth = [&](int depth, typename Json::parse_event_t, Json&) {
    tooDeep |= depth > kMostNesting;
    return !tooDeep;
  };
  Json value = Json::parse(text, watchDepth, false);
  if (tooDeep || value.is_discarded()) return std::nullopt;
  return value.is_null() ? Json::object() : value;
}

// The text's words: what stands between white space, ASCII letters in lower case.
std::vector<std::string> wordsOf(std::string_view text);

// Whether two arguments ask for nearly the same: equal words, or, in texts of at most kMostWords, nine of ten
// words the same and all words with digits.
bool nearlySameText(std::string_view a, std::string_view b);
inline constexpr std::size_t kMostWords = 40;

// The words of a result, without clock times, dates, durations and UUIDs.
std::vector<std::string> lastingWordsOf(std::string_view result);

// An argument's name that says how often or why something is asked and not what ("attempt"), or which part of
// a longer answer is wanted ("page"). The name may be written in any of camelCase, snake_case, kebab-case.
bool isVolatileName(std::string_view name);

}  // namespace tandem::service
