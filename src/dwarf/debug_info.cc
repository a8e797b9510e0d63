// SPDX-License-Identifier: MIT
#include "dwarf/debug_info.h"

#include "dwarf/function_scope.h"
#include "dwarf/inlined.h"
#include "dwarf/module.h"

namespace blip::dwarf {

DebugInfo::DebugInfo(std::unique_ptr<Module> module) : module_(std::move(module)) {}
DebugInfo::DebugInfo(DebugInfo&&) noexcept = default;
DebugInfo& DebugInfo::operator=(DebugInfo&&) noexcept = default;
DebugInfo::~DebugInfo() = default;

Result<DebugInfo> DebugInfo::open(const DebugImages& images) {
  TRY(auto module, Module::open(images));
  return DebugInfo(std::move(module));
}

std::unique_ptr<script::Scope> DebugInfo::scope_at(const Site& site) {
  return std::make_unique<FunctionScope>(*module_, site);
}

std::vector<InlinedInstance> DebugInfo::inlined_instances(const InlinedName& name) {
  return find_inlined(*module_, name);
}

std::unique_ptr<script::Scope> DebugInfo::scope_of(const InlinedInstance& instance, const Site& site) {
  Site at = site;
  at.begins_inlined = site.pc == instance.pc;
  return std::make_unique<FunctionScope>(*module_, at, reinterpret_cast<const void*>(instance.key));
}

std::optional<uint64_t> DebugInfo::executable_tls_offset() const { return module_->executable_tls_offset(); }

const std::string& DebugInfo::index_note() const { return module_->index_note(); }

}  // namespace blip::dwarf
