#include "engine/measure/rates.h"

#include <algorithm>

#include "engine/base/stopwatch.h"
#include "engine/kernels/arithmetic.h"
#include "engine/measure/work.h"
#include "engine/model/split_product.h"
#include "engine/sampler/sampler.h"
#include "engine/session/slots.h"

namespace tandem::measure {
namespace {

using kernels::PackedMatrix;

// One row behind the sequence, and the greedy choice that follows it.
Result<TokenId> step(Decoder& decoder, Sequence& sequence, TokenId token, const std::atomic<bool>* cancel) {
  if (Status s = decoder.read(sequence, {&token, 1}, cancel); !s.ok()) return s.error();
  return argmax(decoder.logits(0));
}

// Rows that suit every matrix of a model: the same bytes read with another k.
class Rows {
 public:
  Rows(int rows, int longest)
      : x_(static_cast<std::size_t>(rows) * longest, 0.5f),
        q_(x_.size(), 64),
        d_(x_.size() / kernels::kBlock + 1, 0.01f),
        s_(d_.size(), 0.01f * 64 * kernels::kBlock),
        sums_(2 * d_.size(), 64 * kernels::kBlock / 2) {}

  kernels::QuantizedRows quantized(int k) { return {k, q_.data(), d_.data(), s_.data(), sums_.data()}; }
  const float* floats() const { return x_.data(); }

 private:
  std::vector<float> x_;
  std::vector<std::int8_t> q_;
  std::vector<float> d_, s_;
  std::vector<std::int16_t> sums_;
};

}  // namespace

std::vector<TokenId> fixedTokens(int count, int vocabulary) {
  std::vector<TokenId> tokens;
  std::uint64_t state = 1;
  for (int i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    tokens.push_back(static_cast<TokenId>((state >> 33) % static_cast<std::uint64_t>(vocabulary)));
  }
  return tokens;
}

Result<PrefillTimes> timePrefill(Decoder& decoder, std::span<const TokenId> prompt, int runs,
                                 const std::atomic<bool>* cancel) {
  PrefillTimes times;
  for (int run = 0; run < runs; ++run) {
    Sequence sequence = decoder.newSequence();
    const Stopwatch watch;
    if (Status s = decoder.read(sequence, prompt, cancel); !s.ok()) return s.error();
    times.read.push_back(watch.ms());
    [[maybe_unused]] const volatile TokenId first = argmax(decoder.logits(0));
    times.firstToken.push_back(watch.ms());
  }
  return times;
}

Result<std::vector<double>> timeDecode(Decoder& decoder, std::span<const TokenId> context, int tokens,
                                       int runs, const std::atomic<bool>* cancel) {
  Sequence read = decoder.newSequence();
  if (Status s = decoder.read(read, context.first(context.size() - 1), cancel); !s.ok()) return s.error();
  std::vector<double> times;
  for (int run = 0; run < runs; ++run) {
    Sequence sequence = read.fork();
    Result<TokenId> token = step(decoder, sequence, context.back(), cancel);
    const Stopwatch watch;
    for (int i = 0; i < tokens && token; ++i)
      token = step(decoder, sequence, *token, cancel);
    times.push_back(watch.ms());
    if (!token) return token.error();
  }
  return times;
}

Result<std::vector<std::vector<double>>> timeTogether(Decoder& decoder, std::span<const int> counts,
                                                      int promptTokens, int tokens, int runs,
                                                      const std::atomic<bool>* cancel) {
  std::vector<std::vector<double>> times(counts.size());
  SpeculationResources resources;
  Status status;
  for (int run = 0; run < runs; ++run) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const auto text = fixedTokens(counts[i] * promptTokens, decoder.model().config().vocabulary);
      const Stopwatch watch;
      Slots slots(decoder, resources, counts[i]);
      for (int k = 0; k < counts[i]; ++k) {
        const auto prompt = text.begin() + k * promptTokens;
        SlotRequest request;
        request.generation.prompt = {prompt, prompt + promptTokens};
        request.generation.maxTokens = tokens;
        request.generation.speculation = SpeculationOptions::off();
        request.generation.endAtEndTokens = false;
        request.generation.fingerprint = false;
        request.cancel = cancel;
        request.ended = [&status](const GenerationOutcome& outcome) {
          if (!outcome.status.ok()) status = outcome.status;
        };
        slots.start(std::move(request));
      }
      while (slots.running() > 0)
        slots.step();
      if (cancel && cancel->load()) return Error{ErrorCode::kCancelled, "stopped"};
      if (!status.ok()) return status.error();
      times[i].push_back(watch.ms());
    }
  }
  return times;
}

std::vector<double> timeProducts(const Model& model, const kernels::KernelSet& kernels, int threads, int rows,
                                 int runs, const std::atomic<bool>* cancel) {
  constexpr double kRunMs = 50;  // at least, so that a clock's tick and a woken thread do not count
  std::vector<const PackedMatrix*> matrices;
  for (const LayerWeights& layer : model.weights().layers) {
    const auto more = matricesOf(model.config(), layer);
    matrices.insert(matrices.end(), more.begin(), more.end());
  }
  int longest = 0, widest = 0;
  for (const PackedMatrix* w : matrices) {
    longest = std::max(longest, w->k());
    widest = std::max(widest, w->n());
  }
  Rows in(rows, longest);
  std::vector<float> out(static_cast<std::size_t>(rows) * widest);
  ThreadPool pool(threads);
  const auto multiplyAll = [&] {
    for (const PackedMatrix* w : matrices) {
      splitProduct(pool, rows, w->groups(), [&](int rowBegin, int rowEnd, int begin, int end) {
        float* to = out.data() + static_cast<std::size_t>(rowBegin) * w->n();
        if (kernels::isFloatFormat(w->format())) {
          kernels.matmulFloat(*w, in.floats(), rowEnd - rowBegin, begin, end, to, w->n());
        } else {
          kernels.matmulQuantized(*w, in.quantized(w->k()), rowEnd - rowBegin, begin, end, to, w->n());
        }
      });
    }
  };
  std::vector<double> times;
  multiplyAll();
  for (int run = 0; run < runs && !(cancel != nullptr && cancel->load()); ++run) {
    int repeats = 0;
    const Stopwatch watch;
    while (watch.ms() < kRunMs) {
      multiplyAll();
      ++repeats;
    }
    times.push_back(watch.ms() / repeats);
  }
  return times;
}

}  // namespace tandem::measure
