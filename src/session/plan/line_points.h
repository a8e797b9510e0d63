// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "dwarf/lines/line_search.h"
#include "probe/code/instructions.h"
#include "probe/code/module.h"
#include "probe/code/site.h"
#include "session/plan/options.h"

namespace blip::session {

struct ModulePoint {
  size_t module = 0;  // index into the modules
  probe::Point point;
};

// Every instruction where a source line begins, in all modules that were made from the file. Errors say
// what would do: the nearest lines with code, files of a similar name, where debugging information is to be
// had.
class LinePoints {
 public:
  // Looks for all lines at once, because reading line tables takes time. The modules must outlive it.
  LinePoints(std::span<const ProbeRequest> lines, std::span<const probe::Module> modules,
             probe::InstructionStarts& starts);

  // Returns the points of one of these lines, by its index.
  Result<std::vector<ModulePoint>> of(size_t line) const;

 private:
  std::vector<ProbeRequest> lines_;
  std::span<const probe::Module> modules_;
  probe::InstructionStarts& starts_;
  std::vector<std::optional<std::vector<dwarf::LineSearch>>>
      searches_;  // by module; none: it has no line tables
};

}  // namespace blip::session
