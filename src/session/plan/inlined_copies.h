// SPDX-License-Identifier: MIT
// Functions that a compiler has put into those that call them: what a name means beside the functions that
// have a symbol.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dwarf/debug_info.h"
#include "elf/spec.h"
#include "probe/code/module.h"
#include "probe/code/resolve.h"
#include "probe/code/site.h"
#include "session/plan/refusal.h"
#include "session/symbolize/debug_store.h"

namespace blip::session {

struct InlinedCopy {
  size_t module = 0;  // index into the modules
  probe::Point point;
  dwarf::InlinedInstance instance;

  // "f (inlined in g)"
  std::string name() const;
};

struct InlinedCopies {
  std::vector<InlinedCopy> found;
  std::vector<Refusal> refused;

  // Returns the modules in which the SPEC's functions that are called are looked for beside these: what is
  // inlined in the executable is not looked for in libraries.
  std::span<const probe::Module> where_called(const elf::Spec& spec,
                                              std::span<const probe::Module> modules) const;
};

// Looks in the modules that the SPEC of a function means: the executable or, if nothing is found there, the
// libraries. A pattern means none: it would be every little function of every header.
InlinedCopies find_inlined_copies(const elf::Spec& spec, std::span<const probe::Module> modules,
                                  const probe::ResolveContext& context, DebugStore& debug);

// Returns the name that debugging information may have for the function: the last part of its name, without
// template arguments.
std::string identifier_of(std::string_view name);

}  // namespace blip::session
