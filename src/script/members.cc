// SPDX-License-Identifier: MIT
#include "script/members.h"

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

std::optional<FoundMember> find_within(const Type& type, std::string_view name, unsigned levels,
                                       unsigned& looks) {
  if (++looks > kMostLooks) return std::nullopt;
  if (const auto found = find_member(type, name)) return found;
  if (levels == 0) return std::nullopt;
  for (const FoundMember& m : members_of(type)) {
    if (!is_aggregate(resolve(*m.member->type))) continue;
    if (auto found = find_within(*m.member->type, name, levels - 1, looks)) {
      found->offset += m.offset;
      return found;
    }
  }
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
  for (const FoundMember& m : members_of(type))
    if (m.member->name == name) return m;
  return std::nullopt;
}

std::optional<FoundMember> find_member_within(const Type& type, std::string_view name) {
  constexpr unsigned kLayers = 8;
  unsigned looks = 0;
  for (unsigned levels = 0; levels <= kLayers; ++levels)
    if (const auto found = find_within(type, name, levels, looks)) return found;
  return std::nullopt;
}

}  // namespace blip::script
