// SPDX-License-Identifier: MIT
#include "script/types/members.h"

#include <functional>

namespace blip::script {

namespace {

// Debugging information may be wrong: a type that is its own base has no end.
constexpr unsigned kDeepest = 12;
constexpr unsigned kMostLooks = 4096;

bool is_looked_through(const Member& m) { return m.name.empty() || m.is_base; }

void collect(const Type& type, uint64_t offset, unsigned depth, unsigned& looks,
             std::vector<FoundMember>& found) {
  if (depth > kDeepest) return;
  for (const Member& m : resolve(type).members) {
    if (++looks > kMostLooks) return;
    if (!m.type) continue;
    if (is_looked_through(m))
      collect(*m.type, offset + m.offset, depth + 1, looks, found);
    else
      found.push_back({&m, offset + m.offset});
  }
}

using Wanted = std::function<bool(const Member&)>;

std::optional<FoundMember> find_first(const Type& type, const Wanted& wanted) {
  for (const FoundMember& m : members_of(type))
    if (wanted(*m.member)) return m;
  return std::nullopt;
}

std::optional<FoundMember> find_at(const Type& type, const Wanted& wanted, unsigned levels, unsigned& looks) {
  if (++looks > kMostLooks) return std::nullopt;
  if (const auto found = find_first(type, wanted)) return found;
  if (levels == 0) return std::nullopt;
  for (const FoundMember& m : members_of(type)) {
    if (!is_aggregate(resolve(*m.member->type))) continue;
    if (auto found = find_at(*m.member->type, wanted, levels - 1, looks)) {
      found->offset += m.offset;
      return found;
    }
  }
  return std::nullopt;
}

std::optional<FoundMember> find_within(const Type& type, const Wanted& wanted) {
  constexpr unsigned kLayers = 8;
  unsigned looks = 0;
  for (unsigned levels = 0; levels <= kLayers; ++levels)
    if (const auto found = find_at(type, wanted, levels, looks)) return found;
  return std::nullopt;
}

}  // namespace

bool is_aggregate(const Type& resolved) {
  return resolved.kind == TypeKind::kStruct || resolved.kind == TypeKind::kUnion;
}

std::vector<FoundMember> members_of(const Type& type) {
  std::vector<FoundMember> found;
  unsigned looks = 0;
  if (is_aggregate(resolve(type))) collect(type, 0, 0, looks, found);
  return found;
}

std::optional<FoundMember> find_member(const Type& type, std::string_view name) {
  return find_first(type, [&](const Member& m) { return m.name == name; });
}

std::optional<FoundMember> find_member_within(const Type& type, std::string_view name) {
  return find_within(type, [&](const Member& m) { return m.name == name; });
}

std::optional<FoundMember> find_pointer_within(const Type& type, std::string_view name) {
  return find_within(
      type, [&](const Member& m) { return m.name == name && resolve(*m.type).kind == TypeKind::kPointer; });
}

}  // namespace blip::script
