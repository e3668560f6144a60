#include "engine/tokenizer/tokenizer.h"

#include <algorithm>

#include "engine/tokenizer/byte_alphabet.h"

namespace tandem {

namespace {

constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581, how SentencePiece spells a space

void appendWithSpaces(std::string_view spelling, std::string& out) {
  std::size_t begin = 0;
  for (std::size_t at; (at = spelling.find(kSpace, begin)) != std::string_view::npos;
       begin = at + kSpace.size()) {
    out.append(spelling.substr(begin, at - begin)).push_back(' ');
  }
  out.append(spelling.substr(begin));
}

std::unique_ptr<const TextEncoder> makeEncoder(const Vocabulary& vocabulary) {
  switch (vocabulary.kind()) {
    case TokenizerKind::kByteLevelBpe:
      return makeByteLevelBpeEncoder(vocabulary);
    case TokenizerKind::kSentencePiece:
      return makeSentencePieceEncoder(vocabulary);
    case TokenizerKind::kIdsOnly:
      break;
  }
  return nullptr;
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> Tokenizer::load(const gguf::File& file,
                                                         const TokenizerOptions& options) {
  Result<Vocabulary> vocabulary = Vocabulary::load(file, options.preTokenizer);
  if (!vocabulary) return vocabulary.error();
  return std::shared_ptr<const Tokenizer>(new Tokenizer(*std::move(vocabulary)));
}

Tokenizer::Tokenizer(Vocabulary vocabulary)
    : vocabulary_(std::move(vocabulary)),
      specials_(vocabulary_),
      encoder_(makeEncoder(vocabulary_)),
      escape_(encoder_ != nullptr ? encoder_->missingBytes() : std::bitset<256>()) {
  decodedBegins_.reserve(vocabSize() + 1);
  decodedBegins_.push_back(0);
  for (std::size_t i = 0; i < vocabSize(); ++i) {
    appendDecoded(static_cast<TokenId>(i));
    decodedBegins_.push_back(decoded_.size());
  }
}

void Tokenizer::appendDecoded(TokenId id) {
  const std::string_view spelling = vocabulary_.text(id);
  const TokenType type = vocabulary_.type(id);
  if (type == TokenType::kByte) {
    decoded_.push_back(static_cast<char>(vocabulary_.byteValue(id)));
  } else if (isHidden(id) || type == TokenType::kUserDefined ||
             vocabulary_.kind() == TokenizerKind::kIdsOnly) {
    decoded_.append(spelling);
  } else if (vocabulary_.kind() == TokenizerKind::kSentencePiece) {
    appendWithSpaces(spelling, decoded_);
  } else {
    appendSpelledBytes(spelling, decoded_);
  }
}

bool Tokenizer::isHidden(TokenId id) const {
  const TokenType type = vocabulary_.type(id);
  return type == TokenType::kControl || type == TokenType::kUnknown;
}

Result<std::vector<TokenId>> Tokenizer::encode(std::string_view text, Bos bos) const {
  return encodeText(text, bos, [](std::size_t, std::size_t) { return false; });
}

Result<std::vector<TokenId>> Tokenizer::encode(const TaggedText& text, Bos bos) const {
  return encodeText(text.text(), bos,
                    [&](std::size_t begin, std::size_t end) { return text.isAllTemplate(begin, end); });
}

template <class IsTemplate>
Result<std::vector<TokenId>> Tokenizer::encodeText(std::string_view text, Bos bos,
                                                   const IsTemplate& isTemplate) const {
  if (encoder_ == nullptr) {
    return Error{ErrorCode::kUnsupported,
                 "This model's vocabulary is a stand-in without text; only token ids can be fed to it.",
                 "tokenizer.ggml.model"};
  }
  if (text.size() > kMaxTextBytes) {
    return Error{ErrorCode::kInvalidArgument, "The text is longer than 1 GiB; shorten it."};
  }
  std::vector<TokenId> ids;
  std::size_t begin = 0;  // of the text since the last special token
  for (std::size_t position = 0; position < text.size();) {
    const SpecialTokens::Match match = specials_.match(text, position, isTemplate);
    if (match.id == kNoToken) {
      ++position;
      continue;
    }
    if (Status status = encodeBetween(text.substr(begin, position - begin), ids); !status)
      return status.error();
    ids.push_back(match.id);
    position += match.length;
    begin = position;
  }
  if (Status status = encodeBetween(text.substr(begin), ids); !status) return status.error();
  if (bos == Bos::kAsModel && addsBos() && (ids.empty() || ids.front() != bosId()))
    ids.insert(ids.begin(), bosId());
  return ids;
}

Status Tokenizer::encodeBetween(std::string_view text, std::vector<TokenId>& ids) const {
  if (text.empty()) return {};
  if (escape_.isActive()) return encoder_->encode(escape_.escape(text), ids);
  if (!vocabulary_.addsSpacePrefix()) return encoder_->encode(text, ids);
  std::string prefixed(1, ' ');
  prefixed.append(text);
  return encoder_->encode(prefixed, ids);
}

std::string_view Tokenizer::decode(TokenId id, ControlText control) const {
  if (!vocabulary_.contains(id) || (control == ControlText::kHidden && isHidden(id))) return {};
  const std::size_t begin = decodedBegins_[static_cast<std::size_t>(id)];
  const std::size_t end = decodedBegins_[static_cast<std::size_t>(id) + 1];
  return std::string_view(decoded_).substr(begin, end - begin);
}

std::string Tokenizer::decode(std::span<const TokenId> ids, ControlText control) const {
  std::string bytes;
  bool prefixed = vocabulary_.addsSpacePrefix();  // whether encode put a space before the next token's text
  for (const TokenId id : ids) {
    std::string_view token = decode(id, control);
    const TokenType type = vocabulary_.contains(id) ? vocabulary_.type(id) : TokenType::kUndefined;
    const bool special =
        type == TokenType::kControl || type == TokenType::kUnknown || type == TokenType::kUserDefined;
    if (prefixed && !special && token.starts_with(' ')) token.remove_prefix(1);
    prefixed = vocabulary_.addsSpacePrefix() && special;
    bytes.append(token);
  }
  std::string text;
  escape_.unescape(bytes, text, true);
  return text;
}

Status Tokenizer::check(std::span<const TokenId> ids) const {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (vocabulary_.contains(ids[i])) continue;
    return Error{ErrorCode::kInvalidArgument,
                 "The token id " + std::to_string(ids[i]) + " at position " + std::to_string(i) +
                     " is not in the vocabulary, which has " + std::to_string(vocabSize()) + " tokens."};
  }
  return {};
}

bool Tokenizer::isEndToken(TokenId id) const {
  const std::vector<EndToken>& tokens = vocabulary_.endTokens();
  return std::any_of(tokens.begin(), tokens.end(), [&](const EndToken& token) { return token.id == id; });
}

}  // namespace tandem
