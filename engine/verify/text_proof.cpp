#include "engine/verify/text_proof.h"

#include <algorithm>
#include <utility>

namespace tandem {

using kernels::kTile;

namespace {

void compare(std::span<const std::byte> kept, std::span<const std::byte> cold, TextProof& proof) {
  proof.bytes += std::max(kept.size(), cold.size());
  proof.differing += std::max(kept.size(), cold.size()) - std::min(kept.size(), cold.size());
  for (std::size_t i = 0; i < std::min(kept.size(), cold.size()); ++i)
    proof.differing += kept[i] != cold[i];
}

// The state, the hidden state and the logits of a mark.
std::vector<std::byte> markBytes(const RecurrentState& state, std::span<const float> hidden,
                                 std::span<const float> logits) {
  std::vector<std::byte> bytes(state.bytes().begin(), state.bytes().end());
  for (const std::span<const float> floats : {hidden, logits}) {
    const auto part = std::as_bytes(floats);
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

// The rows of page i.
std::vector<std::byte> pageBytes(const KvSequence& kv, int page) {
  return packedPage(kv.layout(), kv.pages()[page].get(), std::min(kTile, kv.length() - page * kTile));
}

// Reads the next tokens of a text, at most `rows`.
Status readOn(Decoder& decoder, std::span<const TokenId> text, int rows, std::size_t& done, ColdRead& cold,
              const std::atomic<bool>* cancel) {
  const auto count = std::min<std::size_t>(static_cast<std::size_t>(rows), text.size() - done);
  const Batch batch = Batch::chain(text.subspan(done, count), static_cast<int>(done));
  std::vector<int> last;
  if (done + count == text.size()) last.push_back(batch.size() - 1);
  if (Status s = decoder.forward(cold.sequence, batch, last, cancel); !s) return s;
  if (Status s = decoder.commit(cold.sequence, firstRows(batch.size())); !s) return s;
  done += count;
  if (last.empty()) return {};
  const std::span<const float> logits = decoder.logits(0);
  cold.logits.assign(logits.begin(), logits.end());
  return {};
}

}  // namespace

Result<ColdRead> readCold(Decoder& decoder, std::span<const TokenId> text, const std::atomic<bool>* cancel) {
  ColdRead cold{decoder.newSequence(), {}};
  for (std::size_t done = 0; done < text.size();) {
    if (Status s = readOn(decoder, text, decoder.maxRows(), done, cold, cancel); !s) return s.error();
  }
  return cold;
}

Result<TextProver> TextProver::of(Decoder& decoder, TextFileReader file) {
  const TextFileHead& head = file.head();
  const int vocabulary = decoder.model().config().vocabulary;
  const TextFileKey key = TextFileKey::of(decoder.model().fingerprint(), decoder.newSequence(), vocabulary);
  if (const std::string reason = file.foreign(key); !reason.empty())
    return Error{ErrorCode::kInvalidArgument, "The file cannot be proved with this model: " + reason + "."};
  if (std::ranges::any_of(head.tokens, [&](TokenId token) { return token < 0 || token >= vocabulary; }))
    return Error{ErrorCode::kCorruptFile, "The file holds tokens that the model does not have."};
  TextProver prover(decoder, head.tokens);
  prover.blocks_ = head.blocks();
  prover.file_.emplace(std::move(file));
  return prover;
}

TextProver TextProver::of(Decoder& decoder, HeldText held) {
  TextProver prover(decoder, held.tokens);
  prover.blocks_ = static_cast<int>(held.kv.pages().size()) + (held.mark ? 1 : 0);
  prover.held_ = std::move(held);
  return prover;
}

Status TextProver::step(int rows, const std::atomic<bool>* cancel) {
  if (read_ < text_.size())
    return readOn(*decoder_, text_, std::min(rows, decoder_->maxRows()), read_, cold_, cancel);
  if (cancel && cancel->load()) return Error{ErrorCode::kCancelled, "the proof was stopped"};
  const auto kept = keptBlock();
  if (!kept) return kept.error();
  compare(*kept, coldBlock(), proof_);
  ++block_;
  return {};
}

Result<std::vector<std::byte>> TextProver::keptBlock() const {
  if (file_) {
    std::vector<std::byte> block(file_->head().sizeOf(block_));
    if (Status s = file_->readBlock(block_, block); !s) return s.error();
    return block;
  }
  if (block_ < static_cast<int>(held_->kv.pages().size())) return pageBytes(held_->kv, block_);
  const CacheMark& mark = *held_->mark;
  return markBytes(mark.recurrent, mark.hidden,
                   mark.logits ? std::span<const float>(*mark.logits) : std::span<const float>());
}

// What the block is to be.
std::vector<std::byte> TextProver::coldBlock() const {
  const auto mark = [&](bool logits) {
    return markBytes(cold_.sequence.recurrent, cold_.sequence.hidden,
                     logits ? std::span<const float>(cold_.logits) : std::span<const float>());
  };
  if (held_) {
    return block_ < static_cast<int>(held_->kv.pages().size()) ? pageBytes(cold_.sequence.kv, block_)
                                                               : mark(held_->mark->logits != nullptr);
  }
  const TextFileHead& head = file_->head();
  if (head.kind == TextFileKind::kPages) return pageBytes(cold_.sequence.kv, head.start / kTile + block_);
  std::vector<std::byte> payload = mark(head.logits);
  const std::size_t at = static_cast<std::size_t>(block_) * head.blockBytes();
  return {payload.begin() + static_cast<std::ptrdiff_t>(std::min(at, payload.size())),
          payload.begin() + static_cast<std::ptrdiff_t>(std::min(at + head.sizeOf(block_), payload.size()))};
}

Result<TextProof> proveText(Decoder& decoder, TextFileReader file, const std::atomic<bool>* cancel) {
  auto prover = TextProver::of(decoder, std::move(file));
  if (!prover) return prover.error();
  while (!prover->done()) {
    const Status status = prover->step(decoder.maxRows(), cancel);
    if (status) continue;
    if (prover->proof().differing > 0) break;
    return status.error();
  }
  return prover->proof();
}

}  // namespace tandem
