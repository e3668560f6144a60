// The options of a subcommand, as a table: one line gives an option's spelling, its help and where its value
// goes. Parsing is strict: an unknown option, a missing value, a number that is not one or does not fit is
// refused by name. A value may follow as the next argument or after "=".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"

namespace tandem::cli {

using Arguments = std::vector<std::string_view>;
using Setter = std::function<Status(std::string_view value)>;

struct Option {
  std::string_view name;   // "--tokens"
  char letter;             // 'n' for -n; 0: none
  std::string_view value;  // "N", for the help; empty: a switch, which takes no value
  std::string_view help;
  Setter set;
};
using OptionTable = std::vector<Option>;

// Where a value goes. The variable must outlive the table. Numbers are decimal and fill the whole argument.
Setter on(bool& out);
Setter text(std::string& out);
Setter text(std::optional<std::string>& out);
Setter wholeNumber(int& out, int least, int most);
Setter wholeNumber(std::int64_t& out, std::int64_t least, std::int64_t most);
Setter wholeNumber(std::optional<std::uint64_t>& out);  // 0 … 2^64 - 1
// One or more, separated by commas. Each within the bounds.
Setter wholeNumbers(std::vector<int>& out, int least, int most);
Setter realNumber(float& out);  // finite

// What stands between the commas; an empty list is one empty item.
std::vector<std::string_view> listItems(std::string_view list);

// Adds `more` at the end of `table`.
void append(OptionTable& table, OptionTable more);

// Sets what the arguments say and returns those that are no options. Everything after "--" is none. Error:
// kInvalidArgument, with the option as its field.
Result<Arguments> parse(const OptionTable& table, const Arguments& arguments);

// Lines for --help.
std::string describe(const OptionTable& table);

}  // namespace tandem::cli
