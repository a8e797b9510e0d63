// SPDX-License-Identifier: MIT
// Values whose parts lie in many places, as one output: the table by which they are collected at a hit
// (collect/steps.h), and the field of what comes of it. A part may be a text, or a container of more such.
#pragma once

#include <optional>
#include <vector>

#include "collect/steps.h"
#include "ctf/schema.h"
#include "script/types/limits.h"
#include "script/values/containers.h"

namespace blip::script {

struct Collection {
  ctf::Field field;  // a kCollected
  std::vector<collect::Step> steps;
  uint32_t growth = 4;  // quarters of bytes that events need at most for a byte of the record
};

// True if a value holds texts or containers, so that its bytes alone do not show it.
bool has_parts(const Type& type, const FindType& find_type);

// The collection for an object in memory whose type is a container. nullopt if it is none, or if all of it
// can
// be had more easily.
std::optional<Collection> collect_container(const std::string& name, const Type& type, const Limits& limits,
                                            const FindType& find_type, TypeArena& types);
// The same for elements whose address and number are known.
std::optional<Collection> collect_elements(const std::string& name, const Type& element, const Limits& limits,
                                           const FindType& find_type, TypeArena& types);

}  // namespace blip::script
