// SPDX-License-Identifier: MIT
#include "session/listing.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>
#include <tuple>

#include "base/parallel.h"
#include "probe/coverage.h"
#include "probe/functions.h"
#include "probe/plan.h"
#include "probe/resolve.h"
#include "proc/maps.h"
#include "proc/memory.h"
#include "proc/private_pages.h"
#include "proc/process.h"
#include "session/listing_details.h"
#include "session/plan_options.h"

namespace blip::session {

namespace {

constexpr size_t kNamesPerPiece = 512;
// The words of probe::Instrumentation for the same.
constexpr char kChangedInMemory[] = "the code in memory differs from the file";

TargetAddr page_of(TargetAddr a) { return TargetAddr(a.value / proc::kPageSize * proc::kPageSize); }

static_assert(static_cast<size_t>(PatchStep::kTrap) == static_cast<size_t>(x86::Step::kTrap));

PatchStep step_of(const probe::PlannedProbe& probe) {
  return probe.refused() ? PatchStep::kRefused : static_cast<PatchStep>(probe.step);
}

class Lister {
 public:
  explicit Lister(const ListRequest& request) : request_(request) {}

  Result<Listing> run() {
    TRY_OK(request_.pid != 0 ? open_process() : open_file());
    plan_options_.verdict_only = true;
    TRY_OK(request_.spec ? find_matching() : find_all());
    for (size_t m = 0; m < listing_.modules.size(); ++m) judge(m);
    if (request_.details) add_details(listing_);
    return std::move(listing_);
  }

 private:
  Status open_process();
  Status open_file();
  Status find_matching();
  Status find_all();
  void add(size_t module, const elf::Function& function, std::string name);
  void judge(size_t module);
  void compare_with_memory(const probe::Module& module, probe::ModulePlan& plan);
  x86::TrampolineSpace space_of(const probe::Module& module) const;

  const ListRequest& request_;
  Listing listing_;
  std::optional<proc::Memory> memory_;
  std::vector<probe::UnreadableModule> unreadable_;
  probe::PlanOptions plan_options_;
  std::vector<elf::Function> found_;  // as listing_.functions
};

Status Lister::open_process() {
  TRY(const proc::Process process, proc::Process::open(request_.pid));
  TRY(memory_, proc::Memory::open_read_only(request_.pid));
  TRY(const std::vector<proc::Map> maps, proc::read_maps(request_.pid));
  TRY(probe::LoadedModules loaded, probe::load_modules(process, *memory_, maps));
  listing_.modules = std::move(loaded.modules);
  unreadable_ = std::move(loaded.unreadable);
  for (const probe::UnreadableModule& m : unreadable_) listing_.notes.push_back(m.text());
  TRY(plan_options_, plan_options_of(request_.pid, listing_.modules));
  return {};
}

Status Lister::open_file() {
  TRY(probe::Module module, probe::Module::of_file(request_.file));
  listing_.modules.push_back(std::move(module));
  return {};
}

void Lister::add(size_t module, const elf::Function& function, std::string name) {
  listing_.functions.push_back({.name = std::move(name),
                                .mangled = function.name,
                                .address = listing_.modules[module].to_target(function.addr).value,
                                .size = function.size,
                                .module = module});
  found_.push_back(function);
}

Status Lister::find_matching() {
  elf::Spec spec = *request_.spec;
  // A file is all there is: a pattern need not say so.
  if (request_.pid == 0 && !spec.module && spec.kind != elf::SpecKind::kAddress) spec.module = "*";
  TRY(std::vector<probe::FunctionTarget> targets,
      probe::resolve_functions(std::span(&spec, 1), listing_.modules,
                               {memory_ ? &*memory_ : nullptr, unreadable_}));
  std::stable_sort(targets.begin(), targets.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.module, a.function.addr) < std::tuple(b.module, b.function.addr);
  });
  for (probe::FunctionTarget& target : targets) add(target.module, target.function, std::move(target.name));
  return {};
}

Status Lister::find_all() {
  const probe::Module& module = listing_.modules.front();
  TRY(const std::vector<elf::Function> all, probe::all_functions(module));
  if (all.empty())
    return Error(
        ErrorKind::kNotFound,
        fmt::format("{}: no function is known: it has neither symbols nor unwind tables", module.path()));
  listing_.functions.reserve(all.size());
  found_.reserve(all.size());
  for (const elf::Function& function : all) add(0, function, {});
  parallel_pieces(all.size(), kNamesPerPiece, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) listing_.functions[i].name = probe::display_name(module, all[i]);
  });
  return {};
}

void Lister::judge(size_t m) {
  const std::span<ListedFunction> functions = listing_.of_module(m);
  if (functions.empty()) return;
  const probe::Module& module = listing_.modules[m];
  const std::span mine(found_.data() + (functions.data() - listing_.functions.data()), functions.size());
  std::vector<probe::Point> points;
  for (const elf::Function& f : mine) points.push_back({.addr = f.addr, .is_entry = true, .function = f});
  const probe::Module loaded = request_.pid ? module : probe::assume_loaded(module);
  x86::TrampolineSpace space = space_of(loaded);
  probe::ModulePlan plan = probe::plan_points(loaded, points, plan_options_, space);
  if (memory_) compare_with_memory(module, plan);
  for (size_t i = 0; i < plan.probes.size(); ++i) {
    ListedFunction& function = functions[i];
    function.step = step_of(plan.probes[i]);
    function.refusal = std::move(plan.probes[i].refusal);
    if (function.mangled == function.name) function.mangled = {};
  }
}

x86::TrampolineSpace Lister::space_of(const probe::Module& module) const {
  if (request_.pid == 0) return probe::assumed_space(module);
  auto maps = proc::read_maps(request_.pid);
  return {maps ? proc::free_ranges(*maps) : std::vector<AddrRange>(), probe::kMaxTrampolinePages};
}

// As arming would find: code that somebody has changed in memory is left alone.
void Lister::compare_with_memory(const probe::Module& module, probe::ModulePlan& plan) {
  std::vector<TargetAddr> changed;
  for (const AddrRange& text : module.text()) {
    auto pages = proc::private_pages(request_.pid, text);
    if (!pages) {
      listing_.notes.push_back(fmt::format("{}: not compared with the memory of the process: {}",
                                           module.path(), pages.error().message()));
      return;
    }
    changed.insert(changed.end(), pages->begin(), pages->end());
  }
  if (changed.empty()) return;
  for (probe::PlannedProbe& probe : plan.probes) {
    if (probe.refused()) continue;
    const probe::Site& site = plan.sites[probe.site];
    if (!std::binary_search(changed.begin(), changed.end(), page_of(site.rewrite.start))) continue;
    std::vector<uint8_t> bytes(site.bytes.size());
    if (!memory_->read(site.rewrite.start, bytes) || bytes != site.bytes) probe.refusal = kChangedInMemory;
  }
}

}  // namespace

std::span<ListedFunction> Listing::of_module(size_t module) {
  const auto before = [](const ListedFunction& f, size_t m) { return f.module < m; };
  const auto begin = std::lower_bound(functions.begin(), functions.end(), module, before);
  return {begin, std::lower_bound(begin, functions.end(), module + 1, before)};
}

Result<Listing> list_functions(const ListRequest& request) { return Lister(request).run(); }

}  // namespace blip::session
