#include "app/service/hidden_text.h"

#include <algorithm>
#include <set>

#include "engine/session/answer_text.h"
#include "engine/tokenizer/detokenizer.h"

namespace tandem::service {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n\v\f";

std::string_view trimmedLeft(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kWhiteSpace), text.size()));
}

std::string_view trimmedRight(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kWhiteSpace) + 1);
}

// Where the thinking block of an answer ends in its text; 0: it has none.
std::size_t endOfThought(const std::shared_ptr<const Tokenizer>& tokenizer, const ReasoningMarks& marks,
                         std::span<const TokenId> prompt, std::span<const TokenId> answer) {
  Reasoning reasoning(tokenizer, marks, {});
  reasoning.begin(prompt);
  StreamingDetokenizer detokenizer(tokenizer);
  std::string text;
  for (const TokenId token : answer) {
    reasoning.push(token);
    text += detokenizer.push(token);
    if (reasoning.stats().end != ReasoningEnd::kOwn) continue;
    // The token of the mark may go on behind it; a mark that is a control token is not in the text.
    const std::size_t mark = text.find(marks.close);
    return mark == std::string::npos ? text.size() : mark + marks.close.size();
  }
  return reasoning.stats().end == ReasoningEnd::kOpen ? std::string::npos : 0;
}

// Bytes of the answer's text before the stop string that ended it; npos: none did.
std::size_t shownBeforeStop(const std::shared_ptr<const Tokenizer>& tokenizer,
                            std::span<const TokenId> answer, const std::vector<std::string>& stop,
                            int minTokens) {
  AnswerText text(tokenizer, stop, minTokens);
  std::size_t shown = 0;
  for (const TokenId token : answer) {
    shown += text.push(token).size();
    if (text.stopped()) return shown;
  }
  return std::string::npos;
}

}  // namespace

WrittenText writtenText(const std::shared_ptr<const Tokenizer>& tokenizer, std::span<const TokenId> ids) {
  while (!ids.empty() && tokenizer->isEndToken(ids.back()))
    ids = ids.first(ids.size() - 1);
  StreamingDetokenizer detokenizer(tokenizer);
  WrittenText written;
  for (const TokenId id : ids)
    written.text += detokenizer.push(id);
  written.unfinished = detokenizer.finish();
  return written;
}

bool isCopy(std::string_view copy, std::string_view text, std::span<const HiddenText> hidden,
            std::string_view opened) {
  if (!opened.empty() && copy.starts_with(opened)) copy = trimmedLeft(copy.substr(opened.size()));
  // Where in the copy what follows the stretches so far may begin.
  std::set<std::size_t> places = {0};
  const auto skipSpace = [&](std::size_t at) { return copy.size() - trimmedLeft(copy.substr(at)).size(); };
  std::size_t at = 0;
  for (const HiddenText& stretch : hidden) {
    if (stretch.begin < at || stretch.begin > text.size()) return false;
    std::string_view shown = trimmedRight(text.substr(at, stretch.begin - at));
    if (&stretch != hidden.data()) shown = trimmedLeft(shown);
    const std::string_view left = trimmedRight(trimmedLeft(text.substr(stretch.begin, stretch.bytes)));
    std::set<std::size_t> next;
    for (const std::size_t place : places) {
      if (!copy.substr(place).starts_with(shown)) continue;
      const std::size_t behind = skipSpace(place + shown.size());
      next.insert(behind);
      if (copy.substr(behind).starts_with(left)) next.insert(skipSpace(behind + left.size()));
    }
    places = std::move(next);
    at = stretch.begin + std::min(stretch.bytes, text.size() - stretch.begin);
  }
  const std::string_view rest = hidden.empty() ? text : trimmedLeft(text.substr(at));
  return std::ranges::any_of(places, [&](std::size_t place) { return copy.substr(place) == rest; });
}

bool beginsInThought(std::string_view text, const ReasoningMarks& marks) {
  const std::size_t close = text.find(marks.close);
  return close != std::string_view::npos && close < text.find(marks.open);
}

std::string_view openingOf(std::string_view prompt, const ReasoningMarks& marks) {
  const std::string_view words = trimmedRight(prompt);
  return words.ends_with(marks.open) ? prompt.substr(words.size() - marks.open.size()) : std::string_view();
}

std::vector<HiddenText> hiddenIn(const std::shared_ptr<const Tokenizer>& tokenizer,
                                 const std::optional<ReasoningMarks>& marks, std::span<const TokenId> prompt,
                                 std::span<const TokenId> answer, const std::vector<std::string>& stop,
                                 int minTokens) {
  std::vector<HiddenText> hidden;
  const std::size_t thought = marks ? endOfThought(tokenizer, *marks, prompt, answer) : 0;
  const std::size_t shown = shownBeforeStop(tokenizer, answer, stop, minTokens);
  if (thought > 0) hidden.push_back({0, thought});
  if (thought == std::string::npos || shown == std::string::npos) return hidden;
  hidden.push_back({std::max(shown, thought), std::string::npos});
  return hidden;
}

}  // namespace tandem::service
