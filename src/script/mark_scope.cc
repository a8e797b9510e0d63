// SPDX-License-Identifier: MIT
#include "script/mark_scope.h"

#include <fmt/core.h>

#include "script/types/builtin_types.h"

namespace blip::script {

namespace {

const Type& any_word() {
  static const Type kWord{.kind = TypeKind::kPointer, .size = 8, .target = builtin_type("void")};
  return kWord;
}

}  // namespace

std::optional<Variable> MarkScope::find(std::string_view name) {
  for (const Variable& v : arguments_)
    if (v.name == name) return v;
  return place_->find(name);
}

std::vector<Variable> MarkScope::parameters() {
  std::vector<Variable> all = arguments_;
  for (Variable& v : all)
    if (v.type == &int_type(8, false)) v.type = &any_word();
  return all;
}

std::string MarkScope::argument_names() {
  if (arguments_.empty()) return "the mark has no arguments";
  if (arguments_.size() == 1) return "the mark has one argument, arg1";
  return fmt::format("the mark has the arguments arg1 to arg{}", arguments_.size());
}

}  // namespace blip::script
