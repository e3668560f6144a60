#include "app/cli/engine_choice.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <vector>

#include "engine/speculation/options.h"
#include "storage/text_index.h"

namespace tandem::cli {
namespace fs = std::filesystem;
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();

Setter kernelSet(const kernels::KernelSet*& out) {
  return [&out](std::string_view name) -> Status {
    const auto found = kernels::kernelsByName(name);
    if (!found) return found.error();
    out = *found;
    return {};
  };
}

Setter cacheType(kernels::CacheType& out) {
  return [&out](std::string_view name) -> Status {
    const auto found = kernels::cacheTypeByName(name);
    if (!found) return found.error();
    out = *found;
    return {};
  };
}

Setter drafters(SpeculationOptions& out) {
  return [&out](std::string_view names) { return setDrafters(names, out); };
}

Setter draftShape(DraftShape& out) {
  return [&out](std::string_view name) -> Status {
    const auto shape = draftShapeByName(name);
    if (!shape) return shape.error();
    out = *shape;
    return {};
  };
}

// Names of the model files in the folder, in order.
std::vector<std::string> knownModels(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error)) {
    if (i->path().extension() == ".gguf") names.push_back(i->path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

OptionTable modelTable(EngineChoice& choice) {
  return {
      {"--model", 'm', "MODEL", "a GGUF file, or the name of one in the models folder", text(choice.model)},
      {"--pre-tokenizer", 0, "NAME", "in place of the one that the file names", text(choice.preTokenizer)}};
}

OptionTable engineTable(EngineChoice& choice) {
  OptionTable table = modelTable(choice);
  append(
      table,
      {
          {"--threads", 't', "N", "0: as many as are fastest now", wholeNumber(choice.threads, 0, kMaxInt)},
          {"--kernels", 0, "NAME", "the kernel set; the default is the CPU's best",
           kernelSet(choice.engine.kernels)},
          {"--kv", 0, "TYPE", "type of the key and value cache: f16, f32, vq8 (values int8) or q8 (both)",
           cacheType(choice.engine.cacheType)},
          {"--no-weight-cache", 0, "", "interleave the weights anew and keep nothing of them on disk",
           on(choice.noWeightCache)},
      });
  return table;
}

OptionTable contextTable(EngineChoice& choice) {
  return {{"--ctx", 0, "N", "tokens of context; 0: the model's own",
           wholeNumber(choice.contextLength, 0, kMaxInt)}};
}

OptionTable cacheTable(EngineChoice& choice) {
  PrefixCacheOptions& cache = choice.engine.cache;
  cache.budget = service::kAutomaticBudget;
  const auto mebibytes = [&cache](std::string_view value) -> Status {
    int n = 0;
    if (Status status = wholeNumber(n, 0, 1 << 24)(value); !status) return status;
    cache.budget = static_cast<std::size_t>(n) << 20;
    return {};
  };
  const auto endAnchor = [&cache](std::string_view value) -> Status {
    if (value != "on" && value != "off") return badArgument("must be on or off", "end-anchor");
    cache.endAnchor = value == "on";
    return {};
  };
  const auto none = [&cache](std::string_view) {
    cache.budget = 0;
    return Status();
  };
  const auto diskMebibytes = [&choice](std::string_view value) -> Status {
    int n = 0;
    if (Status status = wholeNumber(n, 0, 1 << 24)(value); !status) return status;
    choice.engine.disk.folder.budget = static_cast<std::uint64_t>(n) << 20;
    return {};
  };
  return {
      {"--cache-mib", 0, "N", "memory for texts that were read; the default is an eighth of what is free",
       mebibytes},
      {"--end-anchor", 0, "on|off", "keep the state at the end of an answer, of models that have one (on)",
       endAnchor},
      {"--disk-cache-mib", 0, "N", "disk space for texts that were read, of all models; 0: none (4096)",
       diskMebibytes},
      {"--no-cache", 0, "", "read every prompt from its first token", none},
  };
}

OptionTable responseTable(bool& responseCache) {
  responseCache = false;
  const auto set = [&responseCache](std::string_view value) -> Status {
    if (value != "on" && value != "off") return badArgument("must be on or off", "response-cache");
    responseCache = value == "on";
    return {};
  };
  return {{"--response-cache", 0, "on|off",
           "give a greedy request that is the same to the token its earlier answer again (off)", set}};
}

OptionTable speculationTable(SpeculationOptions& speculation) {
  return {
      {"--spec", 0, "NAMES",
       "off, auto, or a list of own-text, store, draft, mtp, wrong, half-right, oracle, random",
       drafters(speculation)},
      {"--shape", 0, "SHAPE", "what is drafted a round: auto, chain1 to chain31 or tree1 to tree31",
       draftShape(speculation.shape)},
      {"--relax-tau", 0, "T", "measurement only: accept what scores at most T below the best; 0: off",
       realNumber(speculation.relaxTau)},
      {"--relax-rank", 0, "K", "measurement only: accept what at most K tokens score above; 0: off",
       wholeNumber(speculation.relaxRank, 0, kMaxInt)},
  };
}

OptionTable draftModelTable(EngineChoice& choice) {
  return {{"--draft-model", 0, "FILE", "a small model of the same vocabulary, for --spec draft and auto",
           text(choice.draftModel)}};
}

Result<std::string> findModel(const CommonOptions& common, const std::string& name) {
  std::error_code error;
  if (!name.empty() && fs::exists(name, error)) return name;
  const Result<Places> places = placesOf(common);
  if (!places) return places.error();
  const fs::path folder = places->models();
  const std::vector<std::string> known = knownModels(folder);
  if (name.empty() && !known.empty()) return (folder / (known.front() + ".gguf")).string();
  if (std::find(known.begin(), known.end(), name) != known.end()) return (folder / (name + ".gguf")).string();

  std::string sentence =
      name.empty() ? "No model was given (-m MODEL)" : "There is no model \"" + name + "\"";
  if (known.empty()) {
    sentence += ", and there is none in " + folder.string() + ".";
  } else {
    sentence += ": neither a file of that name, nor in " + folder.string() + ", where there is";
    for (std::size_t i = 0; i < known.size(); ++i)
      sentence += (i == 0 ? " " : ", ") + known[i];
    sentence += ".";
  }
  return Error{ErrorCode::kNotFound, sentence, "model"};
}

std::string weightFolder(const CommonOptions& common, const EngineChoice& choice) {
  const Result<Places> places = placesOf(common);
  return places && !choice.noWeightCache ? places->weights().string() : std::string();
}

DiskCacheOptions diskCache(const Places& places, DiskCacheOptions options) {
  if (options.folder.budget == 0) return options;
  options.folder.path = places.texts().string();
  options.folder.openIndex = [](const std::string& folder) { return storage::CacheIndex::open(folder); };
  return options;
}

service::LoadOptions loadOptions(const EngineChoice& choice) {
  return {.threads = choice.threads,
          .contextLength = choice.contextLength,
          .preTokenizer = choice.preTokenizer,
          .draftModelPath = choice.draftModel};
}

Result<std::shared_ptr<const Model>> loadModel(const CommonOptions& common, const EngineChoice& choice) {
  const Result<std::string> path = findModel(common, choice.model);
  if (!path) return path.error();
  return Model::load(
      *path, {.preTokenizer = choice.preTokenizer, .weightCache = {.folder = weightFolder(common, choice)}});
}

Result<std::unique_ptr<service::LoadedEngine>> loadEngine(const CommonOptions& common,
                                                          const EngineChoice& choice) {
  const Result<std::string> path = findModel(common, choice.model);
  if (!path) return path.error();
  service::EngineOptions engine = choice.engine;
  engine.weightCache = weightFolder(common, choice);
  return service::LoadedEngine::load(*path, loadOptions(choice), engine);
}

Result<std::shared_ptr<const Tokenizer>> loadTokenizer(const CommonOptions& common,
                                                       const EngineChoice& choice) {
  const Result<std::string> path = findModel(common, choice.model);
  if (!path) return path.error();
  const auto file = gguf::File::open(*path);
  if (!file) return file.error();
  return Tokenizer::load(**file, {.preTokenizer = choice.preTokenizer});
}

}  // namespace tandem::cli
