// Cuts a template into tokens, with the white space control of Jinja's trim_blocks and lstrip_blocks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::jinja {

enum class TokenType : std::uint8_t {
  kText,
  kPrintBegin,
  kPrintEnd,
  kBlockBegin,
  kBlockEnd,
  kName,
  kString,
  kInteger,
  kFloat,
  kOperator,
  kEnd,
};

struct Token {
  TokenType type = TokenType::kEnd;
  std::string
      text;  // text as it prints, a name, a string unescaped, digits without underscores, or an operator
  int line = 1;
};

// All tokens, the last of type kEnd. Fails with kSyntax where Jinja's lexer would.
std::vector<Token> tokenize(std::string_view source);

}  // namespace tandem::jinja
