// SPDX-License-Identifier: MIT
// Members of structures as a language sees them: those of anonymous members and base classes are the outer
// type's own.
#pragma once

#include <optional>
#include <string_view>

#include "script/types/type.h"

namespace blip::script {

struct FoundMember {
  const Member* member = nullptr;
  uint64_t offset = 0;  // in the outer type
};

bool is_aggregate(const Type& resolved);

std::optional<FoundMember> find_member(const Type& type, std::string_view name);
// Also in members that have names, the nearest: for what libraries wrap in layers that change with versions.
std::optional<FoundMember> find_member_within(const Type& type, std::string_view name);
// The same, of those that are pointers: libraries call parts that are next to each other by one name.
std::optional<FoundMember> find_pointer_within(const Type& type, std::string_view name);

// All with a name, in their order.
std::vector<FoundMember> members_of(const Type& type);

}  // namespace blip::script
