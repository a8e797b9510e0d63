// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "base/mapping.h"
#include "base/result.h"
#include "perf/sample.h"
#include "probe/code/module.h"
#include "session/symbolize/unwind_tables.h"
#include "unwind/stacks.h"

namespace blip::session {

// Walks up the stacks that samples have copies of, by the unwind tables of the process's files. Nothing is read of the process.
class SampledStacks {
 public:
  // `vdso`: the process has one.
  static Result<std::unique_ptr<SampledStacks>> create(std::span<const probe::Module> modules,
                                                       std::optional<probe::Module> vdso);

  // These are the modules now, and this is blip's own code in the process.
  Status update(std::span<const probe::Module> modules, std::span<const AddrRange> pads = {}) {
    return tables_.update(modules, pads);
  }

  // The innermost frame first, at most `depth`. A stack that is larger than its copy ends with kUnreadable.
  unwind::Stack walk(const perf::Sample& sample, uint32_t depth) const;

 private:
  SampledStacks(std::span<const probe::Module> modules, std::optional<probe::Module> vdso)
      : tables_(modules, std::move(vdso)) {}

  UnwindTables tables_;
  Mapping arena_, stacks_;
};

}  // namespace blip::session
