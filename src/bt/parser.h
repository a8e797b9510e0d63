// SPDX-License-Identifier: MIT
// From the text of a script to its tree: the grammar of bpftrace 0.26, which has that of 0.17 in it.
#pragma once

#include <string_view>

#include "base/result.h"
#include "bt/tree.h"

namespace blip::bt {

// kUsage: the first thing that is wrong, with its line underlined.
Result<Tree> parse_tree(std::string_view source);
// One expression, such as the value of a #define.
Result<ExprPtr> parse_expression(std::string_view source);

// Names that stand for a value: a script has no parameter or label of that name.
bool is_builtin(std::string_view name);

}  // namespace blip::bt
