#include "tests/model/quantized_tiny.h"

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "engine/gguf/writer.h"
#include "engine/kernels/half.h"

namespace tandem::test {
namespace {

using gguf::TensorType;

struct Recipe {
  TensorType type;
  std::vector<std::pair<int, float>> scales;  // byte offset of an F16 in the block, and its size
};

// Sizes that give weights of about 0.1.
const Recipe kRecipes[] = {{TensorType::kQ4_1, {{0, 0.02f}, {2, -0.15f}}},
                           {TensorType::kQ4_K, {{0, 2e-4f}, {2, 2e-3f}}},
                           {TensorType::kQ5_0, {{0, 0.01f}}},
                           {TensorType::kQ6_K, {{208, 4e-5f}}},
                           {TensorType::kQ8_0, {{0, 0.0014f}}}};

std::vector<std::byte> randomBlocks(const Recipe& recipe, std::uint64_t elements, std::uint32_t seed) {
  const gguf::BlockInfo info = gguf::blockInfo(recipe.type);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> spread(0.5f, 1.0f);
  std::vector<std::byte> bytes(elements / info.elements * info.bytes);
  for (auto& b : bytes)
    b = static_cast<std::byte>(random() & 255);
  for (std::size_t block = 0; block < bytes.size(); block += info.bytes) {
    for (const auto& [at, size] : recipe.scales) {
      const std::uint16_t h = kernels::floatToHalf(size * spread(random));
      std::memcpy(bytes.data() + block + at, &h, 2);
    }
  }
  return bytes;
}

}  // namespace

Status writeQuantizedTiny(const std::string& tinyPath, const std::string& outPath) {
  auto file = gguf::File::open(tinyPath);
  if (!file.ok()) return file.error();
  gguf::Writer writer;
  for (const auto& entry : (*file)->metadata())
    writer.add(entry.key, gguf::encode(entry));
  std::uint32_t index = 0;
  for (const auto& tensor : (*file)->tensors()) {
    const Recipe* recipe = nullptr;
    const bool blocks = tensor.dims[0] % 32 == 0;  // else no recipe fits
    while (tensor.dims.size() > 1 && blocks && !recipe) {
      const Recipe& candidate = kRecipes[index++ % std::size(kRecipes)];
      if (tensor.dims[0] % gguf::blockInfo(candidate.type).elements == 0) recipe = &candidate;
    }
    std::vector<std::byte> bytes;
    if (recipe) {
      bytes = randomBlocks(*recipe, tensor.elements, index);
    } else {
      const auto data = (*file)->data(tensor);
      bytes.assign(data.begin(), data.end());
    }
    writer.addTensor(
        tensor.name, recipe ? recipe->type : tensor.type, tensor.dims,
        [bytes]() -> Result<std::span<const std::byte>> { return std::span<const std::byte>(bytes); });
  }
  return writer.write(outPath);
}

}  // namespace tandem::test
