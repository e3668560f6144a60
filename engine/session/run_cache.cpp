#include "engine/session/run_cache.h"

#include <algorithm>

#include "engine/cache/disk_cache.h"

namespace tandem {

RunCache::RunCache(PrefixCache* cache, std::int64_t conversation)
    : cache_(cache), conversation_(conversation) {
  if (cache_ && cache_->disk()) cache_->disk()->enter();
}

RunCache::~RunCache() {
  if (cache_ && cache_->disk()) cache_->disk()->leave();
}

void RunCache::begin(std::span<const TokenId> context, Sequence& sequence) {
  if (!cache_) return;
  CacheHit hit = cache_->find(context);
  if (DiskCache* disk = cache_->disk(); disk && disk->restore(*cache_, context, hit, conversation_))
    hit = cache_->find(context);
  sequence = std::move(hit.sequence);
  logits_ = std::move(hit.logits);
}

Status RunCache::commit(Decoder& decoder, Sequence& sequence, std::span<const int> rows, int part) {
  if (!cache_ || !cache_->stateful()) return decoder.commit(sequence, rows, part);
  const int grid = cache_->grid();
  const int late = cache_->faults().lateSnapshot ? 1 : 0;
  while (!rows.empty()) {
    const int line = (sequence.length() / grid + 1) * grid;
    const auto count = std::min<std::size_t>(rows.size(), line + late - sequence.length());
    if (Status s = decoder.commit(sequence, rows.first(count), part); !s.ok()) return s;
    rows = rows.subspan(count);
    if (sequence.length() == line + late) keep(CacheTier::kGrid, sequence, line);
  }
  return {};
}

void RunCache::contextRead(const Sequence& sequence, std::span<const float> logits) {
  if (!cache_) return;
  keep(CacheTier::kPromptEnd, sequence, sequence.length(),
       std::make_shared<const std::vector<float>>(logits.begin(), logits.end()));
}

void RunCache::end(std::span<const TokenId> text, const Sequence& sequence) {
  const int length = sequence.length();
  if (!cache_ || length == 0) return;
  if (cache_->stateful() && cache_->keepsEndAnchors()) keep(CacheTier::kEndAnchor, sequence, length);
  cache_->insert(text.first(length), sequence, marks_, conversation_);
  if (DiskCache* disk = cache_->disk())
    disk->keep(text.first(length), sequence, marks_, conversation_, cache_->budget());
  marks_.clear();
}

void RunCache::keep(CacheTier tier, const Sequence& sequence, int position, StoredLogits logits) {
  marks_.push_back({tier, position, sequence.recurrent, sequence.hidden, std::move(logits)});
}

}  // namespace tandem
