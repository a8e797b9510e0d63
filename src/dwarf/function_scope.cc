// SPDX-License-Identifier: MIT
#include "dwarf/function_scope.h"

#include <fmt/core.h>

#include <map>
#include <set>

namespace blip::dwarf {

using script::Variable;

namespace {

bool fits(std::string_view path, std::string_view wanted) {
  if (path == wanted) return true;
  return path.size() > wanted.size() && path.ends_with(wanted) &&
         path[path.size() - wanted.size() - 1] == '/';
}

bool is_placed(const Dwarf_Die& variable) {
  return has(variable, DW_AT_location) || has(variable, DW_AT_const_value);
}

// clang's own, of an array whose length is known at run time.
bool is_length(const Dwarf_Die& variable) {
  return flag(variable, DW_AT_artificial) && name_of(variable).starts_with("__vla_expr");
}

std::string_view basename_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

FrameRules rules_at(DebugData& debug_data, const UnitIndex* unit, const std::optional<CodeScopes>& scopes,
                    const CodeLocation& site) {
  if (!unit || !scopes) return {};
  FrameRules rules = frame_rules(debug_data.frames(), unit->unit(), scopes->function, site.pc, site.is_entry);
  rules.find_stack_end(site.pc);
  return rules;
}

// Other parts of a function have symbols, too: f.cold begins somewhere in the middle.
CodeLocation checked(CodeLocation site, const UnitIndex* unit) {
  const auto function = unit ? unit->function_at(site.pc) : std::nullopt;
  if (function && entry_of(*function) != site.pc.value) site.is_entry = false;
  return site;
}

// At the entry itself nobody else is asked.
std::optional<CallFrame> frame_at(DebugData& debug_data, const std::optional<CodeScopes>& scopes,
                                  const CodeLocation& site) {
  if (!scopes || site.is_entry) return std::nullopt;
  return CallFrame({.debug_data = &debug_data,
                    .load_bias = site.load_bias,
                    .function = scopes->function,
                    .pc = site.pc,
                    .callers = site.callers});
}

std::optional<CodeScopes> scopes_at(const UnitIndex* unit, const CodeLocation& site, const void* instance) {
  const auto function = unit ? unit->function_at(site.pc) : std::nullopt;
  if (!function) return std::nullopt;
  return code_scopes(*function, site.pc, {.into_inlined = !site.is_entry || instance, .instance = instance});
}

}  // namespace

FunctionScope::FunctionScope(DebugData& debug_data, const CodeLocation& site, const void* instance)
    : debug_data_(debug_data),
      unit_(debug_data.unit_at(site.pc)),
      site_(checked(site, unit_)),
      scopes_(scopes_at(unit_, site_, instance)),
      frame_(frame_at(debug_data, scopes_, site_)),
      places_(site_, rules_at(debug_data, unit_, scopes_, site_), frame_ ? &*frame_ : nullptr) {}

Variable FunctionScope::local(const Dwarf_Die& die, bool is_parameter, bool just_begins) {
  const script::Type& type = type_here(die);
  return {.name = std::string(name_of(die)),
          .type = &type,
          .place = places_.place(die, script::resolve(type).size, just_begins),
          .is_parameter = is_parameter};
}

Variable FunctionScope::global(const Dwarf_Die& die) {
  const VariablePlaces frameless(site_, {});
  const script::Type& type = debug_data_.types().of_holder(die);
  Variable variable{.name = std::string(name_of(die)),
                    .type = &type,
                    .place = frameless.place(die, script::resolve(type).size)};
  const bool is_fixed = variable.place.kind == script::Place::Kind::kAddress &&
                        variable.place.code.nodes.back().op == script::Op::kConstant;
  if (auto bound = is_fixed ? bound_place(die) : std::nullopt) variable.place = std::move(*bound);
  return variable;
}

// The program's code asks the same word.
std::optional<script::Place> FunctionScope::bound_place(const Dwarf_Die& die) const {
  if (!site_.bound || !flag(original(die), DW_AT_external)) return std::nullopt;
  auto symbol = attribute(die, DW_AT_linkage_name);
  const char* name = symbol ? ::dwarf_formstring(&*symbol) : nullptr;
  const auto bound = site_.bound(name ? std::string(name) : std::string(name_of(die)));
  if (!bound) return std::nullopt;
  script::Place place{.kind = script::Place::Kind::kAddress};
  const uint32_t at = place.code.constant(bound->place.value + site_.load_bias);
  if (bound->is_address) place.code.add({.op = script::Op::kLoad, .a = at});
  return place;
}

// Finds a variable that the file declares and another module defines.
std::optional<Variable> FunctionScope::find_bound(std::string_view name) {
  if (!unit_) return std::nullopt;
  const Names& names = unit_->names();
  for (const std::string& prefix : prefixes()) {
    const auto found = names.declared.find(prefix + std::string(name));
    if (found == names.declared.end()) continue;
    auto place = bound_place(found->second);
    if (!place) return std::nullopt;
    return Variable{.name = std::string(name),
                    .type = &debug_data_.types().of_holder(found->second),
                    .place = std::move(*place)};
  }
  return std::nullopt;
}

std::vector<Variable> FunctionScope::parameters_of(const Dwarf_Die& owner) {
  const auto entries = declared_in(owner, Declared::kParameters);
  std::vector<Variable> result;
  const bool just_begins = site_.begins_inlined && owner.addr == scopes_->owner().addr;
  for (const Dwarf_Die& die : entries) result.push_back(local(die, true, just_begins));
  if (site_.is_entry && owner.addr == scopes_->function.addr) {
    auto places = entry_places(debug_data_, places_, owner, entries);
    for (size_t i = 0; i < result.size(); ++i) result[i].place = std::move(places[i]);
  }
  // Packs of templates give one name to several.
  std::map<std::string, int> seen;
  for (size_t i = 0; i < result.size(); ++i) {
    if (result[i].name.empty()) result[i].name = fmt::format("arg{}", i);
    if (const int before = seen[result[i].name]++) result[i].name += fmt::format("#{}", before);
  }
  return result;
}

std::vector<Variable> FunctionScope::parameters() {
  return scopes_ ? parameters_of(scopes_->owner()) : std::vector<Variable>();
}

std::vector<Variable> FunctionScope::locals() {
  std::vector<Variable> result;
  if (!scopes_) return result;
  std::set<std::string, std::less<>> seen;
  for (auto scope = scopes_->own.rbegin(); scope != scopes_->own.rend(); ++scope)
    for (const Dwarf_Die& die : declared_in(*scope, Declared::kVariables)) {
      if (name_of(die).empty() || flag(die, DW_AT_declaration) || is_length(die)) continue;
      if (seen.emplace(name_of(die)).second) result.push_back(local(die, false));
    }
  return result;
}

std::optional<Variable> FunctionScope::find_declared(const std::vector<Dwarf_Die>& scopes,
                                                     std::string_view name) {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    for (const Dwarf_Die& die : declared_in(*scope, Declared::kVariables))
      if (name_of(die) == name) return flag(die, DW_AT_declaration) ? find_global(name) : local(die, false);
    const int tag = tag_of(*scope);
    if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) continue;
    for (Variable& parameter : parameters_of(*scope))
      if (parameter.name == name) return std::move(parameter);
  }
  return std::nullopt;
}

std::vector<std::string> FunctionScope::prefixes() const {
  std::vector<std::string> result;
  if (scopes_) {
    const Dwarf_Die first = original(scopes_->owner());
    std::string prefix = debug_data_.unit_of(first).prefix_of(first);
    while (prefix.size() > 2) {
      result.push_back(prefix);
      const size_t colons = prefix.rfind("::", prefix.size() - 3);
      prefix.resize(colons == std::string::npos ? 0 : colons + 2);
    }
  }
  result.emplace_back();
  return result;
}

// In the namespaces around the function, from the innermost on.
std::optional<Dwarf_Die> FunctionScope::named_in(const Names& names, std::string_view name) const {
  for (const std::string& prefix : prefixes())
    if (auto found = names.variables.find(prefix + std::string(name)); found != names.variables.end())
      return found->second;
  return std::nullopt;
}

// The file's own before those that other files let see. Programs that are optimized as a whole have the
// variables of one file in several units, and what is nowhere only in the unit of the source.
std::optional<Variable> FunctionScope::find_global(std::string_view name) {
  std::optional<Dwarf_Die> hidden;
  if (unit_) {
    auto own = named_in(unit_->names(), name);
    if (own && is_placed(*own)) return global(*own);
    UnitIndex& source = source_unit();
    hidden = own || &source == unit_ ? own : named_in(source.names(), name);
    if (hidden && &source == unit_) return global(*hidden);
  }
  std::optional<Dwarf_Die> visible;
  auto found = debug_data_.find_in_units(name, [&](const Names& names) -> std::optional<Dwarf_Die> {
    auto other = named_in(names, name);
    if (!other || !is_placed(*other)) return std::nullopt;
    if (hidden && original(*other).addr == original(*hidden).addr) return other;
    if (!visible && is_visible(*other)) visible = other;
    return hidden ? std::nullopt : visible;
  });
  if (!found) found = hidden ? hidden : visible;
  return found ? std::optional(global(*found)) : std::nullopt;
}

// Only C and C++ make this difference.
bool FunctionScope::is_visible(const Dwarf_Die& variable) {
  const uint64_t language = debug_data_.unit_of(variable).language();
  return attribute(variable, DW_AT_external) || !(is_c(language) || is_c_plus_plus(language));
}

UnitIndex& FunctionScope::source_unit() {
  return scopes_ ? debug_data_.unit_of(original(scopes_->owner())) : *unit_;
}

std::vector<std::string> FunctionScope::files_with(std::string_view name) {
  std::set<std::string> files;
  debug_data_.find_in_units(name, [&](const Names& names) -> std::optional<Dwarf_Die> {
    if (auto other = named_in(names, name))
      files.emplace(basename_of(name_of(debug_data_.unit_of(*other).unit())));
    return std::nullopt;
  });
  return {files.begin(), files.end()};
}

std::optional<Variable> FunctionScope::find(std::string_view name) {
  if (scopes_)
    if (auto found = find_declared(scopes_->own, name)) return found;
  if (auto found = find_global(name)) return found;
  if (auto found = find_bound(name)) return found;
  return scopes_ ? find_declared(scopes_->outer, name) : std::nullopt;
}

std::optional<Variable> FunctionScope::find_in_unit(std::string_view file, const std::string& name) {
  for (const Dwarf_Die& unit : debug_data_.units()) {
    auto path = own_attribute(unit, DW_AT_name);
    const char* text = path ? ::dwarf_formstring(&*path) : nullptr;
    if (!text || !fits(text, file)) continue;
    const Names& names = debug_data_.unit_of(unit).names();
    if (auto found = names.variables.find(name); found != names.variables.end()) return global(found->second);
  }
  return std::nullopt;
}

std::optional<Variable> FunctionScope::find_in(std::string_view where, std::string_view name) {
  if (where == debug_data_.name()) return find_global(name);
  if (auto found = find_in_unit(where, std::string(name))) return found;
  return find_global(fmt::format("{}::{}", where, name));
}

const script::Type* FunctionScope::result_type() {
  return scopes_ ? &debug_data_.types().of_holder(scopes_->owner()) : nullptr;
}

std::optional<script::Place> FunctionScope::result_place() {
  return scopes_ ? std::optional(returned_place(debug_data_, scopes_->owner())) : std::nullopt;
}

std::string FunctionScope::what_is_missing() {
  if (scopes_) return "";
  return fmt::format("{} has debugging information, but none about this code", debug_data_.name());
}

}  // namespace blip::dwarf
