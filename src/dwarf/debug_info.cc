// SPDX-License-Identifier: MIT
#include "dwarf/debug_info.h"

#include "dwarf/debug_data.h"
#include "dwarf/function_scope.h"
#include "dwarf/inlined.h"

namespace blip::dwarf {

DebugInfo::DebugInfo(std::unique_ptr<DebugData> debug_data) : debug_data_(std::move(debug_data)) {}
DebugInfo::DebugInfo(DebugInfo&&) noexcept = default;
DebugInfo& DebugInfo::operator=(DebugInfo&&) noexcept = default;
DebugInfo::~DebugInfo() = default;

Result<DebugInfo> DebugInfo::open(const DebugImages& images) {
  TRY(auto debug_data, DebugData::open(images));
  return DebugInfo(std::move(debug_data));
}

std::unique_ptr<script::Scope> DebugInfo::scope_at(const CodeLocation& site) {
  return std::make_unique<FunctionScope>(*debug_data_, site);
}

std::vector<InlinedInstance> DebugInfo::inlined_instances(const InlinedName& name) {
  return find_inlined(*debug_data_, name);
}

std::unique_ptr<script::Scope> DebugInfo::scope_of(const InlinedInstance& instance,
                                                   const CodeLocation& site) {
  CodeLocation at = site;
  at.begins_inlined = site.pc == instance.pc;
  return std::make_unique<FunctionScope>(*debug_data_, at, reinterpret_cast<const void*>(instance.key));
}

std::optional<uint64_t> DebugInfo::executable_tls_offset() const {
  return debug_data_->executable_tls_offset();
}

const std::string& DebugInfo::index_note() const { return debug_data_->index_note(); }

}  // namespace blip::dwarf
