// SPDX-License-Identifier: MIT
// How many function entries of a file the ladder's steps (a) to (c) can patch: blip_coverage FILE... prints
// one JSON object per file, with -v also the reasons of refusal. Functions of stripped files are counted by
// their unwind tables.
#include <fmt/core.h>

#include <chrono>
#include <cstring>
#include <map>
#include <string>

#include "probe/functions.h"
#include "probe/plan.h"

namespace {

using namespace blip;

int report(const char* path, bool verbose) {
  auto module = probe::Module::of_file(path);
  auto all = module ? probe::all_functions(*module) : Result<std::vector<elf::Function>>(module.error());
  if (!all) {
    fmt::print(stderr, "blip_coverage: {}: {}\n", path, all.error().message());
    return 1;
  }
  std::vector<elf::Function> functions;
  size_t nameless = 0;
  for (const elf::Function& f : *all) {
    if (f.is_ifunc || f.is_cold) continue;
    functions.push_back(f);
    nameless += f.is_nameless;
  }

  const auto begin = std::chrono::steady_clock::now();
  const auto sites = probe::plan_entries(*module, functions);
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  size_t steps[3] = {};
  std::map<std::string, size_t> reasons;
  for (const probe::SitePlan& site : sites) {
    if (site.refused()) {
      // Addresses differ, the cause is the same.
      ++reasons[site.refusal.substr(0, site.refusal.find("0x"))];
    } else {
      ++steps[static_cast<size_t>(site.window.step)];
    }
  }
  const size_t armed = steps[0] + steps[1] + steps[2];
  fmt::print(
      "{{\"file\":\"{}\",\"functions\":{},\"nameless\":{},\"armed\":{},\"nop\":{},\"single\":{},\"window\":{}"
      ","
      "\"plan_ms\":{:.1f}}}\n",
      path, sites.size(), nameless, armed, steps[0], steps[1], steps[2], ms);
  if (verbose)
    for (const auto& [reason, n] : reasons) fmt::print(stderr, "{:6} {}\n", n, reason);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  bool verbose = false;
  int failed = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "-v") == 0) {
      verbose = true;
    } else {
      failed |= report(argv[i], verbose);
    }
  }
  return failed;
}
