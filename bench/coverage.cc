// SPDX-License-Identifier: MIT
// How much of a file's code blip can patch by a jump, at addresses as the kernel would choose them:
// blip_coverage [--json] [-v] [--exits] FILE... For every file: each instruction alone, all of them at once,
// the entries of all functions, and functions with their entries and all exits (with --exits only these; -v
// names those that are not complete). Functions of stripped files are known by their unwind tables.
#include <fmt/core.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "probe/code/functions.h"
#include "probe/patch/coverage.h"
#include "probe/patch/plan.h"

namespace {

using namespace blip;

constexpr const char* kSteps[x86::kStepCount] = {
    "nop5", "insn",         "window",     "upstream",        "springboard",
    "pun",  "prefixed-pun", "evict-next", "evict-neighbour", "trap"};

struct Measured {
  const char* what;
  probe::Coverage coverage;
  double ms = 0;
  size_t pages = 0;  // of trampolines
};

template <typename Plan>
Measured measure(const char* what, const probe::Module& module, Plan plan) {
  x86::TrampolineSpace space = probe::assumed_space(module);
  const auto begin = std::chrono::steady_clock::now();
  Measured m{.what = what, .coverage = plan(space)};
  m.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  m.pages = space.pages();
  return m;
}

probe::Coverage entries(const probe::Module& module, const std::vector<elf::Function>& functions,
                        x86::TrampolineSpace& space) {
  std::vector<probe::Point> points;
  for (const elf::Function& f : functions)
    if (!f.is_cold) points.push_back({.addr = f.addr, .is_entry = true, .function = f});
  return probe::coverage_of(probe::plan_points(module, points, {}, space));
}

double percent(size_t part, size_t whole) {
  return whole ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

void print_json(const std::string& path, const Measured& m) {
  const probe::Coverage& c = m.coverage;
  fmt::print(
      "{{\"file\":\"{}\",\"what\":\"{}\",\"total\":{},\"jump\":{},\"refused\":{},\"ms\":{:.0f},\"pages\":{}",
      path, m.what, c.total, c.jumps(), c.refused(), m.ms, m.pages);
  for (size_t i = 0; i < x86::kStepCount; ++i) fmt::print(",\"{}\":{}", kSteps[i], c.steps[i]);
  fmt::print("}}\n");
}

void print_table(const Measured& m, bool verbose) {
  const probe::Coverage& c = m.coverage;
  fmt::print("  {:<12} {:>9} {:>8.3f} {:>7.0f} {:>6}", m.what, c.total, percent(c.jumps(), c.total), m.ms,
             m.pages);
  for (size_t i = 0; i + 1 < x86::kStepCount; ++i)
    fmt::print(" {:>{}.2f}", percent(c.steps[i], c.total), std::string_view(kSteps[i]).size());
  fmt::print("\n");
  if (!verbose) return;
  for (const auto& [reason, n] : c.refusals) fmt::print("    {:7} {}\n", n, reason);
}

int report(const std::string& path, bool json, bool verbose, bool exits_only) {
  auto file = probe::Module::of_file(path);
  auto all = file ? probe::all_functions(*file) : Result<std::vector<elf::Function>>(file.error());
  if (!all) {
    fmt::print(stderr, "blip_coverage: {}: {}\n", path, all.error().message());
    return 1;
  }
  const probe::Module module = probe::assume_loaded(*file);
  std::vector<elf::Function> functions;
  for (const elf::Function& f : *all)
    if (!f.is_ifunc) functions.push_back(f);
  if (!json) {
    fmt::print("{}\n  {:<12} {:>9} {:>8} {:>7} {:>6}", path, "", "total", "jump %", "ms", "pages");
    for (size_t i = 0; i + 1 < x86::kStepCount; ++i) fmt::print(" {}", kSteps[i]);
    fmt::print("\n");
  }
  const auto name = [&](const probe::RefusedInstruction& r) {
    if (verbose && !json) fmt::print("    {:#x} {}\n", r.addr.value, r.reason);
  };
  std::vector<Measured> rows;
  if (!exits_only) {
    for (const Measured& m :
         {measure("alone", module,
                  [&](auto& space) { return probe::coverage_alone(module, functions, {}, space); }),
          measure("together", module,
                  [&](auto& space) { return probe::coverage_together(module, functions, {}, space); }),
          measure("entries", module, [&](auto& space) { return entries(module, functions, space); })})
      rows.push_back(m);
  }
  rows.push_back(measure("exits", module, [&](auto& space) {
    return probe::coverage_of_exits(module, functions, {}, space, name);
  }));
  for (const Measured& m : rows) json ? print_json(path, m) : print_table(m, verbose);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  bool json = false, verbose = false, exits_only = false;
  int failed = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "-v") {
      verbose = true;
    } else if (word == "--json") {
      json = true;
    } else if (word == "--exits") {
      exits_only = true;
    } else {
      failed |= report(argv[i], json, verbose, exits_only);
    }
  }
  return failed;
}
