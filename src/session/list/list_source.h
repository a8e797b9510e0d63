// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "elf/spec.h"
#include "probe/code/module.h"
#include "probe/code/resolve.h"
#include "probe/patch/plan.h"
#include "proc/files/maps.h"
#include "proc/files/memory.h"
#include "session/list/listing.h"
#include "x86/trampoline_space.h"

namespace blip::session {

// The process or the file that a listing is about, opened for reading.
struct ListSource {
  std::vector<probe::Module> modules;
  std::optional<proc::Memory> memory;  // none: a file
  std::vector<proc::Map> maps;         // of a process
  std::vector<probe::UnreadableModule> unreadable;
  probe::PlanOptions plan_options;
  std::optional<x86::TrampolineSpace> space;  // where trampolines may go

  static Result<ListSource> open(const ListRequest& request);

  // The request's SPEC: a file is all there is, and a pattern need not say so.
  elf::Spec spec_of(const ListRequest& request) const;
  probe::ResolveContext context() const { return {memory ? &*memory : nullptr, unreadable, maps}; }
  // The module as it lies in the process; of a file, where the kernel might put it.
  probe::Module loaded(size_t m) const;
  // Names what could not be looked at.
  std::vector<std::string> notes() const;
};

}  // namespace blip::session
