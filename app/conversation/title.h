// A conversation's title when the person gave none.
#pragma once

#include <string>
#include <string_view>

namespace tandem {

// The first words of the text's first line that has any: plain text of at most about 40 characters, cut at a
// word where there is one, then "…". Markdown's marks at the line's start and control characters are left
// out; bytes that are no UTF-8 become U+FFFD. "New conversation" for a text without any.
std::string titleOf(std::string_view text);

}  // namespace tandem
