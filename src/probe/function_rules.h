// SPDX-License-Identifier: MIT
// What speaks against probing a function as a whole.
#pragma once

#include <string>
#include <vector>

#include "elf/rseq_sections.h"
#include "probe/module.h"
#include "probe/site.h"

namespace blip::probe {

class FunctionRules {
 public:
  explicit FunctionRules(const Module& module)
      : is_go_(module.file().is_go()), rseq_sections_(elf::rseq_sections(module.file())) {}

  // Why no point of its function can be probed; empty: some can.
  std::string refusal_of(const Point& point) const;
  // Whether a pad might not find room on the stack, unless the function has made sure of it.
  bool runs_on_little_stack(const elf::Function& f) const;

 private:
  bool holds_rseq_section(const elf::Function& f) const;

  bool is_go_;
  std::vector<elf::RseqSection> rseq_sections_;
};

}  // namespace blip::probe
