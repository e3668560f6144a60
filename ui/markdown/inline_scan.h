// The scanners of the inline parser: each looks at one place of a text and says what stands there. All search
// distances are bounded. Internal to the inline parser.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::markdown {

// Finds the partner of a run of backticks; all runs are found once, so that many lonely ones stay cheap.
class Backticks {
 public:
  struct Span {
    bool closed = false;
    std::size_t contentBegin = 0;  // behind the opening run
    std::size_t contentEnd = 0;
    std::size_t end = 0;  // behind the closing run
  };

  explicit Backticks(std::string_view text) : text_(text) {}
  // REQUIRES: a run begins at `at`; calls come in rising order
  Span span(std::size_t at);

 private:
  std::string_view text_;
  bool scanned_ = false;
  std::map<std::size_t, std::vector<std::size_t>> runs_;  // length of a run: where such runs begin
};

// The end of "$…$" or "$$…$$" that begins at `at`; `at` when it is money or alone.
std::size_t dollarMath(std::string_view text, std::size_t at);
// Finds the ends of formulas in brackets; remembers the next one, so that many open ones stay cheap.
class BracketMath {
 public:
  explicit BracketMath(std::string_view text) : text_(text) {}
  // The end of "\(…\)" or "\[…\]" that begins at `at`; `at` when it is not closed. Calls come in rising
  // order.
  std::size_t end(std::size_t at);

 private:
  std::string_view text_;
  std::size_t next_[2] = {0, 0};  // the next "\)" and "\]"; those before were passed
};

// What a link to `address` opens; nullopt for all but http, https and mailto. `email`: a bare mail address
// counts too.
std::optional<std::string> linkTarget(std::string_view address, bool email);
// The end of a web address written without marks at `at`; `at` when there is none.
std::size_t bareAddressEnd(std::string_view text, std::size_t at);

struct Destination {
  std::size_t begin = 0;  // the address
  std::size_t end = 0;
  std::size_t textEnd = 0;  // behind the address and its ">" if any
  std::size_t closing = 0;  // the closing parenthesis
};
// Reads "(address "title")" at `at`.
std::optional<Destination> linkDestination(std::string_view text, std::size_t at);

struct Entity {
  std::size_t length = 0;
  std::string shown;  // UTF-8
};
std::optional<Entity> entityAt(std::string_view text, std::size_t at);

}  // namespace tandem::markdown
