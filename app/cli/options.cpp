#include "app/cli/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace tandem::cli {
namespace {

template <class T>
std::optional<T> number(std::string_view value) {
  T parsed{};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
  if (error != std::errc() || end != value.data() + value.size()) return std::nullopt;
  return parsed;
}

template <class T, class Out>
Setter boundedNumber(Out& out, T least, T most) {
  return [&out, least, most](std::string_view value) -> Status {
    const auto parsed = number<T>(value);
    if (!parsed || *parsed < least || *parsed > most) {
      return Error{ErrorCode::kInvalidArgument, "must be a whole number from " + std::to_string(least) +
                                                    " to " + std::to_string(most) + ", not \"" +
                                                    std::string(value) + "\""};
    }
    out = *parsed;
    return {};
  };
}

Error badUse(std::string_view option, const std::string& sentence) {
  return {ErrorCode::kInvalidArgument, std::string(option) + " " + sentence, std::string(option)};
}

// An argument taken apart: "--name=value", "--name", "-n".
struct Spelling {
  std::string_view name;
  std::optional<std::string_view> value;
};

Spelling takeApart(std::string_view argument) {
  const std::size_t equals = argument.find('=');
  if (!argument.starts_with("--") || equals == std::string_view::npos) return {argument, std::nullopt};
  return {argument.substr(0, equals), argument.substr(equals + 1)};
}

const Option* find(const OptionTable& table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(), [name](const Option& option) {
    return name == option.name ||
           (option.letter != 0 && name.size() == 2 && name[0] == '-' && name[1] == option.letter);
  });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace

Setter on(bool& out) {
  return [&out](std::string_view) -> Status {
    out = true;
    return {};
  };
}

Setter text(std::string& out) {
  return [&out](std::string_view value) -> Status {
    out = value;
    return {};
  };
}

Setter text(std::optional<std::string>& out) {
  return [&out](std::string_view value) -> Status {
    out = value;
    return {};
  };
}

Setter wholeNumber(int& out, int least, int most) {
  return boundedNumber(out, least, most);
}

Setter wholeNumber(std::int64_t& out, std::int64_t least, std::int64_t most) {
  return boundedNumber(out, least, most);
}

Setter wholeNumber(std::optional<std::uint64_t>& out) {
  return boundedNumber(out, std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max());
}

Setter wholeNumbers(std::vector<int>& out, int least, int most) {
  return [&out, least, most](std::string_view list) -> Status {
    std::vector<int> numbers;
    for (const std::string_view item : listItems(list)) {
      int value = 0;
      if (const Status status = wholeNumber(value, least, most)(item); !status) return status;
      numbers.push_back(value);
    }
    out = std::move(numbers);
    return {};
  };
}

Setter realNumber(float& out) {
  return [&out](std::string_view value) -> Status {
    const auto parsed = number<float>(value);
    if (!parsed || !std::isfinite(*parsed)) {
      return Error{ErrorCode::kInvalidArgument,
                   "must be a finite number, not \"" + std::string(value) + "\""};
    }
    out = *parsed;
    return {};
  };
}

std::vector<std::string_view> listItems(std::string_view list) {
  std::vector<std::string_view> items;
  for (std::size_t comma; (comma = list.find(',')) != std::string_view::npos; list.remove_prefix(comma + 1))
    items.push_back(list.substr(0, comma));
  items.push_back(list);
  return items;
}

void append(OptionTable& table, OptionTable more) {
  for (Option& option : more)
    table.push_back(std::move(option));
}

Result<Arguments> parse(const OptionTable& table, const Arguments& arguments) {
  Arguments others;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--") {
      others.insert(others.end(), arguments.begin() + i + 1, arguments.end());
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') {  // "-" alone is standard input
      others.push_back(argument);
      continue;
    }
    Spelling spelling = takeApart(argument);
    const Option* option = find(table, spelling.name);
    if (option == nullptr) return badUse(spelling.name, "is not an option here; see --help");
    if (option->value.empty()) {
      if (spelling.value) return badUse(spelling.name, "takes no value");
    } else if (!spelling.value) {
      if (i + 1 == arguments.size()) return badUse(spelling.name, "needs a value");
      spelling.value = arguments[++i];
    }
    if (const Status status = option->set(spelling.value.value_or("")); !status) {
      return Error{ErrorCode::kInvalidArgument, std::string(spelling.name) + ": " + status.error().message,
                   std::string(spelling.name)};
    }
  }
  return others;
}

std::string describe(const OptionTable& table) {
  constexpr std::size_t kHelpColumn = 32;
  std::string lines;
  for (const Option& option : table) {
    std::string line = "  ";
    line += option.letter != 0 ? std::string("-") + option.letter + ", " : std::string("    ");
    line += option.name;
    if (!option.value.empty()) line += " " + std::string(option.value);
    line.append(line.size() < kHelpColumn ? kHelpColumn - line.size() : 1, ' ');
    lines += line + std::string(option.help) + "\n";
  }
  return lines;
}

}  // namespace tandem::cli
