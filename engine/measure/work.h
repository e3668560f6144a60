// What a forward pass has to do at least, counted from the model's matrices: the bytes it reads and the
// multiply-adds of its products. Attention, norms and the rest of the arithmetic are not counted.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cache/kv_cache.h"
#include "engine/model/model.h"

namespace tandem::measure {

struct Work {
  double int8 = 0;   // multiply-adds of rows quantised to int8
  double fp32 = 0;   // multiply-adds of rows that stay in fp32
  double bytes = 0;  // packed weights, keys, values and recurrent state, each read once

  double multiplyAdds() const { return int8 + fp32; }
  Work& operator+=(const Work& other);
};

// The matrices that a row passes in a layer, in no order. Of a mixture: as many experts as a row uses.
std::vector<const kernels::PackedMatrix*> matricesOf(const ModelConfig& config, const LayerWeights& layer);

// `rows` rows through all layers, or through the output head. A matrix is read once for all rows; several
// rows of a mixture may pick more experts than are counted.
Work layersWork(const Model& model, int rows);
Work headWork(const Model& model, int rows);

// Bytes of keys, values and recurrent state that a pass reads behind `length` committed positions. A row in a
// layer with a window of w sees w - 1 of them.
double contextBytes(const ModelConfig& config, const KvLayout& layout, int length);

// A pass of `rows` rows, of which `logitRows` go through the head.
Work passWork(const Model& model, const KvLayout& layout, int length, int rows, int logitRows);

// Reading `tokens` tokens from the start in passes of at most `maxRows`; one row goes through the head.
Work prefillWork(const Model& model, const KvLayout& layout, int tokens, int maxRows);

// `count` answers of `tokens` tokens at once, each to a prompt of so many; the prompts one after the other.
Work togetherWork(const Model& model, const KvLayout& layout, int count, int promptTokens, int tokens,
                  int maxRows);

// `tokens` passes of one row each, from `length` committed positions on.
Work decodeWork(const Model& model, const KvLayout& layout, int length, int tokens);

}  // namespace tandem::measure
