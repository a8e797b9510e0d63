// SPDX-License-Identifier: MIT
// How many function entries of a file the ladder's steps (a) to (c) can patch: blip_coverage FILE... prints
// one JSON object per file, with -v also the reasons of refusal.
#include <fmt/core.h>

#include <chrono>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "probe/plan.h"

namespace {

using namespace blip;

int report(const char* path, bool verbose) {
  auto file = elf::ElfFile::open(path);
  if (!file) {
    fmt::print(stderr, "blip_coverage: {}: {}\n", path, file.error().message());
    return 1;
  }
  const probe::Module module(*std::move(file), path, 0, true);
  auto symbols = module.symbols();
  if (!symbols) return 1;
  std::vector<elf::Function> functions;
  std::set<FileAddr> seen;
  for (const elf::Function& f : (*symbols)->functions())
    if (!f.is_ifunc && !f.is_cold && seen.insert(f.addr).second) functions.push_back(f);

  const auto begin = std::chrono::steady_clock::now();
  const auto sites = probe::plan_entries(module, functions);
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
      "{{\"file\":\"{}\",\"functions\":{},\"armed\":{},\"nop\":{},\"single\":{},\"window\":{},\"plan_ms\":{:."
      "1f}}}\n",
      path, sites.size(), armed, steps[0], steps[1], steps[2], ms);
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
