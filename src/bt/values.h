// SPDX-License-Identifier: MIT
// What expressions come to while a handler is lowered.
#pragma once

#include <optional>
#include <vector>

#include "bt/type.h"
#include "script/front/values.h"
#include "script/values/operand.h"

namespace blip::bt {

struct Typed {
  Type type{};
  std::vector<script::Value> leaves{};
  // Of numbers and addresses that the target has, and of what lies in it: with it, what it leads to can be read at the hit.
  std::optional<script::Operand> operand{};

  const script::Value& value() const { return leaves.front(); }
  bool has_value() const { return !leaves.empty(); }
};

}  // namespace blip::bt
