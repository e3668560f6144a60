// The words under an answer: its figures in one grey line, and the names of token origins. Pure functions.
#pragma once

#include <QString>

#include "engine/session/generation.h"
#include "storage/records.h"

namespace tandem::ui {

// "plain", "own text", "earlier texts", for the legend.
QString originName(TokenOrigin origin);

// "142 tokens · first token 0.19 s · 231 tokens/s · 2.0 a round · 58 % accepted · greedy", from the figures
// stored with the answer; empty while it streams or when it has none.
QString statisticsLine(const storage::MessageRecord& answer);

}  // namespace tandem::ui
