#include "engine/session/generator.h"

#include "engine/session/answer_run.h"
#include "engine/speculation/speculator.h"

namespace tandem {

Status Generator::prepareRouting(const std::atomic<bool>* cancel) {
  if (resources_.verifyCost.measured()) return {};
  return resources_.verifyCost.measure(decoder_, cancel);
}

GenerationOutcome Generator::run(const Generation& request, const GenerationCallbacks& callbacks,
                                 const std::atomic<bool>* cancel) {
  sequence_ = decoder_.newSequence();
  if (isRouted(request.speculation)) {
    // A pass that fails here fails again in the run, which tells it.
    const Status measured = prepareRouting(cancel);
    static_cast<void>(measured);
  }
  AnswerRun run(decoder_, sequence_, resources_, request, callbacks, cancel);
  while (!run.ended()) {
    const RunPass pass = run.prepare(decoder_.maxRows());
    run.take(decoder_.forward(sequence_, pass.batch, pass.logitRows, cancel));
  }
  return run.finish();
}

}  // namespace tandem
