// SPDX-License-Identifier: MIT
#include "probe/code/function_rules.h"

#include <algorithm>
#include <string_view>

#include "base/parallel.h"
#include "probe/code/fault_handlers.h"
#include "x86/flow/stack_pointer.h"

namespace blip::probe {

namespace {

constexpr size_t kFunctionsPerPiece = 64;

std::vector<FileRange> probed_inside(std::span<const Point> points) {
  std::vector<FileRange> functions;
  for (const Point& point : points)
    if (!point.is_entry && (functions.empty() || functions.back().begin != point.function.addr))
      functions.push_back(point.function.range());
  std::sort(functions.begin(), functions.end());
  functions.erase(std::unique(functions.begin(), functions.end()), functions.end());
  return functions;
}

std::vector<FileAddr> that_calculate_with_rsp(const Module& module, std::span<const FileRange> functions) {
  std::vector<char> calculates(functions.size());
  parallel_pieces(functions.size(), kFunctionsPerPiece, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      calculates[i] = x86::calculates_with_rsp(module.file().bytes(functions[i]));
  });
  std::vector<FileAddr> found;
  for (size_t i = 0; i < functions.size(); ++i)
    if (calculates[i]) found.push_back(functions[i].begin);
  return found;
}

}  // namespace

FunctionRules::FunctionRules(const Module& module, std::span<const Point> points)
    : module_(module),
      is_go_(module.file().is_go()),
      rseq_sections_(elf::rseq_sections(module.file())),
      without_stack_(that_calculate_with_rsp(module, probed_inside(points))) {}

std::string FunctionRules::refusal_of(const Point& point) const {
  if (point.function.is_ifunc)
    return "an IFUNC: what it stands for is chosen in the process, and not known here (nothing has bound it "
           "yet, or it is the vDSO's)";
  if (is_known_to_fault(module_, point.function))
    return "it may fault, and the program handles such faults itself";
  if (point.is_entry && point.function.is_cold) return "the cold part of a function is jumped to, not called";
  if (holds_rseq_section(point.function))
    return "the function contains a restartable sequence of the program's own";
  if (!point.is_entry && may_lack_a_stack(point.function))
    return "the function calculates with rsp as with any other register, and a pad needs a stack";
  return "";
}

bool FunctionRules::holds_rseq_section(const elf::Function& f) const {
  return std::any_of(rseq_sections_.begin(), rseq_sections_.end(), [&](const elf::RseqSection& s) {
    return s.start < f.addr + f.size && f.addr < s.start + s.length;
  });
}

bool FunctionRules::may_lack_a_stack(const elf::Function& f) const {
  return std::binary_search(without_stack_.begin(), without_stack_.end(), f.addr);
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
