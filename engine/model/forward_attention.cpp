// Attention of a pass: who sees which keys, and how the work is split between the threads.
#include <algorithm>

#include "engine/model/forward_pass.h"

namespace tandem {
namespace {

using kernels::AttentionJob;
using kernels::kTile;

// Rows whose queries fill what a kernel keeps in the cache at a time.
int rowsOfBlock(int headsPerKv, int headDim) {
  return std::max(1, std::min(64, 4096 / headDim) / headsPerKv);
}

int tilesOf(const AttentionJob& job) {
  return (*std::max_element(job.end, job.end + job.rows) - 1) / kTile + 1 - job.firstTile;
}

}  // namespace

// What every job of one layer shares. Tiles of committed positions lie in pages; a row's later positions are
// listed: those committed in the last, unfinished tile, then its own path in the scratch.
struct ForwardPass::VisibleKeys {
  int firstTile = 0, tailTile = 0;
  std::size_t tailStride = 0;   // 0: the batch is a chain, so that one list serves every row
  std::vector<int> begin, end;  // (rows)
  std::vector<const void*> keyTiles, valueTiles;  // (kvHeads, tiles from firstTile to tailTile)
  std::vector<const void*> tailKeys, tailValues;  // (kvHeads, rows or 1, positions)
  std::size_t tilesPerHead = 0, tailPerHead = 0;
};

ForwardPass::VisibleKeys ForwardPass::visibleKeys(int layer, int firstKey) const {
  const int window = config_.windowOf(layer), slot = config_.slotOf(layer);
  const int committed = sequence_.length();
  VisibleKeys v;
  int first = batch_.rows[0].position, last = 0;
  for (const BatchRow& row : batch_.rows) {
    v.begin.push_back(window > 0 ? std::max(firstKey, row.position - window + 1) : firstKey);
    v.end.push_back(row.position + 1);
    first = std::min(first, v.begin.back());
    last = std::max(last, row.position);
  }
  v.firstTile = first / kTile;
  v.tailTile = committed / kTile;
  const int tailBegin = v.tailTile * kTile, positions = last + 1 - tailBegin;
  v.tilesPerHead = std::max(0, v.tailTile - v.firstTile);
  v.tailStride = chain_ ? 0 : positions;
  v.tailPerHead = static_cast<std::size_t>(positions) * (chain_ ? 1 : rows_);
  v.keyTiles.reserve(v.tilesPerHead * config_.kvHeads);
  v.valueTiles.reserve(v.tilesPerHead * config_.kvHeads);
  v.tailKeys.assign(v.tailPerHead * config_.kvHeads, nullptr);
  v.tailValues.assign(v.tailPerHead * config_.kvHeads, nullptr);
  for (int head = 0; head < config_.kvHeads; ++head) {
    for (int t = v.firstTile; t < v.tailTile; ++t) {
      v.keyTiles.push_back(sequence_.kv.row(slot, KvPart::kKey, head, t * kTile));
      v.valueTiles.push_back(sequence_.kv.row(slot, KvPart::kValue, head, t * kTile));
    }
    // The list of a chain's last row is everyone's.
    for (int leaf = chain_ ? rows_ - 1 : 0; leaf < rows_; ++leaf) {
      const std::size_t at = head * v.tailPerHead + (chain_ ? 0 : leaf * v.tailStride);
      const void** keys = v.tailKeys.data() + at;
      const void** values = v.tailValues.data() + at;
      for (int r = leaf; r >= 0; r = batch_.rows[r].parent) {
        const int p = batch_.rows[r].position - tailBegin;
        keys[p] = d_.scratch_.row(slot, KvPart::kKey, head, r);
        values[p] = d_.scratch_.row(slot, KvPart::kValue, head, r);
      }
      for (int p = tailBegin; p < committed; ++p) {
        keys[p - tailBegin] = sequence_.kv.row(slot, KvPart::kKey, head, p);
        values[p - tailBegin] = sequence_.kv.row(slot, KvPart::kValue, head, p);
      }
    }
  }
  return v;
}

AttentionJob ForwardPass::attentionJob(const VisibleKeys& keys, int row, int rows, int kvHead) {
  const int group = config_.headsPerKv(), width = config_.heads * config_.headDim;
  const std::size_t at = static_cast<std::size_t>(row) * width + kvHead * group * config_.headDim;
  const int firstTile = *std::min_element(&keys.begin[row], &keys.begin[row] + rows) / kTile;
  const std::size_t tile = kvHead * keys.tilesPerHead + (firstTile - keys.firstTile);
  const std::size_t tail = kvHead * keys.tailPerHead + row * keys.tailStride;
  return {.rows = rows,
          .heads = group,
          .headDim = config_.headDim,
          .stride = d_.layout_.stride,
          .q = a_.q.data() + at,
          .out = a_.attention.data() + at,
          .qStride = static_cast<std::size_t>(width),
          .outStride = static_cast<std::size_t>(width),
          .begin = keys.begin.data() + row,
          .end = keys.end.data() + row,
          .firstTile = firstTile,
          .tailTile = keys.tailTile,
          .keyTiles = keys.keyTiles.data() + tile,
          .valueTiles = keys.valueTiles.data() + tile,
          .tailKeys = keys.tailKeys.data() + tail,
          .tailValues = keys.tailValues.data() + tail,
          .tailStride = keys.tailStride,
          .scale = config_.attentionScale,
          .softCap = config_.attentionSoftCap};
}

void ForwardPass::attend(int layer, int firstKey) {
  if (!finite_.load()) return;
  const VisibleKeys keys = visibleKeys(layer, firstKey);
  const auto attention =
      d_.layout_.type == kernels::CacheType::kF16 ? kernels_.attendF16 : kernels_.attendF32;
  const int perBlock = std::min(rows_, rowsOfBlock(config_.headsPerKv(), config_.headDim));
  std::vector<AttentionJob> jobs;
  int tiles = 1;
  for (int row = 0; row < rows_; row += perBlock) {
    for (int head = 0; head < config_.kvHeads; ++head) {
      jobs.push_back(attentionJob(keys, row, std::min(perBlock, rows_ - row), head));
      tiles = std::max(tiles, tilesOf(jobs.back()));
    }
  }
  const int count = static_cast<int>(jobs.size()), threads = d_.pool_.threads();
  const int parts = std::min(tiles, (4 * threads + count - 1) / count);
  if (threads == 1 || count >= 3 * threads || parts == 1) {
    d_.pool_.parallelFor(count, 1, [&](int begin, int end) {
      for (int i = begin; i < end; ++i)
        attention(jobs[i]);
    });
    return;
  }
  // Too few jobs for the threads: their tiles are computed apart and joined afterwards.
  const std::size_t floats =
      tiles * kernels::tilePartialFloats(perBlock * config_.headsPerKv(), config_.headDim);
  if (a_.partials.size() < floats * count) a_.partials.resize(floats * count);
  for (int i = 0; i < count; ++i)
    jobs[i].partials = a_.partials.data() + i * floats;
  d_.pool_.parallelFor(count * parts, 1, [&](int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      AttentionJob job = jobs[unit / parts];
      const int part = unit % parts;
      job.beginTile = job.firstTile + tiles * part / parts;
      job.endTile = job.firstTile + tiles * (part + 1) / parts;
      attention(job);
    }
  });
  d_.pool_.parallelFor(count, 1, [&](int begin, int end) {
    for (int i = begin; i < end; ++i)
      kernels_.joinTiles(jobs[i]);
  });
}

}  // namespace tandem
