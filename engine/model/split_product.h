// How the threads of a pool share a matrix product. The split moves no bit.
#pragma once

#include <algorithm>

#include "engine/base/thread_pool.h"
#include "engine/kernels/kernel_set.h"

namespace tandem {

// Groups of columns that a thread takes at a time; the kernels take four together.
inline int groupsAtATime(const ThreadPool& pool, int groups) {
  const int chunks = pool.threads() * 4;
  return kernels::roundUp((groups + chunks - 1) / chunks, 4);
}

// Calls body(rowBegin, rowEnd, groupBegin, groupEnd) for parts that cover all rows and groups of columns. Few
// rows are split by groups. Many rows are split into panels too, since a panel is brought in order once for
// all the columns of a call; a call has no more columns than stay in a core's cache while its panels pass.
// The parts are alike in size and, where that can be, as many for each thread.
template <class Body>
void splitProduct(ThreadPool& pool, int rows, int groups, Body&& body) {
  constexpr int kPanel = kernels::KernelSet::kPanelRows, kGroupsTogether = 64;
  const int chunks = pool.threads() * 4, panels = rows / kPanel;
  const int across = (groups + kGroupsTogether - 1) / kGroupsTogether;
  const int together = kernels::roundUp((groups + across - 1) / across, 4);
  int down = std::min(panels, (chunks + across - 1) / across);
  while (down > 1 && down < panels && across * down % pool.threads() != 0)
    ++down;
  if (down < 2) {
    pool.parallelFor(groups, groupsAtATime(pool, groups),
                     [&](int begin, int end) { body(0, rows, begin, end); });
    return;
  }
  const auto rowOf = [&](int part) { return part == down ? rows : panels * part / down * kPanel; };
  pool.parallelFor(across * down, 1, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const int first = i / down * together, last = std::min(groups, first + together);
      if (first < last) body(rowOf(i % down), rowOf(i % down + 1), first, last);
    }
  });
}

}  // namespace tandem
