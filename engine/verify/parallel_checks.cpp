#include "engine/verify/parallel_checks.h"

#include <algorithm>

#include "engine/verify/random_tree.h"

namespace tandem {
namespace {

constexpr int kSlots = 8;

// A sequence that grows in shared passes, and its twin that grows alone.
struct Slot {
  Sequence joint, alone;
  std::size_t next;  // of the text
};

// A part of one pass.
struct Turn {
  Slot* slot;
  Batch batch;
  std::vector<int> all, path;
  std::vector<float> logits;  // of all rows, as the shared pass gave them
};

class ParallelCheck {
 public:
  ParallelCheck(Decoder& decoder, const std::vector<TokenId>& text, int largest,
                const std::atomic<bool>* cancel, CheckResult& result, const JointPass& joint)
      : decoder_(decoder),
        text_(text),
        largest_(largest),
        cancel_(cancel),
        result_(result),
        joint_(joint),
        random_(decoder.model().config().vocabulary, 31) {}

  // Each slot begins at another place of the text and another length: some within a first tile of attention,
  // some behind it, and past a window where there is one.
  Status begin() {
    for (int i = 0; i < kSlots; ++i) {
      Slot slot{decoder_.newSequence(), decoder_.newSequence(), 0};
      const std::size_t length = i == 0 ? 0 : 1 + random_.below(text_.size() - 2);
      std::vector<TokenId> context;
      for (slot.next = i * 7; context.size() < length; ++slot.next)
        context.push_back(text_[slot.next % text_.size()]);
      if (Status s = decoder_.read(slot.alone, context, cancel_); !s.ok()) return s;
      slot.joint = slot.alone.fork();
      slots_.push_back(std::move(slot));
    }
    return {};
  }

  Status round() {
    std::vector<Turn> turns = draw();
    std::vector<PassPart> parts;
    for (const Turn& turn : turns)
      parts.push_back({turn.slot->joint, turn.batch, turn.all});
    if (Status s = joint_.forward(parts); !s.ok()) return s;
    for (std::size_t i = 0; i < turns.size(); ++i)
      turns[i].logits = logitsOf(turns[i], static_cast<int>(i));
    for (std::size_t i = 0; i < turns.size(); ++i) {
      if (Status s = joint_.commit(turns[i].slot->joint, turns[i].path, static_cast<int>(i)); !s.ok())
        return s;
    }
    for (Turn& turn : turns) {
      if (Status s = compareAlone(turn); !s.ok()) return s;
    }
    return {};
  }

 private:
  // Two or more slots in a random order, each with something to compute.
  std::vector<Turn> draw() {
    std::vector<Slot*> order;
    for (Slot& slot : slots_)
      order.push_back(&slot);
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random_.below(i)]);
    order.resize(2 + random_.below(kSlots - 1));
    std::vector<Turn> turns;
    int left = decoder_.maxRows();
    for (Slot* slot : order) {
      if (decoder_.model().config().contextLength - slot->joint.length() < largest_)
        slot->joint = slot->alone = decoder_.newSequence();
      const int most = std::min(largest_, left - static_cast<int>(order.size() - turns.size()) + 1);
      turns.push_back(drawTurn(*slot, most));
      left -= turns.back().batch.size();
    }
    return turns;
  }

  // A single row, a part of the text, or a random tree; a path of it will be committed, at times a part of
  // it.
  Turn drawTurn(Slot& slot, int most) {
    const int base = slot.joint.length(), rows = 1 + static_cast<int>(random_.below(most));
    Turn turn{&slot, {}, {}, {}, {}};
    if (random_.below(3) == 0) {
      turn.batch = randomTree(rows, base, random_);
    } else {
      const int count = random_.below(2) == 0 ? 1 : rows;
      while (turn.batch.size() < count)
        turn.batch.add(text_[slot.next++ % text_.size()], turn.batch.size() - 1, base);
    }
    turn.all = firstRows(turn.batch.size());
    turn.path = pathTo(turn.batch, static_cast<int>(random_.below(turn.all.size())));
    return turn;
  }

  std::vector<float> logitsOf(const Turn& turn, int part) const {
    std::vector<float> all;
    for (const int row : turn.all) {
      const std::span<const float> logits = decoder_.logits(row, part);
      all.insert(all.end(), logits.begin(), logits.end());
    }
    return all;
  }

  Status compareAlone(Turn& turn) {
    if (Status s = decoder_.forward(turn.slot->alone, turn.batch, turn.all, cancel_); !s.ok()) return s;
    result_.difference.add(logitsOf(turn, 0), turn.logits);
    if (Status s = decoder_.commit(turn.slot->alone, turn.path); !s.ok()) return s;
    result_.passed = result_.passed && turn.slot->alone.sameBytes(turn.slot->joint);
    return {};
  }

  Decoder& decoder_;
  const std::vector<TokenId>& text_;
  const int largest_;
  const std::atomic<bool>* cancel_;
  CheckResult& result_;
  const JointPass& joint_;
  TokenStream random_;
  std::vector<Slot> slots_;
};

}  // namespace

JointPass jointPassOf(Decoder& decoder, const std::atomic<bool>* cancel) {
  return {[&decoder, cancel](std::span<const PassPart> parts) {
            return decoder.forward(parts, [cancel] { return cancel && cancel->load(); });
          },
          [&decoder](Sequence& sequence, std::span<const int> rows, int part) {
            return decoder.commit(sequence, rows, part);
          }};
}

Status checkParallel(Decoder& decoder, const std::vector<TokenId>& text, int rounds, int largest,
                     const std::atomic<bool>* cancel, CheckResult& result, const JointPass& joint) {
  ParallelCheck check(decoder, text, largest, cancel, result, joint);
  if (Status s = check.begin(); !s.ok()) return s;
  for (int round = 0; round < rounds; ++round) {
    if (Status s = check.round(); !s.ok()) return s;
  }
  result.detail = std::to_string(rounds) + " passes shared by 2 ... " + std::to_string(kSlots) +
                  " sequences against each alone, logits and cache";
  return {};
}

}  // namespace tandem
