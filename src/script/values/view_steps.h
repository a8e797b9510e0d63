// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "collect/steps.h"
#include "script/values/containers.h"

namespace blip::script {

struct ViewStep {
  collect::Step step;  // where, a, b, c and count
  const Type* element = nullptr;
};

// Where texts and elements are in an object of a type of containers.h; none: it is no such, or in a way for
// which there is no step.
std::optional<ViewStep> find_view_step(const Type& type, const FindType& find_type);

}  // namespace blip::script
