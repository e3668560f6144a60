// The options that say which model runs and how: shared by all subcommands that load one.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/cli/command.h"
#include "app/service/loaded_engine.h"
#include "engine/session/generation.h"

namespace tandem::cli {

struct EngineChoice {
  std::string model;  // a path, a file's name in the models folder without .gguf, or empty: the first there
  int threads = 0;
  int contextLength = 0;
  std::string preTokenizer;  // replaces the one that the file names; empty: the file's
  std::string draftModel;    // a GGUF file; empty: none
  bool noWeightCache = false;
  service::EngineOptions engine;
};

// -m, --pre-tokenizer; and with -t, --kernels, --kv, --no-weight-cache too.
OptionTable modelTable(EngineChoice& choice);
OptionTable engineTable(EngineChoice& choice);
OptionTable contextTable(EngineChoice& choice);  // --ctx
// --cache-mib, --end-anchor, --disk-cache-mib, --no-cache: for what reads several texts with one model. Sets
// the automatic budget.
OptionTable cacheTable(EngineChoice& choice);

// --response-cache. Sets it off.
OptionTable responseTable(bool& responseCache);

OptionTable speculationTable(SpeculationOptions& speculation);  // --spec, --shape, --relax-tau, --relax-rank
OptionTable draftModelTable(EngineChoice& choice);              // --draft-model

// Where the chosen model's file is. Error: kNotFound, with the names that are known.
Result<std::string> findModel(const CommonOptions& common, const std::string& name);

// Where interleaved weights are kept; empty: nowhere, as chosen or because there is no home.
std::string weightFolder(const CommonOptions& common, const EngineChoice& choice);

// The cache of texts on disk in its place; with a budget of 0 there is none.
DiskCacheOptions diskCache(const Places& places, DiskCacheOptions options);

// How the chosen model is to be loaded.
service::LoadOptions loadOptions(const EngineChoice& choice);

// The chosen model alone, or ready to run. Errors: those of findModel and LoadedEngine::load.
Result<std::shared_ptr<const Model>> loadModel(const CommonOptions& common, const EngineChoice& choice);
Result<std::unique_ptr<service::LoadedEngine>> loadEngine(const CommonOptions& common,
                                                          const EngineChoice& choice);

// The tokenizer of the chosen model's file, without its weights. Errors: those of findModel, gguf::File::open
// and Tokenizer::load.
Result<std::shared_ptr<const Tokenizer>> loadTokenizer(const CommonOptions& common,
                                                       const EngineChoice& choice);

}  // namespace tandem::cli
