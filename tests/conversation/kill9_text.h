// What the kill test's two programs agree on.
#pragma once

#include <string>

namespace tandem::testing {

// Every answer is this text, again and again, cut anywhere.
inline constexpr const char* kAnswerText = "Streaming words, größer als nötig, 日本語も 🌏, go on and on. ";

inline std::string hexOf(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return hex;
}

}  // namespace tandem::testing
