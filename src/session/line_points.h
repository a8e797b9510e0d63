// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "probe/module.h"
#include "probe/site.h"
#include "session/options.h"

namespace blip::session {

struct ModulePoint {
  size_t module = 0;  // index into the modules
  probe::Point point;
};

// Every instruction where the source line begins, in all modules that were made from the file. Errors say
// what would do: the nearest lines with code, files of a similar name, where debugging information is to be
// had.
Result<std::vector<ModulePoint>> find_line(const ProbeRequest& request,
                                           std::span<const probe::Module> modules);

}  // namespace blip::session
