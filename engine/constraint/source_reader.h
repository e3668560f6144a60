// Reads the source of a regular expression or a grammar, one code point at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/constraint/char_set.h"
#include "engine/constraint/failure.h"

namespace tandem::constraint {

class SourceReader {
 public:
  // `field` is named in refusals. Refuses text that is not valid UTF-8 or longer than kMaxSourceBytes.
  SourceReader(std::string_view text, std::string field);

  bool atEnd() const { return position_ == chars_.size(); }
  // The code point `ahead` of the next one; 0 behind the end.
  char32_t peek(std::size_t ahead = 0) const {
    return position_ + ahead < chars_.size() ? chars_[position_ + ahead] : 0;
  }
  char32_t next() { return chars_[position_++]; }  // REQUIRES: !atEnd()
  // Takes the next code point if it is `c`.
  bool take(char32_t c) {
    if (atEnd() || peek() != c) return false;
    ++position_;
    return true;
  }
  bool take(std::string_view ascii);
  // A decimal number of at most nine digits, or nothing where there is no digit.
  std::optional<int> number();
  // Exactly `digits` hexadecimal digits; refuses anything else.
  char32_t hex(int digits);
  // Refuses with the byte offset of the next code point.
  [[noreturn]] void fail(const std::string& message) const;

  std::size_t position() const { return position_; }
  void rewind(std::size_t position) { position_ = position; }

 private:
  std::vector<char32_t> chars_;
  std::size_t position_ = 0;
  std::string field_;
};

// Counts brackets inside brackets for as long as it lives.
class Nesting {
 public:
  explicit Nesting(int& depth) : depth_(depth) {
    if (++depth_ > kMaxNesting) {
      --depth_;
      Budget::overrun("It is nested too deeply");
    }
  }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  int& depth_;
};

// The code points of `text`. Refuses what is not valid UTF-8, naming `field` and the byte.
std::vector<char32_t> codePoints(std::string_view text, const std::string& field);
// The UTF-8 of one code point.
std::string utf8Of(char32_t c);

}  // namespace tandem::constraint
