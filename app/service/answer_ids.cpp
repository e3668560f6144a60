#include "app/service/answer_ids.h"

#include <algorithm>
#include <string>

#include "app/service/chat_request.h"
#include "app/service/hidden_text.h"
#include "engine/tokenizer/detokenizer.h"

namespace tandem::service {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n\v\f";
constexpr std::string_view kUnfinished = "\xEF\xBF\xBD";  // how an unfinished character is shown
// Stands for an answer while the template is asked where it puts it. No white space, so that trimming leaves
// it whole; a message that contains it has its ids passed over.
constexpr std::string_view kMark = "\x02tandem-answer\x03";

std::string_view trimmedRight(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kWhiteSpace) + 1);
}

std::string_view trimmed(std::string_view text) {
  text = trimmedRight(text);
  return text.substr(std::min(text.find_first_not_of(kWhiteSpace), text.size()));
}

// Each answer with ids is the mark.
std::vector<PromptMessage> withMarks(std::vector<PromptMessage> messages) {
  for (PromptMessage& message : messages) {
    if (!message.tokens.empty()) message.content = kMark;
  }
  return messages;
}

// Whether text after an answer can be tokenised by itself: a vocabulary that puts a space before each text
// would write one there.
bool standsAlone(const Tokenizer& tokenizer, const TaggedText& text, std::size_t at) {
  if (!tokenizer.vocabulary().addsSpacePrefix() || at == text.size()) return true;
  const auto ids = tokenizer.encode(text.substr(at, 256));
  return ids.ok() && !ids->empty() && tokenizer.isControl(ids->front());
}

}  // namespace

std::optional<std::vector<TokenId>> idsOfAnswer(const std::shared_ptr<const Tokenizer>& tokenizer,
                                                std::span<const TokenId> ids, std::string_view shown) {
  while (!ids.empty() && tokenizer->isEndToken(ids.back()))
    ids = ids.first(ids.size() - 1);
  StreamingDetokenizer detokenizer(tokenizer);
  std::size_t said = 0, kept = 0, keptBytes = 0;
  std::string next;  // the text of the first token that is not shown whole
  for (std::size_t i = 0; i < ids.size(); ++i) {
    next = detokenizer.push(ids[i]);
    if (!shown.substr(said).starts_with(next)) break;
    said += next.size();
    next.clear();
    if (i + 1 == ids.size()) {
      // A character may be unfinished at the end, shown as such or not yet.
      const bool whole =
          said == shown.size() || (shown.substr(said) == kUnfinished && detokenizer.finish() == kUnfinished);
      if (whole) return std::vector<TokenId>(ids.begin(), ids.end());
    }
    if (detokenizer.bytes().size() != said) continue;
    kept = i + 1;
    keptBytes = said;
  }
  const std::string_view rest = shown.substr(keptBytes);
  if (kept == 0) return std::nullopt;
  std::vector<TokenId> result(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(kept));
  if (rest.empty()) return result;
  if (rest != kUnfinished && !next.starts_with(rest)) return std::nullopt;
  if (tokenizer->vocabulary().addsSpacePrefix()) return std::nullopt;
  const auto end = tokenizer->encode(rest);
  if (!end.ok()) return std::nullopt;
  result.insert(result.end(), end->begin(), end->end());
  return result;
}

Result<std::vector<PromptMessage>> asWritten(const Model& model, const ChatTemplate& chat,
                                             std::vector<PromptMessage> messages) {
  const std::optional<ReasoningMarks> marks = reasoningMarks(model);
  std::string opening;  // of thinking blocks, by the template; rendered where an answer asks for it
  for (PromptMessage& message : messages) {
    if (message.tokens.empty()) continue;
    const WrittenText written = writtenText(model.sharedTokenizer(), message.tokens);
    const bool opened = marks && beginsInThought(written.text, *marks);
    if (opened && opening.empty()) {
      const Result<TaggedText> prompt = chat.render(chatRequest(messages));
      if (!prompt) return prompt.error();
      opening = openingOf(prompt->text(), *marks);
    }
    const auto isOf = [&](const std::string& text) {
      return isCopy(message.content, text, message.hidden, opened ? marks->open : std::string_view());
    };
    std::string text = written.text + written.unfinished;
    if (!isOf(text)) text = written.text;  // the unfinished character was not shown yet
    if (!isOf(text)) {
      message.tokens.clear();
      continue;
    }
    message.opening = opened ? opening.size() : 0;
    message.content = opened ? opening + text : std::move(text);
  }
  return messages;
}

std::vector<AnswerSpan> findAnswers(const ChatTemplate& chat, const std::vector<PromptMessage>& messages,
                                    std::string_view rendered) {
  const auto hasMark = [](const PromptMessage& m) { return m.content.find(kMark) != std::string::npos; };
  const auto hasIds = [](const PromptMessage& m) { return !m.tokens.empty(); };
  if (std::ranges::none_of(messages, hasIds) || std::ranges::any_of(messages, hasMark)) return {};
  const auto marked = chat.render(chatRequest(withMarks(messages)));
  if (!marked.ok()) return {};

  // Both texts are the same up to a mark, and go on alike behind the answer that stands in its place.
  std::string_view left = marked->text();
  std::size_t at = 0;
  const auto take = [&](std::size_t bytes) {
    const bool same = rendered.substr(std::min(at, rendered.size())).starts_with(left.substr(0, bytes));
    left.remove_prefix(bytes);
    at += bytes;
    return same;
  };
  std::vector<AnswerSpan> answers;
  for (const PromptMessage& message : messages) {
    if (message.tokens.empty()) continue;
    const std::size_t mark = left.find(kMark);
    if (mark == std::string_view::npos || !take(mark)) return {};
    left.remove_prefix(kMark.size());
    const std::string_view following = left.substr(0, left.find(kMark)), there = rendered.substr(at);
    bool found = false;
    for (const std::string_view shown :
         {std::string_view(message.content), trimmedRight(message.content), trimmed(message.content)}) {
      if (!there.starts_with(shown) || !there.substr(shown.size()).starts_with(following)) continue;
      answers.push_back(
          {at + message.opening, shown.size() - message.opening, message.tokens, message.opening});
      at += shown.size();
      found = true;
      break;
    }
    if (!found) return {};
  }
  if (!take(left.size()) || at != rendered.size()) return {};
  return answers;
}

Result<std::vector<TokenId>> encodeWithAnswers(const std::shared_ptr<const Tokenizer>& tokenizer,
                                               const TaggedText& text,
                                               const std::vector<AnswerSpan>& answers) {
  std::vector<TokenId> ids;
  std::size_t at = 0;
  // An opening that the text holds as data was the template's own.
  const auto append = [&](std::size_t end, std::size_t opening) -> Status {
    TaggedText own = text.substr(at, end - opening - at);
    own.append(std::string_view(text.text()).substr(end - opening, opening), true);
    auto part = tokenizer->encode(own, at == 0 ? Bos::kAsModel : Bos::kNone);
    if (!part.ok()) return part.error();
    ids.insert(ids.end(), part->begin(), part->end());
    return {};
  };
  for (const AnswerSpan& answer : answers) {
    const std::size_t end = answer.begin + answer.bytes;
    if (!standsAlone(*tokenizer, text, end)) continue;
    const auto own = idsOfAnswer(tokenizer, answer.tokens,
                                 std::string_view(text.text()).substr(answer.begin, answer.bytes));
    if (!own) continue;
    if (Status s = append(answer.begin, answer.opening); !s.ok()) return s.error();
    ids.insert(ids.end(), own->begin(), own->end());
    at = end;
  }
  if (Status s = append(text.size(), 0); !s.ok()) return s.error();
  return ids;
}

}  // namespace tandem::service
