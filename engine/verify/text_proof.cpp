#include "engine/verify/text_proof.h"

#include <algorithm>

namespace tandem {

using kernels::kTile;

namespace {

void compare(std::span<const std::byte> kept, std::span<const std::byte> cold, TextProof& proof) {
  proof.bytes += std::max(kept.size(), cold.size());
  proof.differing += std::max(kept.size(), cold.size()) - std::min(kept.size(), cold.size());
  for (std::size_t i = 0; i < std::min(kept.size(), cold.size()); ++i)
    proof.differing += kept[i] != cold[i];
}

// What the file's payload is to be.
std::vector<std::byte> payloadOf(const TextFileHead& head, const ColdRead& cold) {
  std::vector<std::byte> payload;
  const auto append = [&payload](std::span<const std::byte> bytes) {
    payload.insert(payload.end(), bytes.begin(), bytes.end());
  };
  if (head.kind == TextFileKind::kMark) {
    append(cold.sequence.recurrent.bytes());
    append(std::as_bytes(std::span(cold.sequence.hidden)));
    if (head.logits) append(std::as_bytes(std::span(cold.logits)));
    return payload;
  }
  const KvSequence& kv = cold.sequence.kv;
  for (int position = head.start; position < head.end; position += kTile) {
    append(packedPage(kv.layout(), kv.pages()[position / kTile].get(), std::min(kTile, head.end - position)));
  }
  return payload;
}

}  // namespace

Result<ColdRead> readCold(Decoder& decoder, std::span<const TokenId> text, const std::atomic<bool>* cancel) {
  ColdRead cold{decoder.newSequence(), {}};
  for (std::size_t done = 0; done < text.size();) {
    const auto count = std::min<std::size_t>(static_cast<std::size_t>(decoder.maxRows()), text.size() - done);
    const Batch batch = Batch::chain(text.subspan(done, count), static_cast<int>(done));
    done += count;
    std::vector<int> last;
    if (done == text.size()) last.push_back(batch.size() - 1);
    if (Status s = decoder.forward(cold.sequence, batch, last, cancel); !s) return s.error();
    if (Status s = decoder.commit(cold.sequence, firstRows(batch.size())); !s) return s.error();
    if (last.empty()) continue;
    const std::span<const float> logits = decoder.logits(0);
    cold.logits.assign(logits.begin(), logits.end());
  }
  return cold;
}

Result<TextProof> proveText(Decoder& decoder, const TextFileReader& file, const std::atomic<bool>* cancel) {
  const TextFileHead& head = file.head();
  const int vocabulary = decoder.model().config().vocabulary;
  const TextFileKey key = TextFileKey::of(decoder.model().fingerprint(), decoder.newSequence(), vocabulary);
  if (const std::string reason = file.foreign(key); !reason.empty())
    return Error{ErrorCode::kInvalidArgument, "The file cannot be proved with this model: " + reason + "."};
  if (std::ranges::any_of(head.tokens, [&](TokenId token) { return token < 0 || token >= vocabulary; }))
    return Error{ErrorCode::kCorruptFile, "The file holds tokens that the model does not have."};
  const auto cold = readCold(decoder, head.tokens, cancel);
  if (!cold) return cold.error();
  const std::vector<std::byte> expected = payloadOf(head, *cold);
  TextProof proof;
  std::size_t at = 0;
  for (int i = 0; i < head.blocks(); ++i) {
    std::vector<std::byte> block(head.sizeOf(i));
    if (Status s = file.readBlock(i, block); !s) return s.error();
    compare(block, std::span(expected).subspan(at, block.size()), proof);
    at += block.size();
  }
  return proof;
}

}  // namespace tandem
