// SPDX-License-Identifier: MIT
// The tree as text, with all parentheses.
#pragma once

#include <string>

#include "stap/tree.h"

namespace blip::stap {

std::string text_of(const Expression& e);
std::string text_of(const Statement& s);
std::string text_of(const ProbePoint& point);
std::string text_of(const File& file);
std::string_view name_of(Type type);  // "long"
// In quotes, with escapes.
std::string quoted(std::string_view text);

}  // namespace blip::stap
