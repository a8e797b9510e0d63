// SPDX-License-Identifier: MIT
#include "script/types/alignment.h"

#include <algorithm>
#include <bit>

#include "script/types/members.h"

namespace blip::script {

namespace {

constexpr uint64_t kLargest = 16;  // of a scalar
constexpr unsigned kDeepest = 12;
constexpr unsigned kMostLooks = 4096;

uint64_t alignment_at(const Type& type, unsigned depth, unsigned& looks) {
  const Type& t = resolve(type);
  if (depth > kDeepest || ++looks > kMostLooks) return 1;
  if (t.kind == TypeKind::kArray) return t.target ? alignment_at(*t.target, depth + 1, looks) : 1;
  if (t.kind == TypeKind::kPointer || t.kind == TypeKind::kReference) return sizeof(uint64_t);
  if (!is_aggregate(t)) return std::has_single_bit(t.size) ? std::min(t.size, kLargest) : 1;
  uint64_t natural = 1;
  for (const Member& m : t.members) {
    if (!m.type) continue;
    const uint64_t of_member = alignment_at(*m.type, depth + 1, looks);
    // Packed ones lie anywhere.
    if (m.bit_size == 0 && m.offset % of_member == 0) natural = std::max(natural, of_member);
  }
  while (natural > 1 && t.size % natural != 0) natural /= 2;
  return std::max(natural, t.alignment);
}

}  // namespace

uint64_t alignment_of(const Type& type) {
  unsigned looks = 0;
  return alignment_at(type, 0, looks);
}

}  // namespace blip::script
