// Up to N requests on one decoder, stepped together (docs/parallel.md).
//
// Each step is one pass: a chunk of one request's prompt, or a round of all requests that decode, verified
// together. While some decode, chunks are short and take turns with rounds, so no answer waits longer than a
// chunk and a pass; the requests that read take turns too. A request that fails or is cancelled ends alone.
// Belongs to the decoder's thread.
#pragma once

#include <memory>
#include <vector>

#include "engine/session/answer_run.h"

namespace tandem {

// A request that runs among others. Its callbacks must not run passes of the decoder.
struct SlotRequest {
  Generation generation;
  GenerationCallbacks callbacks = {};
  const std::atomic<bool>* cancel = nullptr;  // null, or heeded between layers of any pass and between passes
  std::function<void(GenerationOutcome)> ended = {};  // called once
};

class Slots {
 public:
  static constexpr int kMost = kMaxDraftNodes + 1;  // each has a row of a pass
  // Milliseconds that a chunk of a prompt should take while others decode.
  static constexpr double kChunkMs = 100;

  // REQUIRES: 1 <= count <= kMost; decoder and resources outlive the slots.
  Slots(Decoder& decoder, SpeculationResources& resources, int count);
  ~Slots();

  int count() const { return count_; }
  int running() const { return static_cast<int>(slots_.size()); }
  bool full() const { return running() == count_; }

  // Starts a request; what is wrong with it ends it at once. REQUIRES: !full().
  void start(SlotRequest request);
  // One pass. REQUIRES: running() > 0.
  void step();
  // Ends what runs with this error.
  void fail(const Error& error);

  // Rows of a request's next pass when so many decode: a root and its draft. 16 at two, 8 at four.
  static int share(int decoding) { return std::max(1, kMost / decoding); }
  // Rows of a chunk that takes kChunkMs at so many milliseconds a row (0: not known), a multiple of 8.
  static int chunkRows(double msPerRow, int maxRows);

 private:
  struct Slot;

  std::vector<Slot*> slotsThat(bool read) const;
  // One pass over so many rows of prompts.
  void readChunks(std::vector<Slot*> reading, int rows);
  void verifyRound(const std::vector<Slot*>& decoding);
  // One pass over what these prepared; then each takes its part.
  void pass(const std::vector<Slot*>& who, const std::vector<PassPart>& parts);
  void endCancelled();
  void end(Slot& slot);
  void sweep();

  Decoder& decoder_;
  SpeculationResources& resources_;
  const int count_;
  std::vector<std::unique_ptr<Slot>> slots_;  // in the order in which they started
  std::size_t turn_ = 0;                      // whose chunk comes first, by the number of its start
  std::size_t started_ = 0;
  bool readsNext_ = true;  // whether a chunk comes before the next round
  double msPerRow_ = 0;    // of a prompt, an average of the last chunks
};

}  // namespace tandem
