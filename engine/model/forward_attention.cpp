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

std::size_t partialFloats(const AttentionJob& job) {
  return tilesOf(job) * kernels::tilePartialFloats(job.rows * job.heads, job.headDim);
}

}  // namespace

// What every job of one layer and one part shares. Tiles of committed positions lie in pages; a row's later
// positions are listed: those committed in the last, unfinished tile, then its own path in the scratch.
struct ForwardPass::VisibleKeys {
  int firstTile = 0, tailTile = 0;
  int firstRow = 0;                               // of the part
  std::size_t tailStride = 0;                     // 0: the part is a chain, so that one list serves every row
  std::vector<int> begin, end;                    // (rows)
  std::vector<const void*> keyTiles, valueTiles;  // (kvHeads, tiles from firstTile to tailTile)
  std::vector<const void*> tailKeys, tailValues;  // (kvHeads, rows or 1, positions)
  std::size_t tilesPerHead = 0, tailPerHead = 0;
};

ForwardPass::VisibleKeys ForwardPass::visibleKeys(const Part& part, int layer, int firstKey) const {
  const KvSequence& kv = part.sequence.kv;
  const int window = config_.windowOf(layer), slot = config_.slotOf(layer);
  const int committed = kv.length();
  VisibleKeys v;
  v.firstRow = part.begin;
  int first = batch_.rows[part.begin].position, last = 0;
  for (const BatchRow& row : std::span(batch_.rows).subspan(part.begin, part.rows())) {
    v.begin.push_back(window > 0 ? std::max(firstKey, row.position - window + 1) : firstKey);
    v.end.push_back(row.position + 1);
    first = std::min(first, v.begin.back());
    last = std::max(last, row.position);
  }
  v.firstTile = first / kTile;
  v.tailTile = committed / kTile;
  const int tailBegin = v.tailTile * kTile, positions = last + 1 - tailBegin;
  v.tilesPerHead = std::max(0, v.tailTile - v.firstTile);
  v.tailStride = part.chain ? 0 : positions;
  v.tailPerHead = static_cast<std::size_t>(positions) * (part.chain ? 1 : part.rows());
  v.keyTiles.reserve(v.tilesPerHead * config_.kvHeads);
  v.valueTiles.reserve(v.tilesPerHead * config_.kvHeads);
  v.tailKeys.assign(v.tailPerHead * config_.kvHeads, nullptr);
  v.tailValues.assign(v.tailPerHead * config_.kvHeads, nullptr);
  for (int head = 0; head < config_.kvHeads; ++head) {
    for (int t = v.firstTile; t < v.tailTile; ++t) {
      v.keyTiles.push_back(kv.row(slot, KvPart::kKey, head, t * kTile));
      v.valueTiles.push_back(kv.row(slot, KvPart::kValue, head, t * kTile));
    }
    // The list of a chain's last row is everyone's.
    for (int leaf = part.chain ? part.end - 1 : part.begin; leaf < part.end; ++leaf) {
      const std::size_t at = head * v.tailPerHead + (leaf - part.begin) * v.tailStride;
      const void** keys = v.tailKeys.data() + at;
      const void** values = v.tailValues.data() + at;
      for (int r = leaf; r >= 0; r = batch_.rows[r].parent) {
        const int p = batch_.rows[r].position - tailBegin;
        keys[p] = d_.scratch_.row(slot, KvPart::kKey, head, r);
        values[p] = d_.scratch_.row(slot, KvPart::kValue, head, r);
      }
      for (int p = tailBegin; p < committed; ++p) {
        keys[p - tailBegin] = kv.row(slot, KvPart::kKey, head, p);
        values[p - tailBegin] = kv.row(slot, KvPart::kValue, head, p);
      }
    }
  }
  return v;
}

AttentionJob ForwardPass::attentionJob(const VisibleKeys& keys, int row, int rows, int kvHead) {
  const int group = config_.headsPerKv(), width = config_.heads * config_.headDim;
  const std::size_t at = static_cast<std::size_t>(row) * width + kvHead * group * config_.headDim;
  const int* begin = keys.begin.data() + (row - keys.firstRow);
  const int firstTile = *std::min_element(begin, begin + rows) / kTile;
  const std::size_t tile = kvHead * keys.tilesPerHead + (firstTile - keys.firstTile);
  const std::size_t tail = kvHead * keys.tailPerHead + (row - keys.firstRow) * keys.tailStride;
  return {.rows = rows,
          .heads = group,
          .headDim = config_.headDim,
          .stride = d_.layout_.stride,
          .q = a_.q.data() + at,
          .out = a_.attention.data() + at,
          .qStride = static_cast<std::size_t>(width),
          .outStride = static_cast<std::size_t>(width),
          .begin = begin,
          .end = keys.end.data() + (row - keys.firstRow),
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
  std::vector<VisibleKeys> keys;  // of each part
  keys.reserve(parts_.size());
  std::vector<AttentionJob> jobs;
  int tiles = 0, most = 0;
  for (const Part& part : parts_) {
    keys.push_back(visibleKeys(part, layer, firstKey));
    const int perBlock = std::min(part.rows(), rowsOfBlock(config_.headsPerKv(), config_.headDim));
    for (int row = part.begin; row < part.end; row += perBlock) {
      for (int head = 0; head < config_.kvHeads; ++head) {
        jobs.push_back(attentionJob(keys.back(), row, std::min(perBlock, part.end - row), head));
        tiles += tilesOf(jobs.back());
        most = std::max(most, tilesOf(jobs.back()));
      }
    }
  }
  const int count = static_cast<int>(jobs.size()), threads = d_.pool_.threads();
  const int share = (tiles + 4 * threads - 1) / (4 * threads);  // of a thread's turn
  if (threads > 1 && most > share && (count < 3 * threads || most > 2 * share))
    return attendInParts(jobs, share);
  const auto attention = kernels::attentionOf(kernels_, d_.layout_.type);
  d_.pool_.parallelFor(count, 1, [&](int begin, int end) {
    for (int i = begin; i < end; ++i)
      attention(jobs[i]);
  });
}

// For few or uneven jobs: their tiles are computed apart, about tilesOfPart at a time, and joined afterwards.
void ForwardPass::attendInParts(std::vector<AttentionJob>& jobs, int tilesOfPart) {
  struct Unit {
    int job, beginTile, endTile;
  };
  std::vector<Unit> units;
  std::size_t floats = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const int tiles = tilesOf(jobs[i]), parts = (tiles + tilesOfPart - 1) / tilesOfPart;
    for (int part = 0; part < parts; ++part) {
      const int first = jobs[i].firstTile;
      units.push_back(
          {static_cast<int>(i), first + tiles * part / parts, first + tiles * (part + 1) / parts});
    }
    floats += partialFloats(jobs[i]);
  }
  if (a_.partials.size() < floats) a_.partials.resize(floats);
  float* partials = a_.partials.data();
  for (AttentionJob& job : jobs) {
    job.partials = partials;
    partials += partialFloats(job);
  }
  const auto attention = kernels::attentionOf(kernels_, d_.layout_.type);
  d_.pool_.parallelFor(static_cast<int>(units.size()), 1, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      AttentionJob job = jobs[units[i].job];
      job.beginTile = units[i].beginTile;
      job.endTile = units[i].endTile;
      attention(job);
    }
  });
  d_.pool_.parallelFor(static_cast<int>(jobs.size()), 1, [&](int begin, int end) {
    for (int i = begin; i < end; ++i)
      kernels_.joinTiles(jobs[i]);
  });
}

}  // namespace tandem
