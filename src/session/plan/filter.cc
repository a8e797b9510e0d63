// SPDX-License-Identifier: MIT
#include "session/plan/filter.h"

#include <algorithm>

#include "script/names.h"
#include "script/parser.h"

namespace blip::session {

namespace {

using script::Expression;

bool mentions_returns(const Expression& e) {
  using Kind = Expression::Kind;
  if (e.kind == Kind::kCall && e.text == "entry") return true;
  const bool is_name = (e.kind == Kind::kName && e.where.empty()) || e.kind == Kind::kRegister;
  if (is_name && script::is_of_returns(e.text)) return true;
  return std::any_of(e.operands.begin(), e.operands.end(),
                     [](const auto& operand) { return mentions_returns(*operand); });
}

}  // namespace

// A text that is no expression is reported where it is compiled.
bool is_about_returns(std::string_view filter) {
  const auto e = script::parse_expression(filter, [](std::string_view) { return false; });
  return e && mentions_returns(**e);
}

}  // namespace blip::session
