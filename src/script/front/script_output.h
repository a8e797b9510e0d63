// SPDX-License-Identifier: MIT
// The side of a front end that is there while its script runs: it shows what handlers print, in the words of its language, and
// says what their failures mean.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "script/blocks/blocks.h"
#include "script/blocks/world.h"
#include "script/run/interpreter.h"
#include "state/map.h"

namespace blip::script {

// Where a script's text goes. Both calls take whole or partial lines, and never block for long.
class Writer {
 public:
  virtual ~Writer() = default;
  virtual void write(std::string_view text) = 0;  // what the script prints
  virtual void warn(std::string_view line) = 0;   // one line for the user, without its end; on stderr
  // The same of the script's own words, which blip adds nothing to.
  virtual void write_error(std::string_view line) { warn(line); }
};

// What an Output may look at; all of it outlives the ScriptOutput. `program` grows when handlers are lowered at later places, which may
// add formats and maps: keep the reference, not parts of it.
struct OutputContext {
  World& world;
  Writer& writer;
  const Program& program;
  const std::vector<state::Map>& maps;
};

class ScriptOutput : public Sink {
 public:
  enum class Next : uint8_t {
    kGoOn,
    kEnd,  // the script ends: handlers of kError run in place of those of kEnd
  };
  // The handler of probes()[probe] failed, or defaults took the place of faults in it. `clock` is that of its hit.
  virtual Next told(size_t probe, const Outcome& outcome, uint64_t clock) = 0;
  // After the last handler: what is printed at the end although no handler prints it, and warnings with counts.
  virtual void end() = 0;
  // After that. `asked`: the script called exit() with it.
  virtual int exit_code(std::optional<uint64_t> asked) const { return static_cast<int>(asked.value_or(0)); }

  // The engine looks at exits itself.
  void exit(uint64_t) override {}
};

}  // namespace blip::script
