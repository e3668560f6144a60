// A loaded model with what it takes to generate, for tests. A file that can't be loaded ends the program.
#pragma once

#include <QtGlobal>
#include <memory>
#include <string>

#include "engine/session/generator.h"

namespace tandem::test {

struct Engine {
  std::unique_ptr<Decoder> decoder;
  std::unique_ptr<Generator> generator;
};

inline Engine openEngine(const std::string& path, int threads,
                         kernels::CacheType cacheType = kernels::CacheType::kF16) {
  auto model = Model::load(path);
  if (!model.ok()) qFatal("%s", model.error().describe().c_str());
  auto decoder = Decoder::create(*model, {.threads = threads, .cacheType = cacheType});
  if (!decoder.ok()) qFatal("%s", decoder.error().describe().c_str());
  Engine engine{std::move(*decoder), nullptr};
  engine.generator = std::make_unique<Generator>(*engine.decoder);
  return engine;
}

}  // namespace tandem::test
