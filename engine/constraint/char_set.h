// A set of Unicode code points as sorted ranges that neither touch nor overlap. Surrogates are never in it.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace tandem::constraint {

inline constexpr char32_t kMaxCodePoint = 0x10FFFF;
inline constexpr char32_t kFirstSurrogate = 0xD800;
inline constexpr char32_t kLastSurrogate = 0xDFFF;

struct CharRange {
  char32_t first;
  char32_t last;

  bool operator==(const CharRange&) const = default;
};

class CharSet {
 public:
  CharSet() = default;
  CharSet(std::initializer_list<CharRange> ranges) : ranges_(ranges) { normalise(); }
  static CharSet single(char32_t c) { return CharSet{{c, c}}; }
  static CharSet all() { return CharSet{{0, kMaxCodePoint}}; }

  void add(CharRange range) {
    ranges_.push_back(range);
    normalise();
  }
  void add(const CharSet& other) {
    ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
    normalise();
  }
  CharSet complement() const {
    CharSet out;
    char32_t next = 0;
    for (const CharRange& range : ranges_) {
      if (range.first > next) out.ranges_.push_back({next, range.first - 1});
      next = range.last + 1;
    }
    if (next <= kMaxCodePoint) out.ranges_.push_back({next, kMaxCodePoint});
    out.normalise();
    return out;
  }
  const std::vector<CharRange>& ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }

 private:
  void normalise() {
    std::vector<CharRange> parts;
    for (const CharRange& range : ranges_) {
      if (range.first < kFirstSurrogate)
        parts.push_back({range.first, std::min<char32_t>(range.last, kFirstSurrogate - 1)});
      if (range.last > kLastSurrogate)
        parts.push_back({std::max<char32_t>(range.first, kLastSurrogate + 1), range.last});
    }
    std::sort(parts.begin(), parts.end(),
              [](const CharRange& a, const CharRange& b) { return a.first < b.first; });
    ranges_.clear();
    for (const CharRange& part : parts) {
      if (!ranges_.empty() && part.first <= ranges_.back().last + 1) {
        ranges_.back().last = std::max(ranges_.back().last, part.last);
      } else {
        ranges_.push_back(part);
      }
    }
  }

  std::vector<CharRange> ranges_;
};

}  // namespace tandem::constraint
