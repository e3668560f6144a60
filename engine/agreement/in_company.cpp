#include "engine/agreement/in_company.h"

#include "engine/session/slots.h"

namespace tandem::agreement {
namespace {

// The number-th neighbour of a request.
SlotRequest neighbour(const Generation& request, int number) {
  const std::size_t length = 1 + static_cast<std::size_t>(number) * 7 % request.prompt.size();
  SlotRequest other;
  other.generation.prompt = {request.prompt.end() - static_cast<std::ptrdiff_t>(length),
                             request.prompt.end()};
  other.generation.maxTokens = 5 + number * 11 % 40;
  other.generation.endAtEndTokens = false;
  other.generation.fingerprint = false;
  if (number % 3 == 1) {
    other.generation.sampling.temperature = 1;
    other.generation.sampling.seed = static_cast<std::uint64_t>(number);
    other.generation.sampling.repetitionPenalty = 1.5f;
  }
  other.generation.speculation =
      number % 2 ? SpeculationOptions::tree(TokenOrigin::kRandom, kMaxDraftNodes) : SpeculationOptions::off();
  other.generation.speculation.seed = static_cast<std::uint64_t>(number);
  return other;
}

}  // namespace

Subject inCompany(Decoder& decoder, SpeculationResources& resources, const std::atomic<bool>* cancel) {
  return [&decoder, &resources, cancel](const Cell& cell, const Generation& request,
                                        const GenerationCallbacks& callbacks,
                                        const std::shared_ptr<TextStore>& store) {
    resources.store = store;
    Slots slots(decoder, resources, cell.parallel);
    std::optional<GenerationOutcome> outcome;
    slots.start({request, callbacks, cancel, [&](GenerationOutcome o) { outcome = std::move(o); }});
    for (int number = 0; !outcome;) {
      while (!slots.full())
        slots.start(neighbour(request, number++));
      slots.step();
    }
    return std::move(*outcome);
  };
}

}  // namespace tandem::agreement
