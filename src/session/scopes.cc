// SPDX-License-Identifier: MIT
#include "session/scopes.h"

#include "script/no_debug_scope.h"

namespace blip::session {

std::unique_ptr<script::Scope> Scopes::at(const Target& target) {
  const probe::Module& module = modules_[target.module];
  ModuleDebug& debug = store_.of(module);
  const bool is_entry = target.point.addr == target.point.function.addr;
  if (!debug.info) {
    using At = script::NoDebugScope::At;
    return std::make_unique<script::NoDebugScope>(target.point.function.name,
                                                  is_entry ? At::kEntry : At::kElsewhere, debug.missing);
  }
  dwarf::Site site{.pc = target.point.addr, .is_entry = is_entry, .load_bias = module.bias()};
  if (module.is_executable()) site.tls_offset = debug.info->executable_tls_offset();
  return target.instance ? debug.info->scope_of(*target.instance, site) : debug.info->scope_at(site);
}

}  // namespace blip::session
