#include "tests/gguf/tiny_models.h"

#include <bit>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/gguf/writer.h"

namespace tandem::test {
namespace {

using gguf::EncodedValue;
using nlohmann::json;

std::uint64_t fnv1a64(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

std::uint64_t splitmix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

float roundToBf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000);
}

// What the tensor's name says its weights are drawn for.
float shaped(std::string_view name, float w) {
  const auto has = [name](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (has("norm") && name.ends_with(".weight")) return 1.0f + w;
  if (name.starts_with("rope_freqs") || name.starts_with("rope_factors")) return 1.0f + 4.0f * std::fabs(w);
  if (name.ends_with("ssm_a")) return -(0.5f + 10.0f * std::fabs(w));
  if (has("ssm_dt") || has("ssm_alpha") || has("ssm_beta") || has("ssm_ba")) return 3.0f * w;
  return has("sinks") ? 10.0f * w : w;
}

template <class T>
EncodedValue encodeVector(const std::vector<T>& values) {
  return gguf::encodeArray(std::span<const T>(values));
}

// One metadata line of a recipe: [key, kind, value]. Throws json::exception for another form.
EncodedValue recipeValue(const json& line) {
  const std::string kind = line.at(1);
  const json& value = line.at(2);
  if (kind == "UINT32") return gguf::encode(value.get<std::uint32_t>());
  if (kind == "FLOAT32") return gguf::encode(value.get<float>());
  if (kind == "BOOL") return gguf::encode(value.get<bool>());
  if (kind == "STRING") return gguf::encode(std::string_view(value.get_ref<const std::string&>()));
  if (value.at(0).is_number_integer()) return encodeVector(value.get<std::vector<std::int32_t>>());
  return encodeVector(value.get<std::vector<float>>());
}

void addTensor(gguf::Writer& writer, const std::string& name, std::vector<std::uint64_t> dims,
               std::uint64_t seed) {
  std::uint64_t count = 1;
  for (const std::uint64_t dim : dims)
    count *= dim;
  writer.addTensor(
      name, gguf::TensorType::kF32, std::move(dims),
      [name, count, seed, weights = std::vector<float>()]() mutable -> Result<std::span<const std::byte>> {
        weights = tinyWeights(name, count, seed);
        return std::as_bytes(std::span<const float>(weights));
      });
}

gguf::Writer writerFor(const json& recipe, std::uint64_t seed) {
  gguf::Writer writer;
  writer.add("general.architecture",
             gguf::encode(std::string_view(recipe.at("architecture").get<std::string>())));
  for (const json& line : recipe.at("metadata"))
    writer.add(line.at(0), recipeValue(line));
  const std::size_t vocabulary = recipe.at("vocabulary");
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < vocabulary; ++i)
    tokens.push_back("tok_" + std::to_string(i));
  writer.add("tokenizer.ggml.model", gguf::encode(std::string_view("test")));
  writer.add("tokenizer.ggml.tokens",
             gguf::encodeStrings(std::vector<std::string_view>(tokens.begin(), tokens.end())));
  writer.add("tokenizer.ggml.scores", encodeVector(std::vector<float>(vocabulary, 0.0f)));
  for (const json& tensor : recipe.at("tensors"))
    addTensor(writer, tensor.at(0), tensor.at(1), seed);
  return writer;
}

}  // namespace

std::vector<float> tinyWeights(std::string_view tensorName, std::uint64_t count, std::uint64_t seed) {
  const std::uint64_t start = fnv1a64(tensorName) + seed * 0x9E3779B97F4A7C15;
  std::vector<float> weights(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto high = static_cast<float>(splitmix64(start + i) >> 40);
    weights[i] = shaped(tensorName, roundToBf16(0.17320508f * (high / 8388608.0f - 1.0f)));
  }
  return weights;
}

Status writeTinyModel(const std::string& recipePath, const std::string& outPath, std::uint64_t seed) {
  std::ifstream input(recipePath);
  if (!input) return Error{ErrorCode::kNotFound, "There is no recipe at " + recipePath + "."};
  try {
    return writerFor(json::parse(input), seed).write(outPath);
  } catch (const json::exception& exception) {
    return Error{ErrorCode::kInvalidArgument,
                 "The recipe " + recipePath + " is malformed: " + exception.what()};
  }
}

}  // namespace tandem::test
