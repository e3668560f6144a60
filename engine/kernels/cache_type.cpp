#include "engine/kernels/cache_type.h"

namespace tandem::kernels {

const char* cacheTypeName(CacheType type) {
  static constexpr const char* kNames[] = {"f16", "f32", "vq8", "q8"};
  return kNames[static_cast<int>(type)];
}

Result<CacheType> cacheTypeByName(std::string_view name) {
  for (const CacheType type : kCacheTypes) {
    if (name == cacheTypeName(type)) return type;
  }
  return Error{ErrorCode::kInvalidArgument, "must be f16, f32, vq8 or q8", "kv"};
}

}  // namespace tandem::kernels
