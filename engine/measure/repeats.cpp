#include "engine/measure/repeats.h"

#include <algorithm>
#include <map>
#include <vector>

namespace tandem::measure {

int mostOccurrences(std::span<const TokenId> text, int length) {
  std::map<std::vector<TokenId>, int> counts;
  int most = 0;
  for (std::size_t i = 0; i + length <= text.size(); ++i)
    most = std::max(most, ++counts[{text.begin() + i, text.begin() + i + length}]);
  return most;
}

bool repeatsItself(std::span<const TokenId> text) {
  return mostOccurrences(text, kRepeatLength) > kMostRepeats;
}

}  // namespace tandem::measure
