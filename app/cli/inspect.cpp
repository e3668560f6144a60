// tandem-cli inspect: what a model file holds, and whether it will run.
#include <cinttypes>
#include <cstdio>

#include "app/cli/commands.h"
#include "app/cli/engine_choice.h"

namespace tandem::cli {
namespace {

using gguf::ArrayView;
using gguf::MetadataEntry;
using nlohmann::json;

constexpr Usage kUsage = {
    "inspect", "FILE | -m MODEL [options]",
    "Opens any well-formed GGUF file: metadata, tensors, end tokens, what memory it takes, and whether this\n"
    "program can run it; to tell that, the model is loaded."};

constexpr std::uint64_t kShownElements = 8;  // of an array
constexpr std::size_t kShownBytes = 200;     // of a string, as text; JSON has all of it

// Element i of an array; null for the element of an array of arrays.
json elementJson(const ArrayView& array, std::uint64_t i) {
  switch (array.elementType) {
    case gguf::ValueType::kUint8:
      return array.load<std::uint8_t>(i);
    case gguf::ValueType::kInt8:
      return array.load<std::int8_t>(i);
    case gguf::ValueType::kUint16:
      return array.load<std::uint16_t>(i);
    case gguf::ValueType::kInt16:
      return array.load<std::int16_t>(i);
    case gguf::ValueType::kUint32:
      return array.load<std::uint32_t>(i);
    case gguf::ValueType::kInt32:
      return array.load<std::int32_t>(i);
    case gguf::ValueType::kFloat32:
      return array.load<float>(i);
    case gguf::ValueType::kBool:
      return array.load<std::uint8_t>(i) != 0;
    case gguf::ValueType::kString:
      return array.strings[i];
    case gguf::ValueType::kUint64:
      return array.load<std::uint64_t>(i);
    case gguf::ValueType::kInt64:
      return array.load<std::int64_t>(i);
    case gguf::ValueType::kFloat64:
      return array.load<double>(i);
    case gguf::ValueType::kArray:
      return nullptr;
  }
  return nullptr;
}

// Arrays are long; what they hold is told by their first elements.
json valueJson(const MetadataEntry& entry) {
  return std::visit(
      [](const auto& value) -> json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, ArrayView>) {
          json first = json::array();
          for (std::uint64_t i = 0; i < std::min(value.count, kShownElements); ++i) {
            first.push_back(elementJson(value, i));
          }
          return {{"count", value.count}, {"first", first}};
        } else {
          return value;
        }
      },
      entry.value);
}

json tensorJson(const gguf::TensorInfo& tensor) {
  return {{"name", tensor.name},
          {"type", gguf::blockInfo(tensor.type).name},
          {"dims", tensor.dims},
          {"bytes", tensor.bytes},
          {"offset", tensor.offset}};
}

json planJson(const MemoryPlan& plan, const ModelConfig& config) {
  return {{"weights", plan.weights},
          {"cache_per_token", plan.cachePerToken},
          {"cache_full_context", plan.cachePerToken * config.contextLength},
          {"activations", plan.activations},
          {"available", plan.available}};
}

json errorJson(const Error& error) {
  return {{"code", errorCodeName(error.code)}, {"message", error.describe()}};
}

// Everything there is to tell, in the order of the file.
json describeFile(const gguf::File& file, const std::string& preTokenizer) {
  json metadata = json::array(), tensors = json::array();
  for (const MetadataEntry& entry : file.metadata()) {
    metadata.push_back({{"key", entry.key}, {"value", valueJson(entry)}});
  }
  for (const gguf::TensorInfo& tensor : file.tensors())
    tensors.push_back(tensorJson(tensor));
  json about = {{"path", file.path()},           {"bytes", file.size()}, {"version", file.version()},
                {"alignment", file.alignment()}, {"metadata", metadata}, {"tensors", tensors}};

  about["end_tokens"] = json::array();
  if (const auto tokenizer = Tokenizer::load(file, {.preTokenizer = preTokenizer})) {
    for (const EndToken& token : (*tokenizer)->vocabulary().endTokens()) {
      about["end_tokens"].push_back({{"id", token.id}, {"text", token.text}, {"why", token.why}});
    }
  }
  if (const auto config = ModelConfig::read(file))
    about["memory"] = planJson(Model::plan(file, *config), *config);
  const auto model = Model::load(file.path(), {.preTokenizer = preTokenizer});
  about["runs"] = model.ok();
  if (!model) about["why_not"] = errorJson(model.error());
  if (model) about["fingerprint"] = (*model)->fingerprint();
  return about;
}

std::string shortText(const json& value) {
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > kShownBytes) text = text.substr(0, kShownBytes) + "…";
  return text;
}

std::string mebibytes(const json& bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MiB", bytes.get<double>() / (1 << 20));
  return text;
}

void printText(const json& about) {
  std::printf("%s\nGGUF version %d, %" PRIu64 " bytes, alignment %d\n\nMetadata (%zu)\n",
              about["path"].get<std::string>().c_str(), about["version"].get<int>(),
              about["bytes"].get<std::uint64_t>(), about["alignment"].get<int>(), about["metadata"].size());
  for (const json& entry : about["metadata"]) {
    std::printf("  %s = %s\n", entry["key"].get<std::string>().c_str(), shortText(entry["value"]).c_str());
  }
  std::printf("\nTensors (%zu)\n", about["tensors"].size());
  for (const json& tensor : about["tensors"]) {
    std::printf("  %-40s %-6s %-18s %s\n", tensor["name"].get<std::string>().c_str(),
                tensor["type"].get<std::string>().c_str(), tensor["dims"].dump().c_str(),
                mebibytes(tensor["bytes"]).c_str());
  }
  std::printf("\nEnd tokens\n");
  for (const json& token : about["end_tokens"]) {
    std::printf("  %d %s (%s)\n", token["id"].get<int>(), shortText(token["text"]).c_str(),
                token["why"].get<std::string>().c_str());
  }
  if (about.contains("memory")) {
    const json& plan = about["memory"];
    std::printf("\nMemory\n  weights %s, cache %" PRIu64
                " bytes a token (%s for the whole context),\n"
                "  activations %s; %s are free here\n",
                mebibytes(plan["weights"]).c_str(), plan["cache_per_token"].get<std::uint64_t>(),
                mebibytes(plan["cache_full_context"]).c_str(), mebibytes(plan["activations"]).c_str(),
                mebibytes(plan["available"]).c_str());
  }
  if (about["runs"].get<bool>()) {
    std::printf("\nRuns here. Fingerprint %s\n", about["fingerprint"].get<std::string>().c_str());
  } else {
    std::printf("\nDoes not run here: %s\n", about["why_not"]["message"].get<std::string>().c_str());
  }
}

Status inspect(const CommonOptions& common, const EngineChoice& choice) {
  const Result<std::string> path = findModel(common, choice.model);
  if (!path) return path.status();
  const auto file = gguf::File::open(*path);
  if (!file) return file.status();
  const json about = describeFile(**file, choice.preTokenizer);
  if (common.json) {
    printJson(about);
  } else {
    printText(about);
  }
  return {};
}

}  // namespace

int inspectCommand(const Arguments& arguments) {
  CommonOptions common;
  EngineChoice engine;
  Arguments names;
  if (const auto status = readOptions(kUsage, modelTable(engine), arguments, common, &names)) return *status;
  if (names.size() > 1 || (names.size() == 1 && !engine.model.empty())) {
    return fail(common, badArgument("Give one file.", "model"));
  }
  if (!names.empty()) engine.model = names.front();
  return finish(common, inspect(common, engine));
}

}  // namespace tandem::cli
