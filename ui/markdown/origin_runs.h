// Where the bytes of a message came from, as runs over its source. The numbers are those of TokenOrigin; 0 is
// plain and never tinted. Plain data, any thread.
#pragma once

#include <QtGlobal>
#include <vector>

namespace tandem::markdown {

struct OriginRun {
  qsizetype bytes = 0;
  int origin = 0;
};

// Bytes [begin, end) of the source and their origin; neighbours of one origin are joined.
struct OriginSpan {
  qsizetype begin = 0;
  qsizetype end = 0;
  int origin = 0;
};

class OriginMap {
 public:
  void clear() { spans_.clear(); }
  void append(qsizetype bytes, int origin);
  // Bytes covered so far.
  qsizetype size() const { return spans_.empty() ? 0 : spans_.back().end; }
  // The first span that ends behind `begin`; walk on from it.
  std::vector<OriginSpan>::const_iterator from(qsizetype begin) const;
  std::vector<OriginSpan>::const_iterator end() const { return spans_.end(); }

 private:
  std::vector<OriginSpan> spans_;
};

}  // namespace tandem::markdown
