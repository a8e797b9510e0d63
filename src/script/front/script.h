// SPDX-License-Identifier: MIT
// The seam between the languages of scripts and what runs them. A front end (src/bt, src/stap) parses a text into a Script. The
// session asks it which probes it wants, finds their places, and has each handler lowered to blocks (script/blocks/blocks.h)
// there: what a handler at a hit reads of the target depends on the place.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "script/blocks/blocks.h"
#include "script/front/script_output.h"
#include "script/names.h"
#include "script/run/interpreter.h"
#include "script/types/diagnostics.h"

namespace blip::script {

// One probe point, with aliases and macros of its language resolved.
struct WantedProbe {
  enum class Kind : uint8_t {
    kBegin,
    kEnd,
    kError,    // after a handler has failed, in place of kEnd
    kNever,    // only checked
    kTimer,    // every `period`
    kProfile,  // of each thread, every `period` of its CPU time
    kSignal,   // blip itself gets signal `number`
    kProcessBegin,
    kProcessEnd,
    kThreadBegin,
    kThreadEnd,
    kFunction,
    kReturn,
    kInstruction,  // `name` + `offset`, or the file's address `offset` without a name
    kLine,
    kMark,  // `name` is PROVIDER:NAME
    kLabel,
  } kind = Kind::kBegin;
  std::string module;  // a path or a basename (with or without .so...), may be a glob; empty: the executable
  std::string name;    // may be a glob
  std::string label;   // of kLabel
  std::string file;    // of kLine, and of functions that are named with their source file
  uint32_t line = 0;
  std::optional<uint64_t> offset;
  enum class Copies : uint8_t { kAll, kOnlyInlined, kNotInlined } copies = Copies::kAll;
  std::chrono::nanoseconds period{};
  int number = 0;                      // a signal, or the process of kProcess...; 0: any
  bool may_be_missing = false;         // that nothing matches is no error
  std::optional<uint32_t> instead_of;  // only if nothing matches probes()[instead_of]
  bool uses_stack = false;             // its handler has BlockOp::kStack; without it, that is a fault
  Range range{};                       // in the source, for errors
};

// Only blip makes the others happen: their handlers run without a record.
constexpr bool has_hit(WantedProbe::Kind kind) { return kind >= WantedProbe::Kind::kFunction; }

// A place at which a handler is to run.
class HitSite {
 public:
  virtual ~HitSite() = default;
  // What names mean there. Whoever asks has the handler lowered for each place of the probe; else it is lowered once.
  virtual const HitScopes& scopes() = 0;
};

struct Lowered {
  Function function;  // `at hit`, or `at blip` for probes without a hit
  HitProgram
      kept{};  // of returns: its outputs are computed at the entry of the call, and are kEntryValue 0, 1, ...
};

// A parsed script. What is wrong with it as a whole has been said when it was parsed.
class Script {
 public:
  virtual ~Script() = default;

  virtual const std::vector<WantedProbe>& probes() const = 0;

  // Makes the handler of probes()[probe] at `site` (null: of a probe without a hit). Maps, formats, texts and functions that it
  // needs are added to `program`; what is there does not change. The handler itself is not added. An error shows where it is in
  // the source. The session calls it for probes without a hit first, in their order.
  virtual Result<Lowered> lower(size_t probe, HitSite* site, Program& program) = 0;

  virtual RunLimits limits() const = 0;

  // Shows what the script prints. Called once, before the first handler runs.
  virtual std::unique_ptr<ScriptOutput> output(const OutputContext& context) = 0;

  // How the language writes a probe at one place: for -l and -L.
  virtual std::string point_at(size_t /*probe*/, const CodeName& place) const {
    return place.module + ":" + place.function;
  }

  // True if the script ends when its kBegin handlers are done and there is no other probe but kEnd and kError.
  virtual bool ends_after_begin() const { return false; }
};

}  // namespace blip::script
