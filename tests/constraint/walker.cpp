// Drives constraints for test_schemas.py. Its argument is a model file, whose vocabulary it takes. Each line
// of standard input is a JSON request and gives one JSON line:
//   {"spec": S, "walks": N, "seed": K, "tokens": L}   -> {"texts": [...]}    random answers of at most L
//   tokens, and how long masks took: mean_mask_us (microseconds), masks
//   {"spec": S, "accept": [texts], "seed": K}         -> {"accepted": [...]} in each of four ways to cut into
//   tokens
// or {"error": {code, message, field}}. S: {"kind": json|schema|regex|choice|grammar|tools, "text",
// "choices", "tool", "calls"}.
#include <chrono>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/constraint/constraint.h"

namespace {

using namespace tandem;
using Json = nlohmann::ordered_json;

struct Model {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const TokenTrie> trie;
};

ConstraintSpec specOf(const Json& json) {
  static const std::map<std::string, ConstraintSpec::Kind> kKinds = {
      {"json", ConstraintSpec::Kind::kJsonObject}, {"schema", ConstraintSpec::Kind::kJsonSchema},
      {"regex", ConstraintSpec::Kind::kRegex},     {"choice", ConstraintSpec::Kind::kChoice},
      {"grammar", ConstraintSpec::Kind::kGrammar}, {"tools", ConstraintSpec::Kind::kToolCalls}};
  ConstraintSpec spec;
  spec.kind = kKinds.at(json.at("kind"));
  if (json.contains("text"))
    spec.text = json["text"].is_string() ? json["text"].get<std::string>() : json["text"].dump();
  if (json.contains("choices")) spec.choices = json["choices"].get<std::vector<std::string>>();
  spec.tool = json.value("tool", "");
  spec.maxCalls = json.value("calls", 1);
  return spec;
}

Json errorOf(const Error& error) {
  return {
      {"error", {{"code", errorCodeName(error.code)}, {"message", error.message}, {"field", error.field}}}};
}

struct Time {
  std::chrono::steady_clock::duration sum{};
  int masks = 0;
};

// A random answer: any allowed token is as likely as any other, but the end comes at once where it may.
std::string walk(Matcher matcher, const Model& vocabulary, int tokens, std::mt19937& random, Time& time,
                 Status& status) {
  std::string text;
  for (int left = tokens; left > 0; --left) {
    std::vector<TokenId> allowed;
    const auto start = std::chrono::steady_clock::now();
    const TokenMask& mask = matcher.mask(left);
    time.sum += std::chrono::steady_clock::now() - start;
    ++time.masks;
    mask.forEach([&](TokenId id) { allowed.push_back(id); });
    if (!matcher.status().ok()) status = matcher.status();
    if (allowed.empty()) {
      status = Error{ErrorCode::kInternal, "no token is allowed after: " + text};
      return text;
    }
    TokenId token = allowed[random() % allowed.size()];
    if (matcher.canEnd() && random() % 4 == 0) token = vocabulary.trie->endTokens().front();
    if (!matcher.allows(token, left) || !matcher.advance(token)) {
      status = Error{ErrorCode::kInternal, "a token of the mask is refused after: " + text};
      return text;
    }
    if (vocabulary.trie->isEndToken(token)) return text;
    text += vocabulary.trie->bytesOf(token);
  }
  status = Error{ErrorCode::kInternal, "the answer did not end: " + text};
  return text;
}

// The text's tokens: the tokenizer's own, one for each byte, the longest at each place, or random ones.
bool accepts(Matcher matcher, const Model& vocabulary, const std::string& text, int way,
             std::mt19937& random) {
  const TokenTrie& trie = *vocabulary.trie;
  std::vector<TokenId> tokens;
  if (way == 0) {
    const Result<std::vector<TokenId>> encoded = vocabulary.tokenizer->encode(text);
    if (!encoded.ok()) return false;
    tokens = *encoded;
    // A vocabulary may begin a text with a space of its own; the answer's first token has none.
    if (vocabulary.tokenizer->vocabulary().addsSpacePrefix()) return true;
  } else {
    for (std::size_t at = 0; at < text.size();) {
      std::vector<TokenId> fits;
      std::uint32_t node = TokenTrie::kRoot;
      for (std::size_t i = at; i < text.size(); ++i) {
        std::uint32_t child = node + 1;
        while (child < trie.end(node) && trie.byte(child) != static_cast<std::uint8_t>(text[i]))
          child = trie.end(child);
        if (child >= trie.end(node)) break;
        node = child;
        if (!trie.tokens(node).empty()) fits.push_back(trie.tokens(node).front());
        if (way == 1) break;
      }
      if (fits.empty()) return false;
      tokens.push_back(way == 3 ? fits[random() % fits.size()] : fits.back());
      at += trie.bytesOf(tokens.back()).size();
    }
  }
  for (const TokenId token : tokens) {
    if (!matcher.mask().allows(token) || !matcher.advance(token)) return false;
  }
  return matcher.canEnd();
}

Json answer(const Json& request, const Model& vocabulary) {
  const auto constraint = Constraint::compile(specOf(request.at("spec")), vocabulary.trie);
  if (!constraint.ok()) return errorOf(constraint.error());
  std::mt19937 random(request.value("seed", 0u));
  if (request.contains("accept")) {
    Json accepted = Json::array();
    for (const Json& text : request["accept"]) {
      Json ways = Json::array();
      for (int way = 0; way < 4; ++way)
        ways.push_back(accepts((*constraint)->start(), vocabulary, text, way, random));
      accepted.push_back(ways);
    }
    return {{"accepted", accepted}};
  }
  int tokens = request.value("tokens", 40);
  const int fewest = (*constraint)->start().shortestToEnd();
  if (Status status = (*constraint)->start().checkLength(tokens); !status.ok()) tokens = fewest;
  Json texts = Json::array();
  Time time;
  for (int i = 0; i < request.value("walks", 1); ++i) {
    Status status;
    // Some answers have no token to spare.
    const int limit = i % 4 == 0 ? fewest : tokens;
    texts.push_back(walk((*constraint)->start(), vocabulary, limit, random, time, status));
    if (!status.ok()) return errorOf(status.error());
  }
  const double microseconds = std::chrono::duration<double, std::micro>(time.sum).count();
  return {{"texts", texts},
          {"fewest", fewest},
          {"masks", time.masks},
          {"mean_mask_us", time.masks == 0 ? 0 : microseconds / time.masks}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto file = gguf::File::open(argv[1]);
  if (!file.ok()) return 2;
  const auto tokenizer = Tokenizer::load(**file);
  if (!tokenizer.ok()) return 2;
  const Model vocabulary{*tokenizer, std::make_shared<const TokenTrie>(*tokenizer)};
  for (std::string line; std::getline(std::cin, line);)
    std::cout << answer(Json::parse(line), vocabulary).dump(-1, ' ', false, Json::error_handler_t::replace)
              << std::endl;
  return 0;
}
