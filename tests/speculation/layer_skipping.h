// Cuts a model down to some of its own layers: a draft model of the same vocabulary for which nothing has to
// be trained.
#pragma once

#include <string>
#include <vector>

#include "engine/base/status.h"

namespace tandem::test {

// Writes `path` with the layers in `kept`, in this order and numbered anew. Errors: those of gguf::File and
// gguf::Writer; kInvalidArgument when a layer is not there.
Status skipLayers(const std::string& path, const std::vector<int>& kept, const std::string& outPath);

}  // namespace tandem::test
