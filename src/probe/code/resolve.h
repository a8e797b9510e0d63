// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "elf/function_index.h"
#include "elf/spec.h"
#include "probe/code/instructions.h"
#include "probe/code/module.h"

namespace blip::probe {

// A function the user asked for.
struct FunctionTarget {
  size_t module = 0;   // index into the modules
  size_t request = 0;  // index into the specs
  elf::Function function;
  std::string name;  // the event's: demangled, without parameters
};

// The functions of modules by the names that these specs have, for those who ask for many: looked for when a
// module is first asked for. The modules must outlive it.
class NameIndexes {
 public:
  void want(const elf::Spec& spec);
  elf::FunctionIndex& of(const elf::SymbolTable& symbols);

 private:
  std::vector<std::string> names_;
  std::unordered_map<const elf::SymbolTable*, elf::FunctionIndex> indexes_;
};

// Resolving may look at these beside the files.
struct ResolveContext {
  const proc::Memory* memory = nullptr;          // of the target; null: there is none, IFUNCs stay unresolved
  std::span<const UnreadableModule> unreadable;  // named when a SPEC means one of them
  std::span<const proc::Map> maps;  // of the target, to say what is at an address that is no code
  bool hints = true;                // errors tell the nearest names, which takes time
  bool any_scope = true;            // where nothing is called `f`, it means `ns::f`
  bool clones = true;               // `f` means f.constprop.0 too
  NameIndexes* names = nullptr;     // of somebody who asks many times
  InstructionStarts* starts = nullptr;
};

// All functions that match, in the order of the specs and then of addresses; for each spec one per address,
// of several names the one preferred_name() likes best. A function that several specs mean is found for each.
// For an IFUNC the functions that
// were chosen for it, under its name; if they are not known, the IFUNC itself, which plan_entries() refuses.
// A spec that matches nothing is an error that suggests the nearest names.
Result<std::vector<FunctionTarget>> resolve_functions(std::span<const elf::Spec> specs,
                                                      std::span<const Module> modules,
                                                      const ResolveContext& context = {});

}  // namespace blip::probe
