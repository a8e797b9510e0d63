// SPDX-License-Identifier: MIT
#include "probe/function_rules.h"

#include <algorithm>
#include <string_view>

namespace blip::probe {

std::string FunctionRules::refusal_of(const Point& point) const {
  if (point.function.is_ifunc)
    return "an IFUNC: what it stands for is chosen in the process, and not known here (nothing has bound it "
           "yet, or it is the vDSO's)";
  if (point.is_entry && point.function.is_cold) return "the cold part of a function is jumped to, not called";
  if (holds_rseq_section(point.function))
    return "the function contains a restartable sequence of the program's own";
  return "";
}

bool FunctionRules::holds_rseq_section(const elf::Function& f) const {
  return std::any_of(rseq_sections_.begin(), rseq_sections_.end(), [&](const elf::RseqSection& s) {
    return s.start < f.addr + f.size && f.addr < s.start + s.length;
  });
}

// Go's own packages hold chains of functions without a stack check (nosplit), of which the linker promises
// only that they fit. Others have such functions only as leaves, called with some 700 bytes to spare.
bool FunctionRules::runs_on_little_stack(const elf::Function& f) const {
  constexpr std::string_view kPackages[] = {"runtime", "runtime/internal", "internal",
                                            "syscall", "reflect",          "sync"};
  return is_go_ && std::any_of(std::begin(kPackages), std::end(kPackages), [&](std::string_view p) {
           return f.name.starts_with(p) && f.name.size() > p.size() &&
                  (f.name[p.size()] == '.' || f.name[p.size()] == '/');
         });
}

}  // namespace blip::probe
