// What one round of the loop did and why: the router's candidates with their numbers, its choice, and what
// came of it. Plain data for the window, the command line and measurements.
#pragma once

#include <string>
#include <vector>

#include "engine/session/generation.h"

namespace tandem {

// A draft that could have been verified in this round, and its price in milliseconds.
struct RouteCandidate {
  DraftShape::Kind kind = DraftShape::Kind::kChain;
  int nodes = 0;        // 0: plain decoding
  double expected = 0;  // tokens expected to be accepted
  double draftMs = 0;
  double verifyMs = 0;
  double commitMs = 0;
  int others = 0;  // other requests in the pass, each of which brings a token

  double ms() const { return draftMs + verifyMs + commitMs; }
  // Of all requests in the pass.
  double tokensPerSecond() const { return ms() > 0 ? (1 + others + expected) * 1000.0 / ms() : 0; }
};

struct RoundReport {
  int round = 0;                           // of this answer, from 0
  int context = 0;                         // tokens before this round's certain one
  std::vector<RouteCandidate> candidates;  // plain decoding first; empty where no router decides
  int chosen = -1;                         // index into candidates; -1 where no router decides
  std::string reason;                      // one line for a person

  int others = 0;           // other requests in the pass, as the router knew before it
  int otherRows = 0;        // their rows
  bool firstOfPass = true;  // of requests that shared a pass one tells what it cost

  int drafted = 0;  // nodes verified
  int accepted = 0;
  double draftMs = 0;  // as they were: proposing and routing, the verify pass, choosing and committing
  double verifyMs = 0;
  double commitMs = 0;
};

}  // namespace tandem
