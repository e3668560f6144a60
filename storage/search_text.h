// Any bytes as text that the full-text index and a title can take. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace tandem::storage {

// Valid UTF-8 without NUL: a NUL becomes a space, a byte that belongs to no character becomes U+FFFD.
std::string searchText(std::string_view bytes);

}  // namespace tandem::storage
