// SPDX-License-Identifier: MIT
// Containers of C++'s standard libraries whose elements do not lie one after the other: trees, lists, hash
// tables, deques. By the names of their members, as libstdc++ and libc++ have them; where an element lies in
// its node follows from its alignment.
#pragma once

#include <optional>

#include "collect/steps.h"
#include "script/types/builtin_types.h"
#include "script/types/type.h"

namespace blip::script {

struct NodeContainer {
  collect::Step step;  // where, a, b, c and the offsets of a node
  const Type* element = nullptr;
  std::optional<uint64_t> size_offset;  // of the number of elements in the container
};

// `types`: owns an element's type where there is none in the debugging information.
std::optional<NodeContainer> find_node_container(const Type& type, TypeArena& types);

}  // namespace blip::script
