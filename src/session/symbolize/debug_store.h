// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file_cache.h"
#include "base/stop.h"
#include "dwarf/debug_info.h"
#include "probe/code/module.h"

namespace blip::session {

struct ModuleDebug {
  std::optional<dwarf::DebugInfo> info;
  std::string missing;  // why there is none
};

// The debugging information of modules, opened when it is asked for first and shared by the processes of a
// trace.
class DebugStore {
 public:
  // `stop` outlives it; null: nobody wants to end blip at once.
  explicit DebugStore(StopRequest* stop = nullptr) : stop_(stop) {}

  // `may_fetch`: what is not on this machine may be asked for elsewhere, if the user has said so.
  ModuleDebug& of(const probe::Module& module, bool may_fetch = true);

  // How names are found in what was opened, for users who ask.
  std::vector<std::string> notes() const;

  // True if paths that debugging information names (.dwo) mean the same to blip and to the process that is
  // asked for next. Otherwise none of them is opened.
  void share_root(bool shares) { shares_root_ = shares; }

 private:
  struct Entry {
    probe::Module module;                 // whose file it is read from
    std::optional<elf::ElfFile> fetched;  // by debuginfod
    bool was_asked_for = false;
    ModuleDebug debug;
  };

  void open(Entry& entry) const;
  void fetch(Entry& entry) const;

  StopRequest* stop_;
  bool shares_root_ = false;
  Result<FileCache> files_ = FileCache::of_user();
  // By the module's identity, and whether it was opened for a process that shares blip's root.
  std::map<std::pair<const void*, bool>, Entry> entries_;
};

}  // namespace blip::session
