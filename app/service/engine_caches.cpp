// What the service does with its caches for a person: lists, proofs, settings.
#include <exception>
#include <new>
#include <utility>

#include "app/service/engine_service.h"
#include "engine/base/stopwatch.h"

namespace tandem::service {
namespace {

class ProofHandle : public RequestHandle {
 public:
  ProofHandle(std::shared_ptr<RequestQueue> queue, ProofPtr proof)
      : queue_(std::move(queue)), proof_(std::move(proof)) {}
  void cancel() override { queue_->cancel(proof_); }

 private:
  const std::shared_ptr<RequestQueue> queue_;
  const ProofPtr proof_;
};

}  // namespace

void EngineService::listCaches(CacheListingSink sink) {
  desk_.list(std::move(sink));
}

std::shared_ptr<RequestHandle> EngineService::proveText(std::string key, ProofSink sink) {
  auto proof = std::make_shared<Proof>(std::move(key), std::move(sink));
  queue_->prove(proof);
  return std::make_shared<ProofHandle>(queue_, std::move(proof));
}

void EngineService::dropText(std::string key) {
  desk_.drop(std::move(key));
}

void EngineService::clearDiskCache() {
  desk_.clearDisk();
}

void EngineService::setCaches(const CacheSettings& settings) {
  desk_.set(settings);
}

// The engine's options with what the person has chosen.
EngineOptions EngineService::chosenOptions() const {
  EngineOptions options = options_;
  if (const auto settings = desk_.settings()) {
    options.cache.budget = settings->memoryBudget;
    options.cache.grid = settings->grid;
    options.cache.endAnchor = settings->endAnchor;
    options.disk.folder.budget = settings->diskBudget;
    options.disk.enabled = settings->disk;
  }
  return options;
}

// A chunk of what is read anew, as short as a prompt's beside answers, or a block of the comparison.
void EngineService::stepProof(const ProofPtr& proof) {
  const auto end = [&](const Result<TextProof>& result) {
    if (proof->source) desk_.proved(*proof->source, result);
    queue_->endProof(proof, result ? ProofEvent(*result) : ProofEvent(result.error()));
  };
  if (!engine_) return end(Error{ErrorCode::kNotFound, "No model is loaded. Choose a model first.", "model"});
  try {
    if (!proof->source) {
      auto source = desk_.find(proof->key, engine_->decoder());
      if (!source) return end(source.error());
      proof->source.emplace(std::move(*source));
    }
    TextProver& prover = *proof->source->prover;
    const int before = prover.read();
    const Stopwatch watch;
    const Status status =
        prover.step(Slots::chunkRows(proof->msPerRow, engine_->decoder().maxRows()), &proof->cancelled);
    if (!status && prover.proof().differing == 0) return end(status.error());
    if (!status || prover.done()) return end(prover.proof());
    if (prover.read() > before) proof->msPerRow = watch.ms() / (prover.read() - before);
    queue_->rest(proof, {prover.read(), prover.total()});
  } catch (const std::bad_alloc&) {
    end(Error{ErrorCode::kOutOfMemory, "This machine has too little free memory for the proof."});
  } catch (const std::exception& exception) {
    end(Error{ErrorCode::kInternal, exception.what()});
  }
}

}  // namespace tandem::service
