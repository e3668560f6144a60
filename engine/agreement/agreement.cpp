#include "engine/agreement/agreement.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "engine/agreement/option_sets.h"
#include "engine/agreement/row_comparison.h"
#include "engine/session/slots.h"
#include "engine/speculation/options.h"

namespace tandem::agreement {
namespace {

// What a cell must have done to count. A lookup finds something and is wrong at times; a drafter that is
// never right, or never wrong, cannot be asked for the other.
struct Expected {
  bool drafted = false, accepted = false, rejected = false;
};

Expected expectedOf(const Cell& cell) {
  const SpeculationOptions& s = cell.speculation;
  // Where the router decides it may also decide for nothing.
  if (s.automatic || s.drafters.empty() || s.shape.kind == DraftShape::Kind::kAuto) return {};
  if (s.drafters.size() > 1) return {.drafted = true};
  const bool tree = s.shape.kind == DraftShape::Kind::kTree;
  switch (s.drafters.front()) {
    case TokenOrigin::kWrong:
    case TokenOrigin::kRandom:
      return {.drafted = true, .rejected = true};
    case TokenOrigin::kOracle:  // its wrong guesses are siblings of the right one
      return {.drafted = true, .accepted = true, .rejected = tree && s.shape.nodes > 1};
    case TokenOrigin::kOwnText:
      // Options may leave nothing that stands in the text already.
      return {.drafted = cell.options == "plain",
              .accepted = cell.options == "plain",
              .rejected = cell.options == "plain"};
    case TokenOrigin::kStore:
    case TokenOrigin::kHalfRight:
      return {.drafted = true, .accepted = true, .rejected = true};
    default:
      return {.drafted = true};
  }
}

// A seed for what belongs to this prompt and this cell, the same in every run.
std::uint64_t seedOf(std::uint64_t seed, const std::vector<TokenId>& prompt, const std::string& cell) {
  std::uint64_t hash = seed ^ 0xCBF29CE484222325u;
  const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001B3u; };
  for (const TokenId token : prompt)
    mix(static_cast<std::uint64_t>(token));
  for (const char c : cell)
    mix(static_cast<unsigned char>(c));
  return hash;
}

// Numbers of requests at once.
Result<std::vector<int>> countsOf(std::string_view list) {
  std::vector<int> counts;
  for (const std::string& part : splitList(list)) {
    int count = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), count);
    if (error != std::errc() || end != part.data() + part.size() || count < 1 || count > Slots::kMost)
      return Error{
          ErrorCode::kInvalidArgument,
          "'" + part + "' is no number of requests at once; choose 1 to " + std::to_string(Slots::kMost),
          "parallel"};
    counts.push_back(count);
  }
  return counts;
}

// The prompt and the answer, of which every kWrongEvery-th token is another one.
std::vector<TokenId> worseCopy(std::vector<TokenId> text, const std::vector<TokenId>& answer,
                               int vocabulary) {
  constexpr std::size_t kWrongEvery = 9;
  for (std::size_t i = 0; i < answer.size(); ++i)
    text.push_back((i + 1) % kWrongEvery == 0 ? (answer[i] + 1) % vocabulary : answer[i]);
  return text;
}

}  // namespace

Result<std::vector<Cell>> cellsOf(std::string_view drafters, std::string_view shapes,
                                  std::string_view options, std::string_view parallel) {
  std::vector<Cell> cells;
  const auto sets = optionSetsByName(options);
  if (!sets.ok()) return sets.error();
  const auto counts = countsOf(parallel);
  if (!counts.ok()) return counts.error();
  for (const std::string& set : *sets) {
    for (const std::string& drafter : splitList(drafters)) {
      for (const std::string& shape : splitList(shapes)) {
        Cell cell;
        cell.drafter = drafter;
        cell.shape = shape;
        cell.options = set;
        std::string names = drafter;
        std::replace(names.begin(), names.end(), '+', ',');
        if (Status s = setDrafters(names, cell.speculation); !s.ok()) return s.error();
        const Result<DraftShape> parsed = draftShapeByName(shape);
        if (!parsed.ok()) return parsed.error();
        cell.speculation.shape = *parsed;
        for (const int count : *counts) {
          cell.parallel = count;
          cells.push_back(cell);
        }
      }
    }
  }
  return cells;
}

void CellResult::add(const CellResult& other, int otherPrompt) {
  prompts += other.prompts;
  tokens += other.tokens;
  differingTokens += other.differingTokens;
  differingPrompts += other.differingPrompts;
  if (!first && other.first) {
    first = other.first;
    firstPrompt = otherPrompt;
  }
  differingBits += other.differingBits;
  acceptedRows += other.acceptedRows;
  rejectedRows += other.rejectedRows;
  rounds += other.rounds;
  drafted += other.drafted;
  accepted += other.accepted;
  rejected += other.rejected;
  seconds += other.seconds;
  if (error.empty()) error = other.error;
}

std::vector<std::string> failuresOf(const Cell& cell, const CellResult& r) {
  std::vector<std::string> failures;
  if (!r.error.empty()) failures.push_back(r.error);
  if (r.differingTokens > 0) failures.push_back(std::to_string(r.differingTokens) + " differing tokens");
  if (r.differingBits > 0) failures.push_back(std::to_string(r.differingBits) + " differing logit bits");
  const Expected expected = expectedOf(cell);
  if (r.acceptedRows == 0) failures.push_back("compared no row");
  if (expected.drafted && r.drafted == 0) failures.push_back("drafted nothing");
  if (expected.accepted && r.accepted == 0) failures.push_back("accepted nothing");
  if (expected.rejected && r.rejected == 0) failures.push_back("rejected nothing");
  if (r.rejected > 0 && r.rejectedRows == 0) failures.push_back("compared no rejected row");
  return failures;
}

Subject alone(Generator& generator, const std::atomic<bool>* cancel) {
  return [&generator, cancel](const Cell&, const Generation& request, const GenerationCallbacks& callbacks,
                              const std::shared_ptr<TextStore>& store) {
    generator.speculation().store = store;
    return generator.run(request, callbacks, cancel);
  };
}

Gate::Gate(Decoder& plain, Generator& subject, GateOptions options)
    : Gate(plain, alone(subject, options.cancel), options) {}

Gate::Gate(Decoder& plain, Subject subject, GateOptions options)
    : reference_(plain),
      subject_(std::move(subject)),
      options_(options),
      forms_(plain.model().sharedTokenizer()) {}

Status Gate::usePrompt(std::vector<TokenId> prompt, const std::string& options) {
  const auto set = optionSet(options, prompt, options_.seed);
  if (!set.ok()) return set.error();
  const auto form = forms_.find(set->form);
  if (!form.ok()) return form.error();
  form_ = *form;
  Result<PlainRun> plain =
      decodePlain(reference_, prompt, options_.tokens, ends(), options_.cancel, set->sampling, form_.get());
  if (!plain.ok()) return plain.error();
  sampling_ = set->sampling;
  plain_ = std::move(*plain);
  prompt_ = std::move(prompt);
  auto store = std::make_shared<MemoryTextStore>();
  store->add(worseCopy(prompt_, plain_.tokens, reference_.model().config().vocabulary));
  store_ = std::move(store);
  return {};
}

Status Gate::checkForms(const std::vector<Cell>& cells) {
  for (const Cell& cell : cells) {
    const auto set = optionSet(cell.options, {}, options_.seed);
    if (!set.ok()) return set.error();
    const auto form = forms_.find(set->form);
    if (!form.ok()) return form.error();
    if (!*form) continue;
    if (const Status fits = (*form)->start().checkLength(options_.tokens); !fits.ok())
      return Error{fits.error().code, cell.options + ": " + fits.error().message, "tokens"};
  }
  return {};
}

Result<CellResult> Gate::run(const Cell& cell) {
  const auto start = std::chrono::steady_clock::now();
  CellResult result;
  const std::uint64_t seed = seedOf(options_.seed, prompt_, cell.name());
  Generation request;
  request.prompt = prompt_;
  request.maxTokens = options_.tokens;
  request.endAtEndTokens = ends();
  request.sampling = sampling_;
  request.constraint = form_;
  request.speculation = cell.speculation;
  request.speculation.reference = plain_.tokens;
  request.speculation.seed = seed;

  RowComparison comparison(reference_, plain_, options_, seed, result);
  GenerationCallbacks callbacks;
  callbacks.chosen = [&](TokenId token, std::span<const float> logits) {
    comparison.onChosen(token, logits);
  };
  callbacks.verified = [&](const VerifiedRound& round) { comparison.onVerified(round); };
  callbacks.warning = [&](std::string sentence) { result.error = std::move(sentence); };
  const GenerationOutcome outcome = subject_(cell, request, callbacks, store_);
  if (outcome.stats.finish == FinishReason::kCancelled) return Error{ErrorCode::kCancelled, "stopped"};
  if (!comparison.status().ok()) return comparison.status().error();
  if (!outcome.status.ok()) result.error = outcome.status.error().message;

  const std::vector<TokenId>& expected = plain_.tokens;
  const std::size_t longer = std::max(expected.size(), outcome.tokens.size());
  for (std::size_t i = 0; i < longer; ++i) {
    if (i < expected.size() && i < outcome.tokens.size() && expected[i] == outcome.tokens[i]) continue;
    ++result.differingTokens;
    if (result.first) continue;
    const std::size_t row = std::min(i, expected.size() - 1);
    result.first = FirstDifference{static_cast<int>(i), topTwoGapUlps(plain_.logits[row]),
                                   plain_.end >= 0 && static_cast<int>(i) > plain_.end};
  }
  result.prompts = 1;
  result.tokens = static_cast<std::int64_t>(expected.size());
  result.differingPrompts = result.differingTokens > 0 ? 1 : 0;
  result.rounds = outcome.stats.rounds;
  result.drafted = outcome.stats.drafted;
  result.accepted = outcome.stats.accepted;
  result.rejected = outcome.stats.rejected();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace tandem::agreement
