// Puts a ByteDfa together: states are rows of byte ranges, equal rows are one state.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/constraint/byte_dfa.h"

namespace tandem::constraint {

class ByteDfaBuilder {
 public:
  struct Edge {
    std::uint8_t first;
    std::uint8_t last;
    int to;

    auto operator<=>(const Edge&) const = default;
  };
  using Row = std::vector<Edge>;  // no byte twice

  explicit ByteDfaBuilder(Budget& budget) : budget_(budget) {}

  // A state of its own, whose row is set later.
  int reserve(bool accepts);
  void setRow(int state, Row row);
  // The state with this row that accepts nothing; kDead for an empty row.
  int shared(Row row);

  // Renumbers: states that cannot be finished are left out. `stateOf`, when given, says what became of each.
  ByteDfa build(int start, const ByteAlphabet& alphabet, std::vector<int>* stateOf = nullptr);

 private:
  std::vector<int> distances(const ByteAlphabet& alphabet);
  void checkSize() const;

  Budget& budget_;
  std::vector<Row> rows_;
  std::vector<std::uint8_t> accepts_;
  std::map<Row, int> sharedRows_;
};

}  // namespace tandem::constraint
