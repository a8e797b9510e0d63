// SPDX-License-Identifier: MIT
// Static marks (elf/marks.h) in the modules of a process.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "elf/marks.h"
#include "elf/spec.h"
#include "probe/code/instructions.h"
#include "probe/code/module.h"
#include "probe/code/site.h"
#include "script/types/scope.h"
#include "session/plan/refusal.h"

namespace blip::session {

struct FoundMark {
  size_t module = 0;  // index into the modules
  probe::Point point;
  std::shared_ptr<const elf::Mark> mark;

  std::string name() const { return mark->provider + ':' + mark->name; }
};

struct FoundMarks {
  std::vector<FoundMark> found;  // by module, then by place
  std::vector<Refusal> refused;
};

// For somebody who asks several times. The modules must outlive it.
class MarkFinder {
 public:
  MarkFinder(std::span<const probe::Module> modules, probe::InstructionStarts& starts)
      : modules_(modules), starts_(starts) {}

  // Every place of every mark that the SPEC (elf/mark_spec.h) means, in all modules. An error that suggests
  // the nearest names if there is none.
  Result<FoundMarks> find(const elf::Spec& spec);

 private:
  const std::vector<elf::Mark>& marks_of(size_t module);
  Error nothing_matches(const elf::Spec& spec);

  std::span<const probe::Module> modules_;
  probe::InstructionStarts& starts_;
  std::map<size_t, std::vector<elf::Mark>> marks_;
};

// arg1, arg2, ...: of a mark of the module.
std::vector<script::Variable> arguments_of(const elf::Mark& mark, const probe::Module& module);
// As the assembler wrote them.
std::vector<std::string> operands_of(const elf::Mark& mark);

}  // namespace blip::session
