// SPDX-License-Identifier: MIT
// From what the user wrote to expressions: C's, with a[i..j], $registers and file.c::names.
#pragma once

#include <functional>

#include "script/expression.h"

namespace blip::script {

// Tells whether a name is that of a type: (size_t) - 1 is a cast, (n) - 1 is not.
using IsType = std::function<bool(std::string_view)>;

Result<ExpressionPtr> parse_expression(std::string_view source, const IsType& is_type);
// At least one.
Result<std::vector<Item>> parse_list(std::string_view source, const IsType& is_type);

}  // namespace blip::script
