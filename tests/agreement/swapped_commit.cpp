#include "tests/agreement/swapped_commit.h"

namespace tandem::test {
namespace {

constexpr int kFaultyRound = 5;

struct Loop {
  Decoder& decoder;
  const Generation& request;
  const GenerationCallbacks& callbacks;
  const bool fault;
  Sequence sequence = decoder.newSequence();
  GenerationOutcome outcome = {};

  TokenId choose(int row) {
    const TokenId token = agreement::highest(decoder.logits(row));
    callbacks.chosen(token, decoder.logits(row));
    outcome.tokens.push_back(token);
    return token;
  }

  Status prefill() {
    const Batch batch = Batch::chain(request.prompt, 0);
    const int last = batch.size() - 1;
    if (Status s = decoder.forward(sequence, batch, std::span(&last, 1)); !s.ok()) return s;
    std::vector<int> rows;
    for (int i = 0; i < batch.size(); ++i)
      rows.push_back(i);
    choose(0);
    return decoder.commit(sequence, rows);
  }

  Status round(int number) {
    const Sequence before = sequence.fork();
    const TokenId root = outcome.tokens.back();
    const TokenId guess = request.speculation.reference[outcome.tokens.size()];
    const TokenId wrong = guess == 0 ? 1 : 0;
    Draft draft;
    draft.add(guess, -1, 1, TokenOrigin::kOracle);
    draft.add(wrong, -1, 0, TokenOrigin::kOracle);
    Batch batch;
    batch.add(root, -1, before.length());
    batch.add(guess, 0, before.length());
    batch.add(wrong, 0, before.length());
    const int rows[] = {0, 1, 2};
    if (Status s = decoder.forward(sequence, batch, rows); !s.ok()) return s;

    const Acceptance acceptance = acceptDraft(
        draft, [this](int node) { return choose(node + 1); }, [](TokenId) { return false; });
    std::vector<int> kept = {0};
    for (const int node : acceptance.path)
      kept.push_back(node + 1);
    if (fault && number == kFaultyRound && kept.size() == 2) kept[1] = 2;
    if (callbacks.verified) {
      callbacks.verified({before, root, draft, acceptance, [this](int row) { return decoder.logits(row); }});
    }
    ++outcome.stats.rounds;
    outcome.stats.drafted += draft.size();
    outcome.stats.accepted += static_cast<int>(acceptance.path.size());
    return decoder.commit(sequence, kept);
  }
};

}  // namespace

agreement::Subject swappedCommit(Decoder& decoder, bool fault) {
  return [&decoder, fault](const agreement::Cell&, const Generation& request,
                           const GenerationCallbacks& callbacks, const std::shared_ptr<TextStore>&) {
    Loop loop{decoder, request, callbacks, fault};
    loop.outcome.status = loop.prefill();
    // A round adds up to two tokens.
    for (int number = 1; loop.outcome.status.ok() &&
                         loop.outcome.tokens.size() + 2 <= static_cast<std::size_t>(request.maxTokens);
         ++number)
      loop.outcome.status = loop.round(number);
    return std::move(loop.outcome);
  };
}

}  // namespace tandem::test
