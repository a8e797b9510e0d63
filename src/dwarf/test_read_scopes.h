// SPDX-License-Identifier: MIT
// All that blip asks of debugging information, of files that may be hostile.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dwarf/debug_info.h"
#include "script/types/type.h"

namespace blip::dwarf {

// Types lead to types; the sum keeps the optimizer from dropping the reads.
inline uint64_t read_type(const script::Type& type, int depth) {
  constexpr int kDeepest = 4;
  const script::Type& whole = script::resolve(type);
  uint64_t sum = whole.size + to_string(type).size() + whole.enumerators.size();
  if (depth >= kDeepest) return sum;
  for (const script::Member& member : whole.members)
    if (member.type) sum += read_type(*member.type, depth + 1) + member.offset;
  if (whole.target) sum += read_type(*whole.target, depth + 1);
  return sum;
}

inline uint64_t read_scope(script::Scope& scope) {
  uint64_t sum = scope.what_is_missing().size();
  for (const auto& variables : {scope.parameters(), scope.locals()})
    for (const script::Variable& variable : variables)
      sum += read_type(*variable.type, 0) + variable.place.code.nodes.size() + variable.place.pieces.size();
  if (const script::Type* result = scope.result_type()) sum += read_type(*result, 0);
  for (const char* name : {"counter", "sum", "n"})
    if (const auto found = scope.find(name)) sum += read_type(*found->type, 0);
  for (const char* name : {"int", "struct node", "unsigned long", "color"})
    if (const auto* found = scope.find_type(name)) sum += read_type(*found, 0);
  if (scope.find_in("sample.c", "counter")) ++sum;
  return sum;
}

// Looks at every `step`th of the first addresses that small programs have.
inline uint64_t read_scopes(std::span<const uint8_t> image, uint64_t step) {
  auto info =
      DebugInfo::open({.name = "hostile", .program = image, .debug = {}, .alternate = {}, .may_open = {}});
  if (!info) return 0;
  uint64_t sum = info->executable_tls_offset().value_or(0);
  constexpr uint64_t kFirst = 0x1000, kEnd = 0x1400;
  for (uint64_t pc = kFirst; pc < kEnd; pc += step)
    for (bool is_entry : {true, false}) {
      const auto scope = info->scope_at({.pc = FileAddr(pc), .is_entry = is_entry, .tls_offset = 64});
      sum += read_scope(*scope);
    }
  for (const char* name : {"", "tiny", "f", "_Z4tinyi"})
    for (const InlinedInstance& instance :
         info->inlined_instances({name, [](std::string_view) { return true; }}))
      sum += read_scope(*info->scope_of(instance, {.pc = instance.pc}));
  return sum;
}

}  // namespace blip::dwarf
