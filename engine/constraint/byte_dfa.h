// Deterministic automata over bytes: what a model's tokens are held against.
//
// A CharDfa is written out in bytes, as plain UTF-8 or as a JSON string with its quotes and escapes. States
// from which no text of the available bytes ends are left out, so every state can be finished.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include "engine/constraint/char_dfa.h"

namespace tandem::constraint {

// What the vocabulary can write.
struct ByteAlphabet {
  std::bitset<256> bytes;        // those that are tokens of their own
  bool noNoncharacters = false;  // U+FDD0 … U+FDEF stand for other bytes and must not be written
};

struct ByteDfa {
  static constexpr int kDead = -1;

  std::array<std::uint8_t, 256> classOf{};
  int classes = 1;
  std::vector<int> next;              // (states, classes)
  std::vector<std::uint8_t> accepts;  // (states)
  std::vector<std::uint8_t> goesOn;   // (states): whether any byte may follow
  std::vector<int> distance;          // (states): the fewest available bytes to an accepting state
  int farthest = 0;                   // the largest distance
  int start = kDead;                  // kDead: nothing matches

  int after(int state, std::uint8_t byte) const {
    return next[static_cast<std::size_t>(state) * static_cast<std::size_t>(classes) + classOf[byte]];
  }
};

// (states): for each the lowest state from which the same texts of at most `length` bytes may follow, ending
// where the automaton accepts or where it does not alike. A large automaton is not looked at: each state then
// stands for itself.
std::vector<int> statesAlike(const ByteDfa& dfa, int length);

ByteDfa plainText(const CharDfa& dfa, const ByteAlphabet& alphabet, Budget& budget);

// Which characters may be written as \uXXXX though they need no escape.
enum class Escapes : std::uint8_t {
  kAll,       // every one
  kNonAscii,  // those above U+007F
};

// With the quotes. Short escapes (\n, \/ …) are allowed where JSON has them, surrogates only in pairs.
ByteDfa jsonString(const CharDfa& dfa, Escapes escapes, const ByteAlphabet& alphabet, Budget& budget);

// Any JSON string, for counting its characters: a character ends where `boundary` is reached again. The
// shortest character has one byte.
struct CountedString {
  ByteDfa dfa;
  int boundary = 0;             // the state behind the opening quote and behind each character
  int end = 0;                  // the state behind the closing quote
  std::vector<int> toBoundary;  // (states): the fewest available bytes to `boundary`
};
CountedString countedJsonString(const ByteAlphabet& alphabet, Budget& budget);

}  // namespace tandem::constraint
