#include "engine/verify/checks.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

#include "engine/model/decoder.h"
#include "engine/verify/cache_checks.h"
#include "engine/verify/parallel_checks.h"
#include "engine/verify/quantized_cache_checks.h"
#include "engine/verify/speculation_checks.h"
#include "engine/verify/token_stream.h"
#include "engine/verify/tree_checks.h"

namespace tandem {
namespace {

using Rows = std::vector<std::vector<float>>;  // logits by position

// English, code and a repetition, so that a text's own past is of use to the drafter.
constexpr const char* kText =
    "The keeper of the northern light wrote one line a day in his book: wind, sea, ships. On the ninth of "
    "March he "
    "wrote two.\n\nint largest(const std::vector<int>& v) {\n  int best = 0;\n  for (int i = 1; i < "
    "v.size(); ++i)\n"
    "    if (v[i] > v[best]) best = i;\n  return best;\n}\n\nOne, two, three. One, two, three. One, two, "
    "three. The "
    "price of bread rose from 12 to 14 marks; in Z\xC3\xBCrich it stayed at 12. "
    "\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E.";

class Verifier {
 public:
  Verifier(std::shared_ptr<const Model> model, const VerifyOptions& options,
           const std::function<void(const CheckResult&)>& report)
      : model_(std::move(model)),
        options_(options),
        report_(report),
        kernels_(options.kernels ? *options.kernels : kernels::bestKernels()) {}

  Status run() {
    text_ = sampleTokens(std::max(options_.tokens, 128));
    auto decoder = newDecoder(kernels_, options_.threadCounts.front());
    if (!decoder.ok()) return decoder.error();
    decoder_ = std::move(*decoder);
    check("prefill = decode", &Verifier::prefillIsDecode);
    check("prefill in chunks", &Verifier::chunksDoNotMatter);
    check("row = itself", &Verifier::rowIsItself);
    check("fork is exact", &Verifier::forkIsExact);
    check("tree = its paths", &Verifier::treeIsItsPaths);
    check("rejects leave nothing", &Verifier::rejectsLeaveNothing);
    check("parallel", &Verifier::parallelIsAlone);
    check("snapshot resumes", &Verifier::snapshotResumes);
    if (options_.openIndex) check("disk resumes", &Verifier::diskResumes);
    check("unused slots", &Verifier::unusedSlotsAreNotRead);
    check("thread counts", &Verifier::threadsDoNotMatter);
    check("kernel sets", &Verifier::kernelSetsAgree);
    check("tokenizer round trip", &Verifier::tokenizerRoundTrip);
    // A cache is bounded by real text, and lookup finds something only there.
    if (model_->tokenizer().canEncode()) {
      check("quantised cache bound", &Verifier::quantizedCacheIsClose);
      check("the bound has teeth", &Verifier::oneBitIsNotClose);
      check("speculation own-text", &Verifier::ownTextIsPlain);
    }
    check("speculation wrong", &Verifier::wrongIsPlain);
    check("speculation oracle", &Verifier::oracleIsPlain);
    check("speculation random", &Verifier::randomIsPlain);
    return status_;
  }

 private:
  void check(const char* name, Status (Verifier::*method)(CheckResult&)) {
    if (!status_.ok()) return;
    const auto start = std::chrono::steady_clock::now();
    CheckResult result;
    result.name = name;
    result.passed = true;
    status_ = (this->*method)(result);
    if (!status_.ok()) return;
    result.passed = result.passed && result.difference.none();
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report_(result);
  }

  Result<std::unique_ptr<Decoder>> newDecoder(const kernels::KernelSet& set, int threads) {
    return Decoder::create(model_, {.kernels = &set, .threads = threads, .cacheType = options_.cacheType});
  }

  std::vector<TokenId> sampleTokens(int count) const {
    std::vector<TokenId> tokens;
    const Tokenizer& tokenizer = model_->tokenizer();
    if (tokenizer.canEncode()) {
      if (auto encoded = tokenizer.encode(kText, Bos::kAsModel); encoded.ok()) tokens = std::move(*encoded);
    }
    TokenStream stream(model_->config().vocabulary, 7);
    while (static_cast<int>(tokens.size()) < count)
      tokens.push_back(stream.next());
    tokens.resize(std::min(count, model_->config().contextLength - 1));
    return tokens;
  }

  // Logits of every position of the first `count` sample tokens, forwarded `chunk` at a time.
  Status forwardText(Decoder& decoder, Sequence& sequence, int count, int chunk, Rows& rows) {
    for (int done = 0; done < count; done += chunk) {
      const int size = std::min(chunk, count - done);
      const std::vector<int> all = firstRows(size);
      const Batch batch = Batch::chain(std::span(text_).subspan(done, size), done);
      if (Status s = decoder.forward(sequence, batch, all, options_.cancel); !s.ok()) return s;
      for (int i = 0; i < size; ++i)
        rows.emplace_back(decoder.logits(i).begin(), decoder.logits(i).end());
      if (Status s = decoder.commit(sequence, all); !s.ok()) return s;
    }
    return {};
  }

  static void compare(const Rows& a, const Rows& b, CheckResult& result) {
    result.passed = result.passed && a.size() == b.size();
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      result.difference.add(a[i], b[i]);
  }

  int tokens() const { return std::min<int>(options_.tokens, static_cast<int>(text_.size())); }

  Status prefillIsDecode(CheckResult& result) {
    const int count = std::min(tokens(), decoder_->maxRows());
    Sequence whole = decoder_->newSequence(), single = decoder_->newSequence();
    Rows batched, decoded;
    if (Status s = forwardText(*decoder_, whole, count, count, batched); !s.ok()) return s;
    if (Status s = forwardText(*decoder_, single, count, 1, decoded); !s.ok()) return s;
    compare(batched, decoded, result);
    result.passed = result.passed && whole.sameBytes(single);
    result.detail = std::to_string(count) + " tokens as a batch and one at a time, logits and cache";
    return {};
  }

  Status chunksDoNotMatter(CheckResult& result) {
    const int count = std::min(tokens(), decoder_->maxRows());
    Sequence whole = decoder_->newSequence();
    Rows expected;
    if (Status s = forwardText(*decoder_, whole, count, count, expected); !s.ok()) return s;
    for (const int chunk : {7, 33, 64}) {
      Sequence sequence = decoder_->newSequence();
      Rows rows;
      if (Status s = forwardText(*decoder_, sequence, count, std::min(chunk, decoder_->maxRows()), rows);
          !s.ok())
        return s;
      compare(expected, rows, result);
      result.passed = result.passed && whole.sameBytes(sequence);
    }
    result.detail = "chunks of 7, 33 and 64";
    return {};
  }

  // A row alone, and at every place of batches of 2 … N rows: once in a chain (what follows it changes), once
  // as one of many siblings (what stands beside it changes).
  Status rowIsItself(CheckResult& result) {
    const int context = std::min(70, tokens() - 2);
    Sequence sequence = decoder_->newSequence();
    Rows ignored;
    if (Status s = forwardText(*decoder_, sequence, context, decoder_->maxRows(), ignored); !s.ok()) return s;
    const TokenId token = text_[context];
    const int zero = 0;
    Batch alone;
    alone.add(token, -1, context);
    if (Status s = decoder_->forward(sequence, alone, {&zero, 1}, options_.cancel); !s.ok()) return s;
    const std::vector<float> expected(decoder_->logits(0).begin(), decoder_->logits(0).end());

    TokenStream neighbours(model_->config().vocabulary, 11);
    for (int size = 2; size <= options_.largestBatch; ++size) {
      Batch chain, siblings;
      chain.add(token, -1, context);
      while (chain.size() < size)
        chain.add(neighbours.next(), chain.size() - 1, context);
      const int place = size % 2 ? size - 1 : size / 2;
      while (siblings.size() < size) {
        siblings.add(siblings.size() == place ? token : neighbours.next(), -1, context);
      }
      for (const auto& [batch, row] : {std::pair(&chain, 0), std::pair(&siblings, place)}) {
        if (Status s = decoder_->forward(sequence, *batch, {&row, 1}, options_.cancel); !s.ok()) return s;
        result.difference.add(expected, decoder_->logits(0));
        // The last layer's head sees several rows too.
        const std::vector<int> all = firstRows(size);
        if (Status s = decoder_->forward(sequence, *batch, all, options_.cancel); !s.ok()) return s;
        result.difference.add(expected, decoder_->logits(row));
      }
    }
    result.detail =
        "alone and among 2 ... " + std::to_string(options_.largestBatch) + " rows, chains and siblings";
    return {};
  }

  Status forkIsExact(CheckResult& result) {
    const int context = std::min(70, tokens() - 10);
    Sequence sequence = decoder_->newSequence();
    Rows ignored;
    if (Status s = forwardText(*decoder_, sequence, context, decoder_->maxRows(), ignored); !s.ok()) return s;
    // The fork goes another way first; the original must not notice.
    Sequence fork = sequence.fork(), other = sequence.fork();
    TokenStream stream(model_->config().vocabulary, 13);
    for (int i = 0; i < 6; ++i) {
      Rows rows[2];
      const TokenId own = text_[context + i];
      for (auto [target, token, at] : {std::tuple(&other, stream.next(), -1), std::tuple(&sequence, own, 0),
                                       std::tuple(&fork, own, 1)}) {
        const int zero = 0;
        Batch batch;
        batch.add(token, -1, target->length());
        if (Status s = decoder_->forward(*target, batch, {&zero, 1}, options_.cancel); !s.ok()) return s;
        if (at >= 0) rows[at].emplace_back(decoder_->logits(0).begin(), decoder_->logits(0).end());
        if (Status s = decoder_->commit(*target, {&zero, 1}); !s.ok()) return s;
      }
      compare(rows[0], rows[1], result);
    }
    result.passed = result.passed && sequence.sameBytes(fork);
    result.detail = "two forks continue alike while a third goes another way";
    return {};
  }

  // Slots that hold another text's rows must not enter: a sequence that was longer and was cut equals one
  // that never was.
  Status unusedSlotsAreNotRead(CheckResult& result) {
    const int context = std::min(50, tokens() - 8);
    Sequence clean = decoder_->newSequence(), cut = decoder_->newSequence();
    Rows ignored;
    if (Status s = forwardText(*decoder_, clean, context, decoder_->maxRows(), ignored); !s.ok()) return s;
    if (Status s = forwardText(*decoder_, cut, context, decoder_->maxRows(), ignored); !s.ok()) return s;
    TokenStream stream(model_->config().vocabulary, 17);
    Batch noise;
    while (noise.size() < 10)
      noise.add(stream.next(), noise.size() - 1, context);
    const std::vector<int> all = firstRows(noise.size());
    const RecurrentState before = cut.recurrent;
    if (Status s = decoder_->forward(cut, noise, {}, options_.cancel); !s.ok()) return s;
    if (Status s = decoder_->commit(cut, all); !s.ok()) return s;
    cut.kv.truncate(context);
    cut.recurrent = before;
    Rows rows[2];
    int at = 0;
    for (Sequence* sequence : {&clean, &cut}) {
      for (int i = 0; i < 4; ++i) {
        const int zero = 0;
        Batch batch;
        batch.add(text_[context + i], -1, sequence->length());
        if (Status s = decoder_->forward(*sequence, batch, {&zero, 1}, options_.cancel); !s.ok()) return s;
        rows[at].emplace_back(decoder_->logits(0).begin(), decoder_->logits(0).end());
        if (Status s = decoder_->commit(*sequence, {&zero, 1}); !s.ok()) return s;
      }
      ++at;
    }
    compare(rows[0], rows[1], result);
    result.detail = "a sequence that was cut equals one that was never longer";
    return {};
  }

  Status treeIsItsPaths(CheckResult& result) {
    return checkTrees(*decoder_, text_, options_.largestTree, options_.cancel, result);
  }
  Status rejectsLeaveNothing(CheckResult& result) {
    return checkRejects(*decoder_, text_, options_.rejectedRounds, options_.cancel, result);
  }
  Status parallelIsAlone(CheckResult& result) {
    return checkParallel(*decoder_, text_, options_.sharedPasses, std::min(options_.largestTree, 16),
                         options_.cancel, result, jointPassOf(*decoder_, options_.cancel));
  }

  Status snapshotResumes(CheckResult& result) {
    if (model_->config().hybrid()) {
      if (Status s = checkSnapshot(*decoder_, text_, options_.cancel, result); !s.ok()) return s;
    }
    return checkResume(*decoder_, text_, options_.cacheFaults, options_.cancel, result);
  }

  Status diskResumes(CheckResult& result) {
    return checkDiskResume(*decoder_, text_, options_.openIndex, options_.diskFaults, options_.cancel,
                           result);
  }

  Status threadsDoNotMatter(CheckResult& result) {
    const int count = std::min({tokens(), 48, decoder_->maxRows()});
    Rows expected;
    Sequence sequence = decoder_->newSequence();
    if (Status s = forwardText(*decoder_, sequence, count, count, expected); !s.ok()) return s;
    for (std::size_t i = 1; i < options_.threadCounts.size(); ++i) {
      auto decoder = newDecoder(kernels_, options_.threadCounts[i]);
      if (!decoder.ok()) return decoder.error();
      Sequence other = (*decoder)->newSequence();
      Rows rows;
      if (Status s = forwardText(**decoder, other, count, 9, rows); !s.ok()) return s;
      compare(expected, rows, result);
    }
    for (const int threads : options_.threadCounts) {
      result.detail += (result.detail.empty() ? "" : ", ") + std::to_string(threads);
    }
    result.detail += " threads";
    return {};
  }

  Status kernelSetsAgree(CheckResult& result) {
    const int count = std::min(options_.kernelTokens, tokens());
    Rows expected;
    Sequence sequence = decoder_->newSequence();
    if (Status s = forwardText(*decoder_, sequence, count, count, expected); !s.ok()) return s;
    result.detail = kernels_.name;
    for (const kernels::KernelSet* set : options_.otherSets) {
      auto decoder = newDecoder(*set, options_.threadCounts.back());
      if (!decoder.ok()) return decoder.error();
      Sequence other = (*decoder)->newSequence();
      Rows rows;
      if (Status s = forwardText(**decoder, other, count, count, rows); !s.ok()) return s;
      compare(expected, rows, result);
      result.passed = result.passed && sequence.sameBytes(other);
      result.detail += std::string(", ") + set->name;
    }
    if (options_.otherSets.empty()) result.detail += " only: this CPU runs no other set";
    return {};
  }

  Status tokenizerRoundTrip(CheckResult& result) {
    const Tokenizer& tokenizer = model_->tokenizer();
    if (!tokenizer.canEncode()) {
      result.detail = "the vocabulary has no text";
      return {};
    }
    const std::vector<std::string> samples = {kText,
                                              "  two  spaces\t\ttabs\r\n\r\n",
                                              std::string("nul\0byte", 8),
                                              "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7",
                                              "\x01\x02\x7F",
                                              "\xFF\xFE broken \xE6\x97",
                                              "<|im_start|>system\nobey<|im_end|>",
                                              " "};
    for (const std::string& sample : samples) {
      auto ids = tokenizer.encode(sample);
      if (!ids.ok()) return ids.error();
      const std::string back = tokenizer.decode(std::span<const TokenId>(*ids));
      result.difference.compared += sample.size();
      if (back != sample) ++result.difference.bits;
    }
    result.detail = std::to_string(samples.size()) + " samples, byte for byte";
    return {};
  }

  // The mean distance of a quantised cache, the one under test if it is one, from the F16 cache.
  Status boundCache(const kernels::KernelSet& set, CheckResult& result) {
    using kernels::CacheType;
    const CacheType type = options_.cacheType == CacheType::kQ8 ? CacheType::kQ8 : CacheType::kVq8;
    const int threads = options_.threadCounts.front();
    auto exact = Decoder::create(model_, {.kernels = &kernels_, .threads = threads});
    if (!exact.ok()) return exact.error();
    auto other = Decoder::create(model_, {.kernels = &set, .threads = threads, .cacheType = type});
    if (!other.ok()) return other.error();
    const auto variation = meanVariation(**exact, **other, text_, options_.cancel);
    if (!variation) return variation.error();
    result.variation = *variation;
    result.detail = std::string(kernels::cacheTypeName(type)) + " against f16 after each of " +
                    std::to_string(text_.size()) + " tokens";
    return {};
  }
  Status quantizedCacheIsClose(CheckResult& result) {
    if (Status s = boundCache(kernels_, result); !s.ok()) return s;
    result.passed = *result.variation < kMostVariation;
    result.detail += ", under 5 %";
    return {};
  }
  Status oneBitIsNotClose(CheckResult& result) {
    const kernels::KernelSet oneBit = withOneBitRows(kernels_);
    if (Status s = boundCache(oneBit, result); !s.ok()) return s;
    result.passed = *result.variation >= kMostVariation;
    result.detail += ", one bit a number: not under 5 %";
    return {};
  }

  Status ownTextIsPlain(CheckResult& result) {
    return speculation().check(TokenOrigin::kOwnText, {DraftShape::Kind::kChain, 7}, result);
  }
  Status wrongIsPlain(CheckResult& result) {
    return speculation().check(TokenOrigin::kWrong, {DraftShape::Kind::kChain, 3}, result);
  }
  // Knows the text, and puts wrong siblings beside it.
  Status oracleIsPlain(CheckResult& result) {
    return speculation().check(TokenOrigin::kOracle, {DraftShape::Kind::kTree, 15}, result);
  }
  Status randomIsPlain(CheckResult& result) {
    return speculation().check(TokenOrigin::kRandom, {DraftShape::Kind::kTree, 31}, result);
  }
  SpeculationChecks& speculation() {
    if (!speculation_) speculation_.emplace(*decoder_, text_, options_.generated, options_.cancel);
    return *speculation_;
  }

  std::shared_ptr<const Model> model_;
  const VerifyOptions& options_;
  const std::function<void(const CheckResult&)>& report_;
  const kernels::KernelSet& kernels_;
  std::unique_ptr<Decoder> decoder_;
  std::vector<TokenId> text_;
  std::optional<SpeculationChecks> speculation_;
  Status status_;
};

}  // namespace

void Difference::add(std::span<const float> a, std::span<const float> b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    bits += static_cast<std::uint64_t>(
        std::popcount(std::bit_cast<std::uint32_t>(a[i]) ^ std::bit_cast<std::uint32_t>(b[i])));
    largest = std::max(largest, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  compared += a.size();
}

std::vector<const kernels::KernelSet*> otherKernelSets(const kernels::KernelSet& subject) {
  std::vector<const kernels::KernelSet*> others = kernels::availableKernels();
  std::erase(others, &subject);
  return others;
}

Status runChecks(std::shared_ptr<const Model> model, const VerifyOptions& options,
                 const std::function<void(const CheckResult&)>& report) {
  if (model->config().contextLength < 32) {
    return Error{ErrorCode::kUnsupported, "the checks need a context of 32 tokens or more"};
  }
  return Verifier(std::move(model), options, report).run();
}

}  // namespace tandem
