// SPDX-License-Identifier: MIT
#include "session/list/listing.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>

#include "base/page.h"
#include "base/parallel.h"
#include "elf/demangle.h"
#include "probe/code/functions.h"
#include "probe/code/resolve.h"
#include "probe/patch/plan.h"
#include "proc/files/maps.h"
#include "proc/files/private_pages.h"
#include "proc/files/shared_root.h"
#include "session/list/list_source.h"
#include "session/list/listing_details.h"
#include "session/plan/inlined_copies.h"
#include "session/plan/scopes.h"
#include "session/symbolize/debug_store.h"

namespace blip::session {

namespace {

constexpr size_t kNamesPerPiece = 512;
// The words of probe::Instrumentation for the same.
constexpr char kChangedInMemory[] = "the code in memory differs from the file";

struct Found {
  ListedFunction listed;
  probe::Point point;
  std::shared_ptr<const dwarf::InlinedInstance> instance{};
};

class Lister {
 public:
  explicit Lister(const ListRequest& request) : request_(request) {}

  Result<Listing> run() {
    TRY(source_, ListSource::open(request_));
    listing_.modules = source_.modules;
    debug_.share_root(request_.pid == 0 || proc::shares_root(request_.pid));
    listing_.notes = source_.notes();
    source_.plan_options.verdict_only = true;
    TRY_OK(request_.spec ? find_matching() : find_all());
    sort();
    tell_overloads_apart();
    for (size_t m = 0; m < listing_.modules.size(); ++m) judge(m);
    if (request_.details) add_details(listing_);
    if (request_.details && request_.spec) add_data();
    return std::move(listing_);
  }

 private:
  Status find_matching();
  Status find_all();
  void add(size_t module, const elf::Function& function, std::string name);
  std::span<const probe::Module> add_copies(const elf::Spec& spec);
  void sort();
  void tell_overloads_apart();
  void judge(size_t module);
  void add_data();
  void compare_with_memory(const probe::Module& module, probe::ModulePlan& plan);

  const ListRequest& request_;
  Listing listing_;
  ListSource source_;
  DebugStore debug_;
  std::vector<Found> found_;  // as listing_.functions, until they are sorted
};

void Lister::add(size_t module, const elf::Function& function, std::string name) {
  found_.push_back(
      {{.name = std::move(name),
        .mangled = function.name,
        .address = listing_.modules[module].to_target(function.addr).value,
        .size = function.size,
        .module = module},
       {.addr = function.addr, .is_entry = true, .function = function, .shown = x86::Shown::nothing()}});
}

// Returns where the function may be called too.
std::span<const probe::Module> Lister::add_copies(const elf::Spec& spec) {
  InlinedCopies copies = find_inlined_copies(spec, listing_.modules, source_.context(), debug_);
  const auto where = copies.where_called(spec, listing_.modules);
  for (InlinedCopy& copy : copies.found)
    found_.push_back({{.name = copy.name(),
                       .mangled = {},
                       .address = listing_.modules[copy.module].to_target(copy.point.addr).value,
                       .size = copy.instance.size,
                       .module = copy.module,
                       .inlined_in = copy.instance.caller},
                      copy.point,
                      std::make_shared<dwarf::InlinedInstance>(std::move(copy.instance))});
  for (const Refusal& refusal : copies.refused)
    listing_.notes.push_back(fmt::format("{}: {}", refusal.probe, refusal.reason));
  return where;
}

Status Lister::find_matching() {
  const elf::Spec spec = source_.spec_of(request_);
  const std::span<const probe::Module> where = request_.no_inline ? listing_.modules : add_copies(spec);
  auto targets = probe::resolve_functions(std::span(&spec, 1), where, source_.context());
  if (!targets && found_.empty()) return targets.error();
  if (targets)
    for (probe::FunctionTarget& target : *targets)
      add(target.module, target.function, std::move(target.name));
  return {};
}

Status Lister::find_all() {
  const probe::Module& module = listing_.modules.front();
  TRY(const std::vector<elf::Function> all, probe::all_functions(module));
  if (all.empty())
    return Error(
        ErrorKind::kNotFound,
        fmt::format("{}: no function is known: it has neither symbols nor unwind tables", module.path()));
  found_.reserve(all.size());
  for (const elf::Function& function : all) add(0, function, {});
  parallel_pieces(all.size(), kNamesPerPiece, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) found_[i].listed.name = probe::display_name(module, all[i]);
  });
  return {};
}

void Lister::sort() {
  std::stable_sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
    return std::tuple(a.listed.module, a.point.addr) < std::tuple(b.listed.module, b.point.addr);
  });
  listing_.functions.reserve(found_.size());
  for (Found& found : found_) listing_.functions.push_back(std::move(found.listed));
}

void Lister::tell_overloads_apart() {
  for (size_t m = 0; m < listing_.modules.size(); ++m) {
    std::unordered_map<std::string_view, size_t> functions;  // of a name
    for (const ListedFunction& f : listing_.of_module(m)) functions[f.name] += f.inlined_in.empty() ? 1 : 0;
    for (ListedFunction& f : listing_.of_module(m)) {
      if (functions[f.name] < 2 || !f.inlined_in.empty() || !elf::is_mangled(f.mangled)) continue;
      const std::string all = elf::with_parameters(elf::demangle(f.mangled));
      if (all.starts_with(f.name)) f.parameters = all.substr(f.name.size());
    }
  }
}

void Lister::judge(size_t m) {
  const std::span<ListedFunction> functions = listing_.of_module(m);
  if (functions.empty()) return;
  std::vector<probe::Point> points;
  const ptrdiff_t first = functions.data() - listing_.functions.data();
  for (size_t i = 0; i < functions.size(); ++i)
    points.push_back(found_[static_cast<size_t>(first) + i].point);
  const probe::Module module = source_.loaded(m);
  probe::ModulePlan plan = probe::plan_points(module, points, source_.plan_options, *source_.space);
  if (source_.memory) compare_with_memory(module, plan);
  for (size_t i = 0; i < functions.size(); ++i) {
    ListedFunction& function = functions[i];
    probe::PlannedProbe& probe = plan.probes[i];
    function.step = probe.refused() ? PatchStep::kRefused : patch_step(probe.step);
    function.refusal = std::move(probe.refusal);
    if (function.mangled == function.name) function.mangled = {};
  }
}

void Lister::add_data() {
  if (found_.size() > kMostWithData) {
    listing_.notes.push_back(
        fmt::format("more than {} functions: their variables and types are not shown", kMostWithData));
    return;
  }
  Scopes scopes(listing_.modules, debug_);
  std::set<std::string> known, missing;
  for (size_t i = 0; i < found_.size(); ++i) {
    ListedFunction& listed = listing_.functions[i];
    const auto& instance = found_[i].instance;
    const auto scope = scopes.at({.module = listed.module, .point = found_[i].point, .instance = instance});
    listed.data = listed_data(*scope, instance ? instance->function : listed.name, known);
    if (std::string why = scope->what_is_missing(); !why.empty() && missing.insert(why).second)
      listing_.notes.push_back(std::move(why));
  }
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
    if (!std::binary_search(changed.begin(), changed.end(), page_begin(site.rewrite.start))) continue;
    std::vector<uint8_t> bytes(site.bytes.size());
    if (!source_.memory->read(site.rewrite.start, bytes) || bytes != site.bytes)
      probe.refusal = kChangedInMemory;
  }
}

}  // namespace

PatchStep patch_step(x86::Step step) {
  static_assert(static_cast<size_t>(PatchStep::kTrap) == static_cast<size_t>(x86::Step::kTrap));
  static_assert(static_cast<size_t>(PatchStep::kPun) == static_cast<size_t>(x86::Step::kPun));
  return static_cast<PatchStep>(step);
}

std::span<ListedFunction> Listing::of_module(size_t module) {
  const auto before = [](const ListedFunction& f, size_t m) { return f.module < m; };
  const auto begin = std::lower_bound(functions.begin(), functions.end(), module, before);
  return {begin, std::lower_bound(begin, functions.end(), module + 1, before)};
}

Result<Listing> list_functions(const ListRequest& request) { return Lister(request).run(); }

}  // namespace blip::session
