// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "session/process/late_probes.h"
#include "session/symbolize/unwind_tables.h"
#include "session/watch/library_watch.h"
#include "session/watch/loader_watch.h"

namespace blip::session {

// Follows the libraries that a traced process loads and unloads. See docs/design/lifecycle.md.
class LateLibraries {
 public:
  // `stacks`: null unless hits walk up stacks. All that is given outlives this.
  LateLibraries(const LateProbes::Trace& trace, const ProcessPlan& plan, UnwindTables* stacks);

  // Once the target is armed. If there is a probe on the loader's hook, then from here on a thread that loads a
  // library waits until it is probed. False: libraries are probed some time after they came.
  bool hold_loader(bool has_hook);
  // From here on nothing waits.
  void let_loader_go() { loader_.reset(); }
  // Arms what has been loaded since the last look, forgets what has gone.
  void look(const LibraryHooks& hooks);

  // To poll(2): readable when the loader waits for a look; negative if it never does.
  int fd() const { return loader_ ? loader_->fd() : -1; }
  // Returns the files with code that were there at the last look.
  std::vector<probe::Module> modules() const { return watch_.modules(); }

 private:
  bool is_filtered() const;
  void tell_elsewhere(const LibraryHooks& hooks);
  void compare(bool loader_waits, const LibraryHooks& hooks);
  std::vector<CodeFile> fresh(const std::vector<CodeFile>& came, const LibraryHooks& hooks);
  void update_stacks(uint64_t most, const LibraryHooks& hooks);

  TargetProcess& target_;
  ProcessNames& names_;
  UnwindTables* stacks_;
  LibraryWatch watch_;
  LateProbes probes_;
  std::optional<LoaderWatch> loader_;
  std::chrono::steady_clock::time_point loader_changed_{};
  uint32_t elsewhere_ = 0;  // changes of libraries in children
  bool told_elsewhere_ = false;
};

}  // namespace blip::session
