// Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
// easy as 1, 2, 3" (SC 2011). A pure function of counter and key, tested against the published vectors.
#pragma once

#include <array>
#include <cstdint>

namespace tandem::kernels {

inline constexpr int kPhiloxRounds = 10;
inline constexpr std::uint32_t kPhiloxMultipliers[2] = {0xD2511F53, 0xCD9E8D57};
inline constexpr std::uint32_t kPhiloxKeySteps[2] = {0x9E3779B9, 0xBB67AE85};

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

inline PhiloxCounter philox(PhiloxCounter c, PhiloxKey k) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const std::uint64_t first = std::uint64_t{kPhiloxMultipliers[0]} * c[0];
    const std::uint64_t second = std::uint64_t{kPhiloxMultipliers[1]} * c[2];
    c = {static_cast<std::uint32_t>(second >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(second),
         static_cast<std::uint32_t>(first >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(first)};
    k[0] += kPhiloxKeySteps[0];
    k[1] += kPhiloxKeySteps[1];
  }
  return c;
}

}  // namespace tandem::kernels
