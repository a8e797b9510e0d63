// SPDX-License-Identifier: MIT
#include "session/debug_store.h"

#include <fmt/core.h>

#include "session/debug_images.h"
#include "session/trusted_path.h"

namespace blip::session {

namespace {

Result<dwarf::DebugInfo> open_debug_info(const probe::Module& module, bool may_open_parts) {
  const std::vector<std::span<const uint8_t>> images = debug_images(module);
  dwarf::DebugImages parts{.name = module.basename(), .program = images.front()};
  if (images.size() > 1) parts.debug = images[1];
  parts.alternate = alternate_image(module);
  if (may_open_parts) parts.may_open = is_ours_alone;
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

ModuleDebug& DebugStore::of(const probe::Module& module) {
  const auto known = entries_.find(module.identity());
  if (known != entries_.end()) return known->second.debug;
  ModuleDebug& debug = entries_.emplace(module.identity(), Entry{module, {}}).first->second.debug;
  auto info = open_debug_info(module, shares_root_);
  if (info) {
    debug.info.emplace(*std::move(info));
  } else {
    debug.missing = where_it_was_looked_for(module);
  }
  return debug;
}

}  // namespace blip::session
