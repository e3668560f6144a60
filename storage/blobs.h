// Arrays of numbers as blobs: the elements in order, little endian.
#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::storage {

static_assert(std::endian::native == std::endian::little, "the blobs are written as they lie in memory");

template <class T>
std::string intsBlob(const std::vector<T>& values) {
  std::string blob(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(blob.data(), values.data(), blob.size());
  return blob;
}

// Appends the blob's elements; bytes beyond the last whole one are left out.
template <class T>
void appendInts(std::string_view blob, std::vector<T>& values) {
  const std::size_t count = blob.size() / sizeof(T);
  const std::size_t old = values.size();
  values.resize(old + count);
  if (count > 0) std::memcpy(values.data() + old, blob.data(), count * sizeof(T));
}

}  // namespace tandem::storage
