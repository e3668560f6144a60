#include "engine/agreement/pairwise.h"

#include <array>
#include <set>
#include <string>

#include "engine/agreement/option_sets.h"

namespace tandem::agreement {
namespace {

// The values of a cell two by two, each with the dimensions that they belong to.
std::vector<std::string> pairsOf(const Cell& cell) {
  const std::array<std::string, 5> values = {
      cell.drafter, cell.shape, std::string(withoutSampled(cell.options)),
      isSampled(cell.options) ? "sampled" : "greedy", std::to_string(cell.parallel)};
  std::vector<std::string> pairs;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = i + 1; j < values.size(); ++j)
      pairs.push_back(std::to_string(i) + values[i] + "\n" + std::to_string(j) + values[j]);
  return pairs;
}

}  // namespace

std::vector<Cell> pairwiseCover(const std::vector<Cell>& cells) {
  std::vector<std::vector<std::string>> pairs;
  std::set<std::string> missing;
  for (const Cell& cell : cells) {
    pairs.push_back(pairsOf(cell));
    missing.insert(pairs.back().begin(), pairs.back().end());
  }
  std::set<std::size_t> taken;
  while (!missing.empty()) {
    std::size_t best = 0, most = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      std::size_t found = 0;
      for (const std::string& pair : pairs[i])
        found += missing.count(pair);
      if (found > most) {
        best = i;
        most = found;
      }
    }
    taken.insert(best);
    for (const std::string& pair : pairs[best])
      missing.erase(pair);
  }
  std::vector<Cell> cover;
  for (const std::size_t i : taken)
    cover.push_back(cells[i]);
  return cover;
}

}  // namespace tandem::agreement
