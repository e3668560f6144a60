#include "engine/session/slots.h"

#include <algorithm>
#include <cassert>

namespace tandem {
namespace {

constexpr int kTogether = 8;  // rows that kernels take together

}  // namespace

struct Slots::Slot {
  Slot(Decoder& decoder, SpeculationResources& resources, SlotRequest what, std::size_t place)
      : request(std::move(what)),
        sequence(decoder.newSequence()),
        run(decoder, sequence, resources, request.generation, request.callbacks, request.cancel),
        number(place) {}

  bool cancelled() const { return request.cancel && request.cancel->load(); }

  const SlotRequest request;
  Sequence sequence;
  AnswerRun run;
  const std::size_t number;  // of its start
  bool over = false;         // its end was told
};

Slots::Slots(Decoder& decoder, SpeculationResources& resources, int count)
    : decoder_(decoder), resources_(resources), count_(count) {
  assert(count >= 1 && count <= kMost);
}

Slots::~Slots() = default;

void Slots::start(SlotRequest request) {
  assert(!full());
  slots_.push_back(std::make_unique<Slot>(decoder_, resources_, std::move(request), started_++));
  if (slots_.back()->run.ended()) end(*slots_.back());
  sweep();
}

void Slots::step() {
  endCancelled();
  const std::vector<Slot*> reading = slotsThat(true), decoding = slotsThat(false);
  if (!reading.empty() && (decoding.empty() || readsNext_)) {
    readChunks(reading, decoding.empty() ? decoder_.maxRows() : chunkRows(msPerRow_, decoder_.maxRows()));
  } else if (!decoding.empty()) {
    verifyRound(decoding);
  }
  readsNext_ = !readsNext_ || decoding.empty();
  sweep();
}

void Slots::fail(const Error& error) {
  for (const auto& slot : slots_) {
    if (slot->over) continue;
    slot->run.take(error);
    end(*slot);
  }
  sweep();
}

int Slots::chunkRows(double msPerRow, int maxRows) {
  constexpr int kUnknown = 32;
  if (msPerRow <= 0) return std::min(kUnknown, maxRows);
  const double rows = std::min(kChunkMs / msPerRow, static_cast<double>(maxRows));
  return std::min(maxRows, std::max(kTogether, static_cast<int>(rows) / kTogether * kTogether));
}

std::vector<Slots::Slot*> Slots::slotsThat(bool read) const {
  std::vector<Slot*> found;
  for (const auto& slot : slots_) {
    if (!slot->over && slot->run.reading() == read) found.push_back(slot.get());
  }
  return found;
}

void Slots::readChunks(std::vector<Slot*> reading, int rows) {
  // The next one behind the last that had its turn comes first.
  std::rotate(reading.begin(),
              std::find_if(reading.begin(), reading.end(),
                           [this](const Slot* slot) { return slot->number >= turn_; }),
              reading.end());
  std::vector<Slot*> who;
  std::vector<PassPart> parts;
  int left = rows;
  for (Slot* slot : reading) {
    if (!who.empty() && left < kTogether) break;
    const RunPass next = slot->run.prepare(left);
    left -= next.batch.size();
    parts.push_back({slot->sequence, next.batch, next.logitRows});
    who.push_back(slot);
    turn_ = slot->number + 1;
  }
  const Stopwatch watch;
  pass(who, parts);
  if (std::all_of(who.begin(), who.end(), [](const Slot* slot) { return slot->over; })) return;
  const double perRow = watch.ms() / (rows - left);
  msPerRow_ = msPerRow_ == 0 ? perRow : msPerRow_ + 0.5 * (perRow - msPerRow_);
}

void Slots::verifyRound(const std::vector<Slot*>& decoding) {
  const int count = static_cast<int>(decoding.size());
  std::vector<PassPart> parts;
  for (Slot* slot : decoding) {
    const RunPass next = slot->run.prepare(share(count), count - 1);
    parts.push_back({slot->sequence, next.batch, next.logitRows});
  }
  pass(decoding, parts);
}

void Slots::pass(const std::vector<Slot*>& who, const std::vector<PassPart>& parts) {
  const auto allOver = [&] {
    endCancelled();
    return std::all_of(who.begin(), who.end(), [](const Slot* slot) { return slot->over; });
  };
  const Status status = decoder_.forward(parts, allOver);
  // A number that is not finite is one request's fault, and only that one's answer fails.
  const bool apart = !status.ok() && status.error().code == ErrorCode::kNonFinite && who.size() > 1;
  int rows = 0;
  for (const PassPart& part : parts)
    rows += part.batch.size();
  for (std::size_t i = 0; i < who.size(); ++i) {
    Slot& slot = *who[i];
    if (slot.over) continue;
    if (apart) {
      slot.run.take(decoder_.forward({&parts[i], 1}, [&] { return allOver() || slot.over; }));
    } else {
      slot.run.take(status, {static_cast<int>(i), rows - parts[i].batch.size()});
    }
    if (slot.run.ended()) end(slot);
  }
}

// Whoever is cancelled ends, also in the middle of a pass: his rows are computed to its end for nobody.
void Slots::endCancelled() {
  for (const auto& slot : slots_) {
    if (slot->over || !slot->cancelled()) continue;
    slot->run.take(Error{ErrorCode::kCancelled, "the request was stopped"});
    end(*slot);
  }
}

void Slots::end(Slot& slot) {
  slot.over = true;
  GenerationOutcome outcome = slot.run.finish();
  if (slot.request.ended) slot.request.ended(std::move(outcome));
}

// Lets go of what is over. REQUIRES: no pass is running.
void Slots::sweep() {
  std::erase_if(slots_, [](const auto& slot) { return slot->over; });
}

}  // namespace tandem
