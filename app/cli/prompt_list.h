// Files of prompts: one a line, with \n for a newline and \\ for a backslash.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/cli/command.h"
#include "engine/tokenizer/tokenizer.h"

namespace tandem::cli {

// The texts of the lines, in order; empty lines are left out. Error: kInvalidArgument, with the line (another
// letter after a backslash, no prompt at all).
Result<std::vector<std::string>> parsePrompts(std::string_view lines);

// The prompts of a file as token ids: continued as they are, with BOS where the vocabulary adds one. Errors:
// those of readFile, parsePrompts and Tokenizer::encode.
Result<std::vector<std::vector<TokenId>>> readPrompts(const std::string& path, const Tokenizer& tokenizer);

// The same of a file that has token ids, one prompt a line. Errors: those of readFile and parseIds, and of
// Tokenizer::check.
Result<std::vector<std::vector<TokenId>>> readPromptIds(const std::string& path, const Tokenizer& tokenizer);

}  // namespace tandem::cli
