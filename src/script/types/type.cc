// SPDX-License-Identifier: MIT
#include "script/types/type.h"

#include <fmt/core.h>

#include <utility>

namespace blip::script {

const Type& complete(const Type& type) {
  if (type.is_complete()) return type;
  // Types are made by their source, none is a constant: only who looks at them may not change them.
  auto& open = const_cast<Type&>(type);
  std::exchange(open.source, nullptr)->complete(open);
  return type;
}

const Type& resolve(const Type& type) {
  constexpr int kMostNames = 100;  // hostile debugging information may have a ring of them
  const Type* t = &complete(type);
  for (int i = 0; i < kMostNames && t->kind == TypeKind::kTypedef && t->target; ++i)
    t = &complete(*t->target);
  return *t;
}

namespace {

std::string name_or(const Type& type, const char* keyword) {
  if (type.name.empty()) return fmt::format("{} {{...}}", keyword);
  return fmt::format("{} {}", keyword, type.name);
}

std::string text(const Type& type, int depth) {
  constexpr int kDeepest = 20;
  if (depth > kDeepest) return "...";
  const auto of_target = [&] { return type.target ? text(complete(*type.target), depth + 1) : "void"; };
  switch (type.kind) {
    case TypeKind::kPointer:
    case TypeKind::kReference: {
      const std::string target = of_target();
      const char* space = target.ends_with('*') ? "" : " ";
      return target + space + (type.kind == TypeKind::kPointer ? "*" : "&");
    }
    case TypeKind::kArray:
      return of_target() + (type.count ? fmt::format(" [{}]", *type.count) : " []");
    case TypeKind::kStruct:
      return name_or(type, "struct");
    case TypeKind::kUnion:
      return name_or(type, "union");
    case TypeKind::kEnum:
      return name_or(type, "enum");
    case TypeKind::kFunction:
      return of_target() + " ()";
    case TypeKind::kVoid:
      return "void";
    default:
      return type.name.empty() ? "?" : type.name;
  }
}

}  // namespace

std::string to_string(const Type& type) { return text(complete(type), 0); }

}  // namespace blip::script
