#include "ui/markdown/origin_runs.h"

#include <algorithm>

namespace tandem::markdown {

void OriginMap::append(qsizetype bytes, int origin) {
  if (bytes <= 0) return;
  const qsizetype begin = size();
  if (!spans_.empty() && spans_.back().origin == origin) {
    spans_.back().end += bytes;
  } else {
    spans_.push_back({begin, begin + bytes, origin});
  }
}

std::vector<OriginSpan>::const_iterator OriginMap::from(qsizetype begin) const {
  return std::upper_bound(spans_.begin(), spans_.end(), begin,
                          [](qsizetype at, const OriginSpan& span) { return at < span.end; });
}

}  // namespace tandem::markdown
