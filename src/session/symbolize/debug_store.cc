// SPDX-License-Identifier: MIT
#include "session/symbolize/debug_store.h"

#include <fmt/core.h>

#include <utility>

#include "elf/search_root.h"
#include "session/symbolize/debug_images.h"
#include "session/symbolize/debuginfod.h"
#include "session/symbolize/trusted_path.h"

namespace blip::session {

namespace {

dwarf::DebugImages local_images(const probe::Module& module, bool may_open_parts,
                                const Result<FileCache>& files) {
  const std::vector<std::span<const uint8_t>> images = debug_images(module);
  dwarf::DebugImages parts{.name = module.basename(), .program = images.front()};
  if (images.size() > 1) parts.debug = images[1];
  parts.alternate = alternate_image(module);
  if (may_open_parts) parts.may_open = is_ours_alone;
  if (files) parts.cache.files = &*files;
  return parts;
}

Result<dwarf::DebugInfo> open_debug_info(dwarf::DebugImages parts) {
  auto info = dwarf::DebugInfo::open(parts);
  if (info || parts.debug.empty()) return info;
  parts.debug = {};  // the debug file has symbols only
  return dwarf::DebugInfo::open(parts);
}

std::string where_it_was_looked_for(const probe::Module& module) {
  return fmt::format("{} has no debugging information (looked in the file itself, beside it, and under {})",
                     module.basename(), elf::kDebugDirectory);
}

}  // namespace

void DebugStore::open(Entry& entry) const {
  auto info = open_debug_info(local_images(entry.module, shares_root_, files_));
  if (info) {
    entry.debug.info.emplace(*std::move(info));
  } else {
    entry.debug.missing = where_it_was_looked_for(entry.module);
  }
}

void DebugStore::fetch(Entry& entry) const {
  const std::string id = entry.module.file().build_id();
  if (std::exchange(entry.was_asked_for, true) || id.empty() || !may_ask_debuginfod()) return;
  auto fetched = ask_debuginfod(id, entry.module.basename(), stop_);
  if (fetched) {
    entry.fetched.emplace(*std::move(fetched));
    dwarf::DebugImages parts = local_images(entry.module, shares_root_, files_);
    parts.debug = entry.fetched->file_bytes(FileOffset(0), entry.fetched->size());
    if (auto info = open_debug_info(std::move(parts))) entry.debug.info.emplace(*std::move(info));
  } else {
    entry.debug.missing += "; debuginfod: " + fetched.error().message();
  }
}

ModuleDebug& DebugStore::of(const probe::Module& module, bool may_fetch) {
  const std::pair<const void*, bool> key(module.identity(), shares_root_);
  auto known = entries_.find(key);
  if (known == entries_.end()) {
    known = entries_.emplace(key, Entry{.module = module}).first;
    open(known->second);
  }
  Entry& entry = known->second;
  if (!entry.debug.info && may_fetch) fetch(entry);
  return entry.debug;
}

std::vector<std::string> DebugStore::notes() const {
  std::vector<std::string> notes;
  bool has_info = false;
  for (const auto& [identity, entry] : entries_) {
    has_info |= entry.debug.info.has_value();
    if (entry.debug.info && !entry.debug.info->index_note().empty())
      notes.push_back(entry.module.basename() + ": " + entry.debug.info->index_note());
  }
  if (has_info && !files_) notes.push_back("no index of names is kept: " + files_.error().message());
  return notes;
}

}  // namespace blip::session
