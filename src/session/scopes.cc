// SPDX-License-Identifier: MIT
#include "session/scopes.h"

#include <fmt/core.h>

#include "script/no_debug_scope.h"
#include "session/debug_images.h"

namespace blip::session {

namespace {

Result<dwarf::DebugInfo> open_debug_info(const probe::Module& module) {
  const std::vector<std::span<const uint8_t>> images = debug_images(module);
  dwarf::DebugImages parts{.name = module.basename(), .program = images.front()};
  if (images.size() > 1) parts.debug = images[1];
  auto info = dwarf::DebugInfo::open(parts);
  if (info || images.size() == 1) return info;
  parts.debug = {};  // the debug file has symbols only
  return dwarf::DebugInfo::open(parts);
}

std::string where_it_was_looked_for(const probe::Module& module) {
  return fmt::format(
      "{} has no debugging information (looked in the file itself, beside it, and under /usr/lib/debug)",
      module.basename());
}

}  // namespace

Scopes::Debug& Scopes::debug_of(size_t module) {
  const auto [entry, is_new] = debug_.try_emplace(module);
  Debug& debug = entry->second;
  if (!is_new) return debug;
  auto info = open_debug_info(modules_[module]);
  if (info) {
    debug.info.emplace(*std::move(info));
  } else {
    debug.missing = where_it_was_looked_for(modules_[module]);
  }
  return debug;
}

std::unique_ptr<script::Scope> Scopes::at(const Target& target) {
  const probe::Module& module = modules_[target.module];
  Debug& debug = debug_of(target.module);
  const bool is_entry = target.point.addr == target.point.function.addr;
  if (!debug.info) {
    using At = script::NoDebugScope::At;
    return std::make_unique<script::NoDebugScope>(target.point.function.name,
                                                  is_entry ? At::kEntry : At::kElsewhere, debug.missing);
  }
  dwarf::Site site{.pc = target.point.addr, .is_entry = is_entry, .load_bias = module.bias()};
  if (module.is_executable()) site.tls_offset = debug.info->executable_tls_offset();
  return debug.info->scope_at(site);
}

}  // namespace blip::session
