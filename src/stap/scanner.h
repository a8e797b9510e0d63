// SPDX-License-Identifier: MIT
// From characters to tokens. $1 and @1 become what the command line has for them, as if it stood in the text: $1 as it is, @1 in
// quotes.
#pragma once

#include <vector>

#include "stap/token.h"

namespace blip::stap {

// The last token is a kEnd. What cannot be a token is a kJunk, which is an error only where it is not skipped.
std::vector<Token> scan(const Source& source, const std::vector<std::string>& arguments);

// Whether the text is one of the language's own words.
bool is_keyword(std::string_view word);

}  // namespace blip::stap
