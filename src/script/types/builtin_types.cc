// SPDX-License-Identifier: MIT
#include "script/types/builtin_types.h"

#include <algorithm>
#include <iterator>

#include "script/types/alignment.h"

namespace blip::script {

namespace {

Type scalar(TypeKind kind, const char* name, uint64_t size, bool is_signed = false) {
  return {.kind = kind, .is_signed = is_signed, .name = name, .size = size};
}

const Type kTypes[] = {
    scalar(TypeKind::kVoid, "void", 0),          scalar(TypeKind::kBool, "bool", 1),
    scalar(TypeKind::kChar, "char", 1, true),    scalar(TypeKind::kChar, "signed char", 1, true),
    scalar(TypeKind::kChar, "unsigned char", 1), scalar(TypeKind::kInt, "short", 2, true),
    scalar(TypeKind::kInt, "unsigned short", 2), scalar(TypeKind::kInt, "int", 4, true),
    scalar(TypeKind::kInt, "unsigned int", 4),   scalar(TypeKind::kInt, "long", 8, true),
    scalar(TypeKind::kInt, "unsigned long", 8),  scalar(TypeKind::kFloat, "float", 4, true),
    scalar(TypeKind::kFloat, "double", 8, true), scalar(TypeKind::kFloat, "long double", 16, true),
    scalar(TypeKind::kInt, "size_t", 8),         scalar(TypeKind::kInt, "ssize_t", 8, true),
    scalar(TypeKind::kInt, "off_t", 8, true),    scalar(TypeKind::kInt, "intptr_t", 8, true),
    scalar(TypeKind::kInt, "uintptr_t", 8),      scalar(TypeKind::kInt, "int8_t", 1, true),
    scalar(TypeKind::kInt, "uint8_t", 1),        scalar(TypeKind::kInt, "int16_t", 2, true),
    scalar(TypeKind::kInt, "uint16_t", 2),       scalar(TypeKind::kInt, "int32_t", 4, true),
    scalar(TypeKind::kInt, "uint32_t", 4),       scalar(TypeKind::kInt, "int64_t", 8, true),
    scalar(TypeKind::kInt, "uint64_t", 8),       scalar(TypeKind::kInt, "mode_t", 4),
    scalar(TypeKind::kInt, "pid_t", 4, true),    scalar(TypeKind::kInt, "uid_t", 4),
    scalar(TypeKind::kInt, "gid_t", 4),          scalar(TypeKind::kInt, "socklen_t", 4),
    scalar(TypeKind::kInt, "useconds_t", 4),     scalar(TypeKind::kInt, "nfds_t", 8),
    scalar(TypeKind::kInt, "pthread_t", 8),      scalar(TypeKind::kInt, "clockid_t", 4, true),
    scalar(TypeKind::kInt, "time_t", 8, true),
};

// One byte of a size has no type of its own that is no character.
const Type kByte = scalar(TypeKind::kInt, "int8_t", 1, true);
const Type kUnsignedByte = scalar(TypeKind::kInt, "uint8_t", 1);

constexpr std::string_view kNumbers[] = {"uint8_t", "int8_t", "__uint8_t", "__int8_t", "u8",
                                         "s8",      "__u8",   "__s8",      "u_int8_t", "byte",
                                         "guint8",  "uint8",  "int8"};

}  // namespace

const Type* builtin_type(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const Type& t) { return t.name == name; });
  return found == std::end(kTypes) ? nullptr : &*found;
}

const Type& int_type(uint64_t size, bool is_signed) {
  switch (size) {
    case 1:
      return is_signed ? kByte : kUnsignedByte;
    case 2:
      return *builtin_type(is_signed ? "short" : "unsigned short");
    case 4:
      return *builtin_type(is_signed ? "int" : "unsigned int");
    default:
      return *builtin_type(is_signed ? "long" : "unsigned long");
  }
}

bool is_character(const Type& type) {
  if (resolve(type).kind != TypeKind::kChar) return false;
  constexpr int kMostNames = 20;
  const Type* t = &complete(type);
  for (int i = 0; i < kMostNames && t; ++i) {
    if (std::find(std::begin(kNumbers), std::end(kNumbers), t->name) != std::end(kNumbers)) return false;
    if (t->kind != TypeKind::kTypedef) break;
    t = t->target ? &complete(*t->target) : nullptr;
  }
  return true;
}

const Type& TypeArena::pair_of(const Type& first, const Type& second) {
  const auto round_up = [](uint64_t n, uint64_t to) { return (n + to - 1) / to * to; };
  const uint64_t alignment = std::max(alignment_of(first), alignment_of(second));
  const uint64_t at = round_up(resolve(first).size, alignment_of(second));
  return types_.emplace_back(Type{.kind = TypeKind::kStruct,
                                  .name = "pair",
                                  .size = round_up(at + resolve(second).size, alignment),
                                  .members = {{"first", &first, 0}, {"second", &second, at}}});
}

}  // namespace blip::script
