// SPDX-License-Identifier: MIT
// What `blip list` shows: functions, and what a probe on each would come to. Reads files and, of a process,
// what /proc tells and its memory; nothing is stopped, attached to or changed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "elf/spec.h"
#include "probe/code/module.h"
#include "session/list/listed_data.h"
#include "session/plan/options.h"
#include "x86/rewrite.h"

namespace blip::session {

// The one process of that name, as -n has it; an error that names them if there are several.
Result<pid_t> process_named(const std::string& name);

struct ListRequest {
  pid_t pid = 0;                  // 0: `file`
  std::string file;               // an executable or a library, at its own addresses
  std::optional<elf::Spec> spec;  // none: every function of the executable, or of the file
  bool details = false;           // aliases and source lines too
  bool no_inline = false;         // without inlined copies
  MovedFaults moved_faults = MovedFaults::kAuto;
};

// Steps of the ladder (docs/design/patch_plan.md), as x86::Step has them, and none.
enum class PatchStep {
  kNop5,
  kInstruction,
  kWindow,
  kUpstream,
  kSpringboard,
  kPun,
  kPrefixedPun,
  kEvictNext,
  kEvictNeighbour,
  kTrap,
  kRefused,
};

PatchStep patch_step(x86::Step step);

struct ListedFunction {
  std::string name;          // demangled, without parameters; MODULE+0xADDR where no symbol names it
  std::string parameters{};  // of functions that have one name in one module: "(int) const"
  std::string_view mangled;  // as in the symbol table, empty if it is the same; lives as long as the Listing
  uint64_t address = 0;      // run-time address in a process, the file's own address in a file
  uint64_t size = 0;
  size_t module = 0;  // index into Listing::modules
  PatchStep step = PatchStep::kRefused;
  std::string refusal;       // of kRefused: why
  std::string inlined_in{};  // of a copy of an inlined function: whose code it is

  // With `details`:
  std::vector<std::string_view> aliases;  // other symbols at the same address, as in the symbol table
  std::string source_file;                // empty: not known
  uint32_t source_line = 0;
  ListedData data{};  // what can be seen there, if not too many functions are listed
};

// So many functions at most are shown with their data.
inline constexpr size_t kMostWithData = 200;

struct Listing {
  std::vector<probe::Module> modules;
  std::vector<ListedFunction> functions;  // by module, then by address
  std::vector<std::string> notes;         // what could not be looked at, for -v

  std::span<ListedFunction> of_module(size_t module);
};

// The same functions and verdicts that arming the SPEC would come to, except for what only shows when the
// process is stopped: a thread standing in the bytes to be replaced. A SPEC that matches nothing is an error
// that suggests the nearest names.
Result<Listing> list_functions(const ListRequest& request);

}  // namespace blip::session
