#include "tests/speculation/layer_skipping.h"

#include <algorithm>

#include "engine/gguf/writer.h"

namespace tandem::test {
namespace {

// The layer of "blk.12.attn_q.weight"; -1: the tensor belongs to none.
int layerOf(const std::string& name) {
  return name.starts_with("blk.") ? std::stoi(name.substr(4)) : -1;
}

}  // namespace

Status skipLayers(const std::string& path, const std::vector<int>& kept, const std::string& outPath) {
  const auto file = gguf::File::open(path);
  if (!file) return file.error();
  const auto architecture = (*file)->getString("general.architecture");
  if (!architecture || !*architecture)
    return Error{ErrorCode::kCorruptFile, "the file names no architecture"};
  const std::string layers = std::string(**architecture) + ".block_count";
  gguf::Writer writer;
  for (const gguf::MetadataEntry& entry : (*file)->metadata()) {
    writer.add(entry.key, entry.key == layers ? gguf::encode(static_cast<std::uint32_t>(kept.size()))
                                              : gguf::encode(entry));
  }
  std::vector<bool> found(kept.size(), false);
  for (const gguf::TensorInfo& tensor : (*file)->tensors()) {
    std::string name = tensor.name;
    if (const int layer = layerOf(name); layer >= 0) {
      const auto place = std::find(kept.begin(), kept.end(), layer);
      if (place == kept.end()) continue;
      found[static_cast<std::size_t>(place - kept.begin())] = true;
      name = "blk." + std::to_string(place - kept.begin()) + name.substr(name.find('.', 4));
    }
    writer.addTensor(
        name, tensor.type, tensor.dims,
        [source = *file, &tensor]() -> Result<std::span<const std::byte>> { return source->data(tensor); });
  }
  if (std::find(found.begin(), found.end(), false) != found.end())
    return Error{ErrorCode::kInvalidArgument, "the file does not have all of these layers", "layers"};
  return writer.write(outPath);
}

}  // namespace tandem::test
