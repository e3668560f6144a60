#include "engine/verify/tree_checks.h"

#include <algorithm>

#include "engine/verify/random_tree.h"

namespace tandem {
namespace {

using Logits = std::vector<float>;

// Decodes one token; its logits.
Result<Logits> decode(Decoder& decoder, Sequence& sequence, TokenId token, const std::atomic<bool>* cancel) {
  if (Status s = decoder.read(sequence, std::span(&token, 1), cancel); !s.ok()) return s.error();
  return Logits(decoder.logits(0).begin(), decoder.logits(0).end());
}

}  // namespace

Status checkTrees(Decoder& decoder, const std::vector<TokenId>& text, int largest,
                  const std::atomic<bool>* cancel, CheckResult& result) {
  // The trees cross the end of an attention tile.
  const int context = std::min(60, static_cast<int>(text.size()) - 2);
  Sequence sequence = decoder.newSequence();
  if (Status s = decoder.read(sequence, std::span(text).first(context), cancel); !s.ok()) return s;
  TokenStream random(decoder.model().config().vocabulary, 23);
  int rows = 0;
  for (const int size : {2, 5, 8, 16, 32}) {
    if (size > largest) break;
    const Batch tree = randomTree(size, context, random);
    const std::vector<int> all = firstRows(size);
    // Each row by itself: its parent's sequence and one token more.
    std::vector<Sequence> after;
    std::vector<Logits> expected;
    for (const BatchRow& row : tree.rows) {
      Sequence path = row.parent < 0 ? sequence.fork() : after[row.parent].fork();
      auto logits = decode(decoder, path, row.token, cancel);
      if (!logits.ok()) return logits.error();
      expected.push_back(std::move(*logits));
      after.push_back(std::move(path));
    }
    if (Status s = decoder.forward(sequence, tree, all, cancel); !s.ok()) return s;
    for (int row = 0; row < size; ++row)
      result.difference.add(expected[row], decoder.logits(row));
    // A path of the pass, committed up to each of its rows.
    for (const int row : pathTo(tree, size - 1)) {
      Sequence committed = sequence.fork();
      if (Status s = decoder.commit(committed, pathTo(tree, row)); !s.ok()) return s;
      result.passed = result.passed && committed.sameBytes(after[row]);
    }
    rows += size;
  }
  result.detail = std::to_string(rows) + " rows of trees of 2 ... " + std::to_string(largest) +
                  ", and what their commits leave";
  return {};
}

Status checkRejects(Decoder& decoder, const std::vector<TokenId>& text, int rounds,
                    const std::atomic<bool>* cancel, CheckResult& result) {
  const int context = std::min(40, static_cast<int>(text.size()) / 2);
  rounds = std::min(rounds, static_cast<int>(text.size()) - context - 1);
  Sequence plain = decoder.newSequence(), drafting = decoder.newSequence();
  for (Sequence* sequence : {&plain, &drafting}) {
    if (Status s = decoder.read(*sequence, std::span(text).first(context), cancel); !s.ok()) return s;
  }
  TokenStream wrong(decoder.model().config().vocabulary, 29);
  for (int i = 0; i < rounds; ++i) {
    const TokenId token = text[context + i];
    auto expected = decode(decoder, plain, token, cancel);
    if (!expected.ok()) return expected.error();
    Batch batch;
    batch.add(token, -1, drafting.length());
    while (batch.size() < 8)
      batch.add(wrong.next(), batch.size() - 1, drafting.length());
    const int zero = 0;
    if (Status s = decoder.forward(drafting, batch, {&zero, 1}, cancel); !s.ok()) return s;
    result.difference.add(*expected, decoder.logits(0));
    if (Status s = decoder.commit(drafting, {&zero, 1}); !s.ok()) return s;
  }
  result.passed = result.passed && plain.sameBytes(drafting);
  result.detail =
      std::to_string(rounds) + " rounds of 7 rejected rows after " + std::to_string(context) + " tokens";
  return {};
}

Status checkSnapshot(Decoder& decoder, const std::vector<TokenId>& text, const std::atomic<bool>* cancel,
                     CheckResult& result) {
  const int context = std::min(40, static_cast<int>(text.size()) / 2);
  Sequence sequence = decoder.newSequence();
  if (Status s = decoder.read(sequence, std::span(text).first(context), cancel); !s.ok()) return s;
  const auto bytes = sequence.recurrent.bytes();
  const std::vector<std::byte> snapshot(bytes.begin(), bytes.end());
  Sequence resumed = sequence.fork();
  resumed.recurrent = decoder.newSequence().recurrent;
  if (Status s = resumed.recurrent.restore(snapshot); !s.ok()) return s;
  for (int i = 0; i < 8 && context + i < static_cast<int>(text.size()); ++i) {
    auto expected = decode(decoder, sequence, text[context + i], cancel);
    auto got = decode(decoder, resumed, text[context + i], cancel);
    if (!expected.ok()) return expected.error();
    if (!got.ok()) return got.error();
    result.difference.add(*expected, *got);
  }
  result.passed = result.passed && sequence.sameBytes(resumed);
  result.detail =
      std::to_string(snapshot.size()) + " bytes of state after " + std::to_string(context) + " tokens";
  return {};
}

}  // namespace tandem
