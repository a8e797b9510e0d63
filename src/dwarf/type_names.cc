// SPDX-License-Identifier: MIT
// Types by the names that users write.
#include "dwarf/function_scope.h"
#include "dwarf/units/integer_names.h"

namespace blip::dwarf {

namespace {

struct Keyword {
  std::string_view text;
  int tag, other_tag;
};

constexpr Keyword kKeywords[] = {
    {"struct ", DW_TAG_structure_type, DW_TAG_class_type},
    {"class ", DW_TAG_structure_type, DW_TAG_class_type},
    {"union ", DW_TAG_union_type, DW_TAG_union_type},
    {"enum ", DW_TAG_enumeration_type, DW_TAG_enumeration_type},
};

const Keyword* take_keyword(std::string_view& name) {
  for (const Keyword& keyword : kKeywords)
    if (name.starts_with(keyword.text)) {
      name.remove_prefix(keyword.text.size());
      return &keyword;
    }
  return nullptr;
}

std::optional<Dwarf_Die> type_in(const Names& names, const std::string& name, const Keyword* keyword) {
  if (!keyword)
    if (auto found = names.aliases.find(name); found != names.aliases.end()) return found->second;
  auto found = names.tags.find(name);
  if (found == names.tags.end()) return std::nullopt;
  const int tag = tag_of(found->second);
  if (keyword && tag != keyword->tag && tag != keyword->other_tag) return std::nullopt;
  return found->second;
}

}  // namespace

const script::Type* FunctionScope::find_type(std::string_view text) {
  std::string_view rest = text;
  const Keyword* keyword = take_keyword(rest);
  const auto spellings = keyword ? std::vector<std::string>{} : integer_spellings(rest);
  const auto look = [&](const Names& names) -> const script::Type* {
    for (const std::string& prefix : prefixes())
      if (auto found = type_in(names, prefix + std::string(rest), keyword))
        return &debug_data_.types().of(*found);
    for (const std::string& spelling : spellings)
      if (auto found = type_in(names, spelling, nullptr)) return &debug_data_.types().of(*found);
    return nullptr;
  };
  if (unit_)
    if (const script::Type* found = look(unit_->names())) return found;
  if (const script::Type* found = debug_data_.find_in_units(rest, look)) return found;
  for (const std::string& spelling : spellings)
    if (const script::Type* found = debug_data_.find_in_units(spelling, look)) return found;
  return nullptr;
}

}  // namespace blip::dwarf
