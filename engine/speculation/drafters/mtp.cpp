#include "engine/speculation/drafters/mtp.h"

namespace tandem {

MtpDrafter::MtpDrafter(Decoder& decoder, const Sequence& sequence, Calibration& calibration,
                       const SamplingParams* sampling)
    : ModelDrafter(calibration, sampling), decoder_(decoder), sequence_(sequence), ahead_(sequence.fork()) {}

void MtpDrafter::append(std::span<const TokenId> tokens) {
  if (!tokens.empty()) last_ = tokens.back();
}

bool MtpDrafter::start() {
  if (last_ < 0 || sequence_.length() == 0) return false;
  ahead_ = sequence_.fork();
  return step(last_);
}

bool MtpDrafter::step(TokenId token) {
  return decoder_.forwardNextn(ahead_, token).ok() && decoder_.commitNextn(ahead_).ok();
}

}  // namespace tandem
