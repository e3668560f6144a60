#include "app/service/call_text.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace tandem::service {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n\v\f";

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}
bool isHex(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'f');
}
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool hasDigit(std::string_view word) {
  return std::ranges::any_of(word, isDigit);
}

// Words that two sorted lists share, each as often as both have it.
std::size_t shared(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::string_view> common;
  std::ranges::set_intersection(a, b, std::back_inserter(common));
  return common.size();
}

std::vector<std::string> withDigits(const std::vector<std::string>& words) {
  std::vector<std::string> found;
  std::ranges::copy_if(words, std::back_inserter(found), hasDigit);
  return found;
}

// "[12:03:55]," without what stands around it.
std::string_view core(std::string_view word) {
  constexpr std::string_view kAround = "()[]{}<>,;:.!?\"'`";
  const std::size_t first = word.find_first_not_of(kAround);
  if (first == std::string_view::npos) return {};
  return word.substr(first, word.find_last_not_of(kAround) + 1 - first);
}

// 12:03:55, 2026-11-30T12:03:55.25Z, 2026-11-30
bool isTime(std::string_view word) {
  const auto colons = std::ranges::count(word, ':'), dashes = std::ranges::count(word, '-');
  return (colons > 0 || dashes == 2) && isDigit(word[0]) &&
         word.find_first_not_of("0123456789:-.,+tz") == std::string_view::npos;
}

bool isUnitOfTime(std::string_view word) {
  constexpr std::array<std::string_view, 10> kUnits = {"ns",     "us",      "ms",   "s",   "sec",
                                                       "second", "seconds", "secs", "min", "minutes"};
  return std::ranges::find(kUnits, word) != kUnits.end();
}

bool isNumber(std::string_view word) {
  return !word.empty() && isDigit(word[0]) && word.find_first_not_of("0123456789.") == std::string_view::npos;
}

// 1.25s, 340ms
bool isDuration(std::string_view word) {
  const std::size_t unit = std::min(word.find_first_not_of("0123456789."), word.size());
  return isNumber(word.substr(0, unit)) && isUnitOfTime(word.substr(unit));
}

bool isUuid(std::string_view word) {
  if (word.size() != 36) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? word[i] != '-' : !isHex(word[i])) return false;
  }
  return true;
}

}  // namespace

std::vector<std::string> wordsOf(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; (at = text.find_first_not_of(kWhiteSpace, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kWhiteSpace, at), text.size());
    std::string word(text.substr(at, end - at));
    std::ranges::transform(word, word.begin(), lower);
    words.push_back(std::move(word));
    at = end;
  }
  return words;
}

bool nearlySameText(std::string_view a, std::string_view b) {
  std::vector<std::string> one = wordsOf(a), other = wordsOf(b);
  if (one == other) return true;
  if (std::max(one.size(), other.size()) > kMostWords) return false;
  std::ranges::sort(one);
  std::ranges::sort(other);
  return withDigits(one) == withDigits(other) && 20 * shared(one, other) >= 9 * (one.size() + other.size());
}

std::vector<std::string> lastingWordsOf(std::string_view result) {
  std::vector<std::string> lasting;
  for (std::string& word : wordsOf(result)) {
    const std::string_view bare = core(word);
    if (!bare.empty() && (isTime(bare) || isDuration(bare) || isUuid(bare))) continue;
    // "in 1.25 s"
    if (isUnitOfTime(bare) && !lasting.empty() && isNumber(core(lasting.back()))) {
      lasting.pop_back();
      continue;
    }
    lasting.push_back(std::move(word));
  }
  return lasting;
}

bool isVolatileName(std::string_view name) {
  constexpr auto kNames =
      std::to_array<std::string_view>({// how often
                                       "attempt", "attempts", "retry", "retries", "retrycount", "counter",
                                       "iteration", "requestid", "callid", "traceid", "nonce", "timestamp",
                                       // why
                                       "explanation", "reasoning", "thought", "thoughts",
                                       // which part
                                       "page", "pagenumber", "pagetoken", "nextpagetoken", "cursor", "offset",
                                       "skip", "startindex", "startline", "endline", "limit", "maxresults"});
  std::string plain;
  for (const char c : name) {
    if (c != '_' && c != '-') plain += lower(c);
  }
  return std::ranges::find(kNames, plain) != kNames.end();
}

}  // namespace tandem::service
