// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/addr.h"
#include "base/result.h"
#include "probe/code/module.h"
#include "proc/files/memory.h"

namespace blip::probe {

// The moment in the start of a program at which all it needs is in place, so that everything can be probed.
class Milestone {
 public:
  enum class Kind {
    kLibrariesReady,  // the loader has mapped and relocated all libraries; no constructor has run
    kEntry,           // the program's own entry: the loader is unknown, constructors of libraries have run
    kMain,            // main() of a static program: libc has set up its threads; constructors have run
  };

  // For a program held at its first instruction; `modules` is what is mapped there: the executable and, if
  // it has one, its loader. None: a static program without a known main().
  static std::optional<Milestone> find(std::span<const Module> modules);

  Kind kind() const { return kind_; }
  // The program comes by here more than once.
  TargetAddr addr() const { return addr_; }
  // To be asked each time it does, before the instruction: is it there?
  Result<bool> reached(const proc::Memory& memory);

  // True if code of the module, one of those given to find(), can run before the milestone.
  bool runs_before(const Module& module) const;

 private:
  Milestone(Kind kind, TargetAddr addr) : kind_(kind), addr_(addr) {}

  static std::optional<Milestone> of_loader(const Module& executable, const Module& loader);

  Kind kind_;
  TargetAddr addr_;
  // glibc's struct r_debug, and the copy an executable that names it gets (a copy relocation).
  std::optional<TargetAddr> debug_;
  std::optional<TargetAddr> debug_copy_;
  bool seen_adding_ = false;
};

// The function that the loader of a process calls whenever it has changed its list of libraries, and before
// it does: after mapping, in glibc before relocation and constructors.
struct LoaderHook {
  size_t module = 0;  // index into the modules
  elf::Function function;
};
std::optional<LoaderHook> find_loader_hook(std::span<const Module> modules);

// True if the loader of a running program has done its work: all libraries that it names are there, so that
// the program can be probed like any other. Also true where that cannot be known.
bool libraries_ready(std::span<const Module> modules, const proc::Memory& memory);

}  // namespace blip::probe
