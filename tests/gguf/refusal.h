// The table that tests of refusals fill: a file, and what File::open must say about it within its bounds of
// time and memory. For Qt Test's data functions: addRefusalColumns and addRefusal in NAME_data(),
// checkRefusal in NAME().
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/status.h"

namespace tandem::test {

struct Refusal {
  ErrorCode code;
  std::string field;
  std::uint64_t offset;
  std::string sentence;  // a part of the message
};

void addRefusalColumns();
// `size`: the file's length where it is not that of `bytes`; what is missing is zeros.
void addRefusal(const char* name, const std::string& bytes, const Refusal& refusal,
                std::optional<std::uint64_t> size = {});

// Opens the row's file: refused as the row says, in under a second and with less than 64 MiB of memory.
void checkRefusal();

}  // namespace tandem::test
