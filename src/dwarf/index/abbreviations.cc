// SPDX-License-Identifier: MIT
// Most entries are skipped, and most of what they hold has a size that is known beforehand: what lies between
// two attributes that count is one step.
#include "dwarf/index/abbreviations.h"

#include <dwarf.h>

#include <algorithm>

#include "dwarf/index/cursor.h"
#include "dwarf/index/forms.h"

namespace blip::dwarf {

namespace {

constexpr uint64_t kMostCodes = 1 << 20;
constexpr size_t kMostSteps = 1 << 22;
constexpr size_t kMostAttributes = 256;  // of one

using What = Step::What;

What wanted(uint16_t attribute) {
  switch (attribute) {
    case DW_AT_name:
      return What::kName;
    case DW_AT_linkage_name:
      return What::kLinkageName;
    case DW_AT_abstract_origin:
    case DW_AT_specification:
      return What::kOrigin;
    case DW_AT_declaration:
      return What::kDeclaration;
    case DW_AT_sibling:
      return What::kSibling;
    case DW_AT_str_offsets_base:
      return What::kStringOffsets;
    default:
      return What::kSkip;
  }
}

bool counts_for(Role role, What what) {
  if (what == What::kSibling) return true;
  if (what == What::kStringOffsets) return false;
  switch (role) {
    case Role::kOther:
      return false;
    case Role::kContainer:
      return what == What::kName;
    case Role::kInlined:
      return what == What::kOrigin;
    case Role::kFunction:
      return true;
    default:
      return what != What::kLinkageName;
  }
}

Role role_of_tag(uint64_t tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
      return Role::kContainer;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
      return Role::kRecord;
    case DW_TAG_enumeration_type:
    case DW_TAG_typedef:
    case DW_TAG_base_type:
      return Role::kType;
    case DW_TAG_variable:
      return Role::kVariable;
    case DW_TAG_subprogram:
      return Role::kFunction;
    case DW_TAG_inlined_subroutine:
      return Role::kInlined;
    default:
      return Role::kOther;
  }
}

// Classifies entries as dwarf/inlined.cc and dwarf/units/unit_index.cc do.
template <typename Attributes>
Role role_of(uint64_t tag, const Attributes& attributes) {
  const auto has = [&](uint16_t name) {
    return std::any_of(attributes.begin(), attributes.end(), [&](const auto& a) { return a.name == name; });
  };
  const auto has_form = [&](uint16_t name, auto fits) {
    return std::any_of(attributes.begin(), attributes.end(),
                       [&](const auto& a) { return a.name == name && fits(a.form); });
  };
  const Role role = role_of_tag(tag);
  if (role == Role::kVariable && !has(DW_AT_location) && !has(DW_AT_const_value)) return Role::kOther;
  const auto is_true = [](uint16_t form) { return form == DW_FORM_flag_present; };
  if (role == Role::kFunction && !has(DW_AT_inline) &&
      (has(DW_AT_low_pc) || has(DW_AT_ranges) || has(DW_AT_abstract_origin) ||
       has_form(DW_AT_declaration, is_true)))
    return Role::kOther;
  if (role == Role::kInlined && !has_form(DW_AT_abstract_origin, leaves_unit)) return Role::kOther;
  return role;
}

void add_step(std::vector<Step>& steps, size_t first, What what, uint16_t form,
              std::optional<uint32_t> size) {
  if (what != What::kSkip) {
    steps.push_back({what, form, 0});
  } else if (!size) {
    steps.push_back({What::kSkipForm, form, 0});
  } else if (steps.size() > first && steps.back().what == What::kSkip) {
    steps.back().size += *size;
  } else {
    steps.push_back({What::kSkip, form, *size});
  }
}

bool is_known(const UnitHeader& unit, uint64_t form) {
  Cursor nothing({}, 0);
  return form <= UINT16_MAX && (fixed_size(unit, form) || skip_form(nothing, unit, form));
}

}  // namespace

void Abbreviations::add(const UnitHeader& unit, Abbreviation a, std::span<const Attribute> attributes,
                        uint64_t code) {
  a.role = role_of(a.tag, attributes);
  has_foreign_origins_ |= a.role == Role::kInlined;
  a.steps = static_cast<uint32_t>(steps_.size());
  a.all_steps = static_cast<uint32_t>(all_steps_.size());
  for (const Attribute& attribute : attributes) {
    a.is_inline |= attribute.name == DW_AT_inline;
    const What what = wanted(attribute.name);
    const auto size = fixed_size(unit, attribute.form);
    add_step(steps_, a.steps, counts_for(a.role, what) ? what : What::kSkip, attribute.form, size);
    add_step(all_steps_, a.all_steps, what, attribute.form, size);
  }
  a.step_count = static_cast<uint32_t>(steps_.size()) - a.steps;
  a.all_step_count = static_cast<uint32_t>(all_steps_.size()) - a.all_steps;
  if (by_code_.size() <= code) by_code_.resize(code + 1);
  by_code_[code] = a;
}

std::optional<Abbreviations> Abbreviations::read(std::span<const uint8_t> section, const UnitHeader& unit) {
  Abbreviations result;
  Cursor cursor(section, unit.abbreviations);
  std::vector<Attribute> attributes;
  for (uint64_t code; (code = cursor.uleb()) != 0;) {
    Abbreviation a;
    const uint64_t tag = cursor.uleb();
    a.tag = static_cast<uint16_t>(tag);
    a.has_children = cursor.fixed(1) != 0;
    attributes.clear();
    for (;;) {
      const uint64_t name = cursor.uleb(), form = cursor.uleb();
      if (form == DW_FORM_implicit_const) cursor.uleb();
      if (name == 0 && form == 0) break;
      if (cursor.failed() || name > UINT16_MAX || !is_known(unit, form)) return std::nullopt;
      if (attributes.size() == kMostAttributes) return std::nullopt;
      attributes.push_back({static_cast<uint16_t>(name), static_cast<uint16_t>(form)});
    }
    if (cursor.failed() || code > kMostCodes || tag == 0 || tag > UINT16_MAX) return std::nullopt;
    if (result.all_steps_.size() > kMostSteps || result.find(code)) return std::nullopt;
    result.add(unit, a, attributes, code);
  }
  if (cursor.failed()) return std::nullopt;
  return result;
}

}  // namespace blip::dwarf
