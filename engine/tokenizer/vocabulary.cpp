#include "engine/tokenizer/vocabulary.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>

#include "engine/gguf/text.h"
#include "engine/tokenizer/piece_index.h"

namespace tandem {

namespace {

constexpr std::string_view kModel = "tokenizer.ggml.model";
constexpr std::string_view kPre = "tokenizer.ggml.pre";
constexpr std::string_view kTokens = "tokenizer.ggml.tokens";
constexpr std::string_view kTypes = "tokenizer.ggml.token_type";
constexpr std::string_view kScores = "tokenizer.ggml.scores";
constexpr std::string_view kMerges = "tokenizer.ggml.merges";
constexpr std::string_view kBos = "tokenizer.ggml.bos_token_id";
constexpr std::string_view kEos = "tokenizer.ggml.eos_token_id";
constexpr std::string_view kEot = "tokenizer.ggml.eot_token_id";
constexpr std::string_view kEom = "tokenizer.ggml.eom_token_id";
constexpr std::string_view kAddBos = "tokenizer.ggml.add_bos_token";
constexpr std::string_view kAddSpacePrefix = "tokenizer.ggml.add_space_prefix";

// Entries that end an answer in the chat formats in use, whichever id the file gives as eos.
constexpr std::string_view kEndSpellings[] = {
    "</s>",
    "<eos>",
    "[EOS]",
    "<EOT>",
    "[EOT]",
    "<|end|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|endoftext|>",
    "<turn|>",
    "<end_of_turn>",
    "<|end_of_text|>",
    "<|return|>",
    "<|call|>",
    "<|EOT|>",
    "[e~[",
    "<end_of_utterance>",
    "<｜end▁of▁sentence｜>",
};

bool isEndSpelling(std::string_view text) {
  return std::find(std::begin(kEndSpellings), std::end(kEndSpellings), text) != std::end(kEndSpellings);
}

Error wrong(const gguf::File& file, ErrorCode code, std::string_view key, std::string message) {
  Error error{code, std::move(message), std::string(key)};
  if (const gguf::MetadataEntry* entry = file.find(key)) error.offset = entry->offset;
  return error;
}

Error corrupt(const gguf::File& file, std::string_view key, std::string message) {
  return wrong(
      file, ErrorCode::kCorruptFile, key,
      "The vocabulary in this model file is damaged: " + std::move(message) + ". Download the file again.");
}

// The array of `key`, which must have `count` elements of `type`; nullptr when there is none.
Result<const gguf::ArrayView*> readArray(const gguf::File& file, std::string_view key, gguf::ValueType type,
                                         std::string_view typeName, std::size_t count) {
  const Result<const gguf::ArrayView*> array = file.getArray(key);
  if (!array || *array == nullptr) return array;
  if ((*array)->elementType != type) {
    return corrupt(file, key, "the elements of this list have to be of type " + std::string(typeName));
  }
  if ((*array)->count != count) {
    return corrupt(file, key,
                   "it has " + gguf::grouped(count) + " tokens, but this list has " +
                       gguf::grouped((*array)->count) + " elements");
  }
  return array;
}

// The byte in "<0xNN>".
std::optional<std::uint8_t> parseByte(std::string_view text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  };
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return std::nullopt;
  const int high = digit(text[3]);
  const int low = digit(text[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<std::uint8_t>(high * 16 + low);
}

Result<TokenizerKind> readKind(const gguf::File& file) {
  const Result<std::optional<std::string_view>> model = file.getString(kModel);
  if (!model) return model.error();
  if (!model->has_value()) {
    return wrong(file, ErrorCode::kUnsupported, kModel,
                 "This model file has no vocabulary, so text cannot be fed to it.");
  }
  if (**model == "gpt2") return TokenizerKind::kByteLevelBpe;
  if (**model == "llama") return TokenizerKind::kSentencePiece;
  if (**model == "test") return TokenizerKind::kIdsOnly;
  return wrong(file, ErrorCode::kUnsupported, kModel,
               "This model's vocabulary is of the kind \"" + gguf::shown(**model) +
                   "\", which this program cannot read; it knows gpt2 (byte-level BPE) and llama "
                   "(SentencePiece BPE).");
}

}  // namespace

Result<Vocabulary> Vocabulary::load(const gguf::File& file, std::string_view preTokenizer) {
  const Result<TokenizerKind> kind = readKind(file);
  if (!kind) return kind.error();
  Vocabulary vocabulary;
  vocabulary.kind_ = *kind;
  if (Status status = vocabulary.loadPieces(file); !status) return status.error();
  if (Status status = vocabulary.loadTypes(file); !status) return status.error();
  if (Status status = vocabulary.loadScores(file); !status) return status.error();
  if (*kind == TokenizerKind::kByteLevelBpe) {
    if (Status status = vocabulary.choosePreTokenizer(file, preTokenizer); !status) return status.error();
    if (Status status = vocabulary.loadMerges(file); !status) return status.error();
  }
  if (Status status = vocabulary.loadSpecialIds(file); !status) return status.error();
  if (Status status = vocabulary.loadFlags(file); !status) return status.error();
  vocabulary.collectEndTokens();
  return vocabulary;
}

std::string_view Vocabulary::text(TokenId id) const {
  assert(contains(id));
  const std::size_t begin = textBegins_[static_cast<std::size_t>(id)];
  const std::size_t end = textBegins_[static_cast<std::size_t>(id) + 1];
  return std::string_view(texts_).substr(begin, end - begin);
}

bool Vocabulary::isMergeable(TokenId id) const {
  const TokenType t = type(id);
  return t != TokenType::kControl && t != TokenType::kUnknown && t != TokenType::kByte && !text(id).empty();
}

std::uint8_t Vocabulary::byteValue(TokenId id) const {
  assert(type(id) == TokenType::kByte);
  return *parseByte(text(id));
}

Status Vocabulary::loadPieces(const gguf::File& file) {
  const Result<const gguf::ArrayView*> array = file.getArray(kTokens);
  if (!array) return array.error();
  if (*array == nullptr) return corrupt(file, kTokens, "its list of tokens is missing");
  const gguf::ArrayView& tokens = **array;
  if (tokens.elementType != gguf::ValueType::kString) {
    return corrupt(file, kTokens, "the elements of this list have to be of type STRING");
  }
  if (tokens.count == 0) return corrupt(file, kTokens, "it has no tokens");
  if (tokens.count > static_cast<std::uint64_t>(std::numeric_limits<TokenId>::max())) {
    return corrupt(file, kTokens, "it has more than 2,147,483,647 tokens");
  }
  std::size_t bytes = 0;
  for (const std::string_view token : tokens.strings)
    bytes += token.size();
  texts_.reserve(bytes);
  textBegins_.reserve(tokens.strings.size() + 1);
  textBegins_.push_back(0);
  for (const std::string_view token : tokens.strings) {
    texts_.append(token);
    textBegins_.push_back(texts_.size());
  }
  return {};
}

Status Vocabulary::loadTypes(const gguf::File& file) {
  const std::size_t count = textBegins_.size() - 1;
  types_.assign(count, TokenType::kNormal);
  const auto array = readArray(file, kTypes, gguf::ValueType::kInt32, "INT32", count);
  if (!array) return array.error();
  for (std::size_t i = 0; i < count; ++i) {
    const auto id = static_cast<TokenId>(i);
    if (*array != nullptr) {
      const auto value = (*array)->load<std::int32_t>(i);
      if (value < 0 || value > static_cast<std::int32_t>(TokenType::kByte)) {
        return corrupt(file, kTypes,
                       "token " + std::to_string(i) + " has the type " + std::to_string(value) +
                           ", which does not exist");
      }
      types_[i] = static_cast<TokenType>(value);
    }
    if (types_[i] == TokenType::kByte && !parseByte(text(id))) {
      return corrupt(file, kTypes,
                     "token " + std::to_string(i) + " (\"" + gguf::shown(text(id)) +
                         "\") is marked as a byte but not spelled <0xNN>");
    }
    // Some files mark these as ordinary text. If they stayed so, a person's message could end an answer.
    if (isEndSpelling(text(id))) types_[i] = TokenType::kControl;
  }
  return {};
}

Status Vocabulary::loadScores(const gguf::File& file) {
  const auto array = readArray(file, kScores, gguf::ValueType::kFloat32, "FLOAT32", size());
  if (!array) return array.error();
  if (*array == nullptr) {
    if (kind_ != TokenizerKind::kSentencePiece) return {};
    return corrupt(file, kScores, "the scores of its tokens are missing");
  }
  scores_.resize(size());
  for (std::size_t i = 0; i < size(); ++i) {
    scores_[i] = (*array)->load<float>(i);
    if (!std::isfinite(scores_[i])) {
      return corrupt(file, kScores, "the score of token " + std::to_string(i) + " is not a number");
    }
  }
  return {};
}

Status Vocabulary::choosePreTokenizer(const gguf::File& file, std::string_view wanted) {
  const std::string advice =
      " Known ones are " + preTokenizerNames() +
      "; on the command line --pre-tokenizer NAME takes one of them, and with the wrong one the model reads "
      "other text than you write.";
  if (!wanted.empty()) {
    preTokenizer_ = findPreTokenizer(wanted);
    if (preTokenizer_ != nullptr) return {};
    return Error{ErrorCode::kInvalidArgument,
                 "There is no pre-tokenizer \"" + gguf::shown(wanted) + "\"." + advice, "--pre-tokenizer"};
  }
  const Result<std::optional<std::string_view>> name = file.getString(kPre);
  if (!name) return name.error();
  if (!name->has_value()) {
    return wrong(file, ErrorCode::kUnsupported, kPre,
                 "This model file does not say which pre-tokenizer it needs." + advice);
  }
  preTokenizer_ = findPreTokenizer(**name);
  if (preTokenizer_ != nullptr) return {};
  return wrong(file, ErrorCode::kUnsupported, kPre,
               "This model needs the pre-tokenizer \"" + gguf::shown(**name) +
                   "\", which this program does not know." + advice);
}

Status Vocabulary::loadMerges(const gguf::File& file) {
  const Result<const gguf::ArrayView*> array = file.getArray(kMerges);
  if (!array) return array.error();
  if (*array == nullptr) return corrupt(file, kMerges, "its list of merges is missing");
  if ((*array)->elementType != gguf::ValueType::kString) {
    return corrupt(file, kMerges, "the elements of this list have to be of type STRING");
  }
  if ((*array)->count > std::numeric_limits<std::uint32_t>::max()) {
    return corrupt(file, kMerges, "it has more than 4,294,967,295 merges");
  }

  PieceIndex index(size());
  for (std::size_t i = 0; i < size(); ++i)
    index.insert(text(static_cast<TokenId>(i)), static_cast<TokenId>(i));
  merges_.reserve((*array)->strings.size());
  std::string result;
  for (const std::string_view line : (*array)->strings) {
    // "LEFT RIGHT"; a piece may begin with a space but not contain one elsewhere.
    const std::size_t space = line.find(' ', 1);
    BpeMerge merge{kNoToken, kNoToken, kNoToken};
    if (space != std::string_view::npos) {
      result.assign(line.substr(0, space)).append(line.substr(space + 1));
      merge = {index.find(line.substr(0, space)), index.find(line.substr(space + 1)), index.find(result)};
    }
    if (merge.left == kNoToken || merge.right == kNoToken || merge.result == kNoToken) {
      return corrupt(file, kMerges,
                     "merge " + std::to_string(merges_.size()) + " (\"" + gguf::shown(line) +
                         "\") names a piece that is not in the list of tokens");
    }
    merges_.push_back(merge);
  }
  return {};
}

Status Vocabulary::loadSpecialIds(const gguf::File& file) {
  const std::pair<std::string_view, TokenId*> ids[] = {
      {kBos, &bosId_}, {kEos, &eosId_}, {kEot, &eotId_}, {kEom, &eomId_}};
  for (const auto& [key, id] : ids) {
    const Result<std::optional<std::uint64_t>> value = file.getUint(key);
    if (!value) return value.error();
    if (!value->has_value()) continue;
    if (**value >= size()) {
      return corrupt(file, key,
                     "this id is " + std::to_string(**value) + ", but there are only " +
                         gguf::grouped(size()) + " tokens");
    }
    *id = static_cast<TokenId>(**value);
  }
  return {};
}

Status Vocabulary::loadFlags(const gguf::File& file) {
  const Result<std::optional<bool>> addBos = file.getBool(kAddBos);
  if (!addBos) return addBos.error();
  const Result<std::optional<bool>> addSpacePrefix = file.getBool(kAddSpacePrefix);
  if (!addSpacePrefix) return addSpacePrefix.error();

  const bool sentencePiece = kind_ == TokenizerKind::kSentencePiece;
  const bool usualBos = sentencePiece || (preTokenizer_ != nullptr && preTokenizer_->addsBos);
  addsBos_ = addBos->value_or(usualBos && bosId_ != kNoToken);
  if (addsBos_ && bosId_ == kNoToken) {
    return corrupt(file, kAddBos, "prompts are to start with a BOS token, but none is named");
  }
  addsSpacePrefix_ = sentencePiece && addSpacePrefix->value_or(true);
  return {};
}

void Vocabulary::collectEndTokens() {
  TokenId harmonyEnd = kNoToken;
  bool hasReturn = false;
  bool hasCall = false;
  for (std::size_t i = 0; i < size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    const std::string_view spelling = text(id);
    std::string why;
    if (id == eosId_) {
      why = kEos;
    } else if (id == eotId_) {
      why = kEot;
    } else if (id == eomId_) {
      why = kEom;
    } else if (isEndSpelling(spelling)) {
      why = "spelled " + std::string(spelling);
      if (spelling == "<|end|>") harmonyEnd = id;
    } else {
      continue;
    }
    hasReturn = hasReturn || spelling == "<|return|>";
    hasCall = hasCall || spelling == "<|call|>";
    endTokens_.push_back({id, std::string(spelling), std::move(why)});
  }
  // In the harmony format, which has these three, <|end|> only ends one message of an answer.
  if (hasReturn && hasCall && harmonyEnd != kNoToken) {
    std::erase_if(endTokens_, [&](const EndToken& token) { return token.id == harmonyEnd; });
  }
}

}  // namespace tandem
