// What a service tells of its caches, waited for.
#pragma once

#include <QtGlobal>
#include <algorithm>
#include <future>

#include "app/service/engine_backend.h"
#include "tests/service/collector.h"

namespace tandem::test {

inline service::CacheListing listed(service::EngineBackend& backend) {
  auto promise = std::make_shared<std::promise<service::CacheListing>>();
  auto listing = promise->get_future();
  backend.listCaches([promise](service::CacheListing told) { promise->set_value(std::move(told)); });
  if (listing.wait_for(std::chrono::minutes(1)) != std::future_status::ready) qFatal("no list");
  return listing.get();
}

inline std::vector<service::CachedText> textsIn(const service::CacheListing& listing,
                                                service::CachePlace place) {
  std::vector<service::CachedText> texts = listing.texts;
  std::erase_if(texts, [place](const auto& text) {
    return text.place != place || text.state == service::TextState::kUnusable;
  });
  return texts;
}

using Proving = Collector<service::ProofEvent>;

}  // namespace tandem::test
