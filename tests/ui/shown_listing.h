// A list of caches with an entry in every state, for tests of the window.
#pragma once

#include "app/service/cache_listing.h"

namespace tandem::testing {

inline service::CacheListing shownListing() {
  using service::CachePlace;
  using service::TextState;
  service::CacheListing listing;
  listing.memoryBytes = 96 << 20;
  listing.memoryBudget = 1 << 30;
  listing.diskBytes = std::uint64_t{310} << 20;
  listing.diskBudget = std::uint64_t{4} << 30;
  listing.diskEnabled = true;
  listing.texts = {{.key = "memory/1/4",
                    .tokens = 1241,
                    .words = "user\nWhat is a hash table?",
                    .fingerprint = "3f9a12bc00112233445566778899aabb",
                    .bytes = 28 << 20,
                    .hits = 3,
                    .ageSeconds = 4,
                    .conversation = 1},
                   {.key = "memory/1/5",
                    .tier = CacheTier::kPromptEnd,
                    .tokens = 1180,
                    .words = "user\nWhat is a hash table?",
                    .fingerprint = "aa9a12bc00112233445566778899aabb",
                    .bytes = 192 << 10,
                    .ageSeconds = 5,
                    .conversation = 1,
                    .state = TextState::kProven,
                    .proof = {.bytes = 28'475'392}},
                   {.key = "memory/1/6",
                    .tier = CacheTier::kGrid,
                    .tokens = 1024,
                    .words = "user\nBread for six people",
                    .fingerprint = "bb9a12bc00112233445566778899aabb",
                    .bytes = 5 << 20,
                    .hits = 11,
                    .ageSeconds = 400,
                    .conversation = 2,
                    .state = TextState::kPinned},
                   {.key = "disk/wrong.text",
                    .place = CachePlace::kDisk,
                    .tokens = 700,
                    .words = "user\nThe keeper wrote down the wind, the sea and every ship that he saw",
                    .fingerprint = "cc9a12bc00112233445566778899aabb",
                    .bytes = 16 << 20,
                    .hits = 1,
                    .ageSeconds = 90'000,
                    .state = TextState::kProofFailed,
                    .proof = {.bytes = 16'777'216, .differing = 3}},
                   {.key = "disk/other.text",
                    .place = CachePlace::kDisk,
                    .start = 1024,
                    .tokens = 1500,
                    .fingerprint = "dd9a12bc00112233445566778899aabb",
                    .bytes = 120 << 20,
                    .ageSeconds = 400'000,
                    .state = TextState::kForeign},
                   {.key = "unusable/0123456789abcdef0123456789abcdef-0123456789abcdef.text",
                    .place = CachePlace::kDisk,
                    .bytes = 4 << 20,
                    .state = TextState::kUnusable,
                    .reason = "its contents are damaged"}};
  return listing;
}

}  // namespace tandem::testing
