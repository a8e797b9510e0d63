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

// The step that finds the text or the elements in an object of a type of containers.h. nullopt if the type is
// none of those, or if no step can find them.
std::optional<ViewStep> find_view_step(const Type& type, const FindType& find_type);

}  // namespace blip::script
