// SPDX-License-Identifier: MIT
// See docs/design/patch_plan.md for the rules and why they suffice.
#include "probe/plan.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/parallel.h"
#include "base/progress.h"
#include "elf/code_pointers.h"
#include "elf/jump_tables.h"
#include "elf/landing_pads.h"
#include "elf/rseq_sections.h"
#include "x86/branch_scan.h"
#include "x86/entry_set.h"

namespace blip::probe {

namespace {

constexpr uint64_t kMaxAfter = 64;  // bytes behind a function looked at as padding
constexpr size_t kFunctionsPerPiece = 512;

class Planner {
 public:
  Planner(const Module& module, const elf::SymbolTable& symbols, const PlanOptions& options)
      : module_(module),
        file_(module.file()),
        symbols_(symbols),
        rseq_sections_(elf::rseq_sections(file_)),
        faults_matter_(options.faults_matter || file_.is_go()),
        window_options_{
            .go = file_.is_go(), .shadow_stack = options.shadow_stack, .verdict_only = options.verdict_only} {
  }

  std::vector<SitePlan> run(std::span<const elf::Function> functions) {
    std::vector<SitePlan> sites(functions.size());
    parallel_pieces(functions.size(), kFunctionsPerPiece, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) sites[i] = window_of(functions[i]);
    });
    refuse_overlaps(sites);
    prove(sites);
    return sites;
  }

 private:
  SitePlan window_of(const elf::Function& f) const {
    SitePlan site;
    if (f.is_ifunc) {
      site.refusal =
          "an IFUNC: what it stands for is chosen in the process, and not known here (nothing has bound it "
          "yet, "
          "or it is the vDSO's)";
      return site;
    }
    if (f.is_cold) {
      site.refusal = "the cold part of a function is jumped to, not called";
      return site;
    }
    if (holds_rseq_section(f)) {
      site.refusal = "the function contains a restartable sequence of the program's own";
      return site;
    }
    const FileAddr end = f.addr + f.size;
    auto window = x86::entry_window({.bytes = file_.bytes({f.addr, end}),
                                     .addr = module_.to_target(f.addr),
                                     .after = file_.bytes({end, next_start(end)})},
                                    window_options_);
    if (!window) {
      site.refusal = window.error().message();
      return site;
    }
    if (window->lead == 0 && runs_on_little_stack(f)) {
      site.refusal = "it may run on the last bytes of a goroutine's stack, where a pad has no room";
      return site;
    }
    if (window->lead == 0 && faults_matter_ && may_fault(*window)) {
      site.refusal = "its first instructions may fault, and the program handles such faults itself";
      return site;
    }
    site.window = *window;
    if (f.is_nameless) site.window.flags_live = site.window.self_branch = true;  // it may be a cold part
    const auto bytes = file_.bytes({module_.to_file(window->start), module_.to_file(window->end())});
    site.bytes.assign(bytes.begin(), bytes.end());
    const auto lead =
        file_.bytes({module_.to_file(window->start), module_.to_file(window->start + window->lead)});
    site.lead.assign(lead.begin(), lead.end());
    return site;
  }

  // Go's own packages hold chains of functions without a stack check (nosplit), of which the linker promises
  // only that they fit. Others have such functions only as leaves, called with some 700 bytes to spare.
  bool runs_on_little_stack(const elf::Function& f) const {
    constexpr std::string_view kPackages[] = {"runtime", "runtime/internal", "internal",
                                              "syscall", "reflect",          "sync"};
    return window_options_.go &&
           std::any_of(std::begin(kPackages), std::end(kPackages), [&](std::string_view p) {
             const std::string_view name = f.name;
             return name.starts_with(p) && name.size() > p.size() &&
                    (name[p.size()] == '.' || name[p.size()] == '/');
           });
  }

  // A memory operand other than the stack's. A fault in the copy would show the pad's address to a handler.
  bool may_fault(const x86::Window& window) const {
    const auto bytes =
        file_.bytes({module_.to_file(window.start), module_.to_file(window.start + window.length)});
    for (size_t at = 0; at < bytes.size();) {
      const auto insn = x86::decode(bytes.subspan(at), window.start + at);
      if (!insn) return true;
      const bool on_stack = insn->uses_rsp || insn->modrm_offset == 0;  // push, pop, call, ret or rsp-based
      if (insn->touches_memory && !insn->rip_relative && !on_stack) return true;
      at += insn->length;
    }
    return false;
  }

  bool holds_rseq_section(const elf::Function& f) const {
    return std::any_of(rseq_sections_.begin(), rseq_sections_.end(), [&](const elf::RseqSection& s) {
      return s.start < f.addr + f.size && f.addr < s.start + s.length;
    });
  }

  // The next symbol at or after `end`, at most kMaxAfter bytes away.
  FileAddr next_start(FileAddr end) const {
    const auto all = symbols_.functions();
    auto it = std::lower_bound(all.begin(), all.end(), end,
                               [](const elf::Function& f, FileAddr a) { return f.addr < a; });
    const FileAddr limit = end + kMaxAfter;
    return it != all.end() ? std::min(it->addr, limit) : limit;
  }

  static void refuse_overlaps(std::vector<SitePlan>& sites) {
    std::vector<SitePlan*> order;
    for (SitePlan& s : sites)
      if (!s.refused()) order.push_back(&s);
    std::sort(order.begin(), order.end(),
              [](const SitePlan* a, const SitePlan* b) { return a->window.start < b->window.start; });
    for (size_t i = 1; i < order.size(); ++i)
      if (order[i]->window.start < order[i - 1]->window.end())
        order[i]->refusal = "it begins inside the bytes another probe replaces";
  }

  void prove(std::vector<SitePlan>& sites) const {
    std::vector<x86::Window> windows;
    std::vector<SitePlan*> owners;
    for (SitePlan& s : sites) {
      if (s.refused() || !s.window.needs_proof) continue;
      windows.push_back(s.window);
      owners.push_back(&s);
    }
    if (windows.empty()) return;
    x86::InteriorSet interior(windows);
    const auto frames = module_.frames();
    find_starts(interior, frames);
    find_branches(interior, frames);
    for (size_t i = 0; i < owners.size(); ++i)
      if (interior.refused(i)) owners[i]->refusal = interior.reason(i);
  }

  void hit_all(x86::InteriorSet& interior, const std::vector<FileAddr>& addresses,
               std::string_view what) const {
    for (FileAddr a : addresses) interior.hit(module_.to_target(a), what);
  }

  // What may begin inside a window without a direct branch to it. Hits in a fixed order: the first reason
  // stays.
  void find_starts(x86::InteriorSet& interior, std::span<const FileRange> frames) const {
    std::vector<FileAddr> pads, pointers, cases;
    parallel_run({[&] { cases = elf::jump_table_targets(file_); },
                  [&] { pointers = elf::code_pointers(file_); }, [&] { pads = elf::landing_pads(file_); }});
    for (const elf::Function& f : symbols_.functions()) interior.hit(module_.to_target(f.addr), "a symbol");
    for (const FileRange& r : frames) interior.hit(module_.to_target(r.begin), "a function");
    hit_all(interior, pads, "an exception landing pad");
    hit_all(interior, pointers, "the target of a pointer");
    hit_all(interior, cases, "a jump table's target");
    for (const elf::RseqSection& s : rseq_sections_)
      interior.hit(module_.to_target(s.abort), "a restartable sequence's abort");
  }

  void find_branches(x86::InteriorSet& interior, std::span<const FileRange> frames) const {
    std::vector<TargetAddr> starts;
    starts.reserve(symbols_.functions().size());
    for (const elf::Function& f : symbols_.functions()) starts.push_back(module_.to_target(f.addr));
    for (const FileRange& r : frames) starts.push_back(module_.to_target(r.begin));
    std::sort(starts.begin(), starts.end());
    for (const elf::Segment& s : file_.segments()) {
      if (!s.exec) continue;
      const auto text = file_.bytes(s.range);
      const TargetAddr base = module_.to_target(s.range.begin);
      const auto wanted = [&](const x86::Branch& b) { return interior.contains(b.target); };
      for (const x86::Branch& b : x86::near_branches(text, base, starts, wanted))
        interior.hit(b.target, b.opcode, "a branch");
      for (const auto& w : interior.sorted())
        for (const x86::Branch& b :
             x86::short_branches(text, base, starts, {w.start - 130, w.end + 130}, wanted))
          interior.hit(b.target, b.opcode, "a branch");
    }
  }

  const Module& module_;
  const elf::ElfFile& file_;
  const elf::SymbolTable& symbols_;
  std::vector<elf::RseqSection> rseq_sections_;
  bool faults_matter_;
  x86::WindowOptions window_options_;
};

}  // namespace

std::vector<SitePlan> plan_entries(const Module& module, std::span<const elf::Function> functions,
                                   const PlanOptions& options) {
  auto symbols = module.symbols();
  if (!symbols)
    return std::vector<SitePlan>(functions.size(), SitePlan{.refusal = symbols.error().message()});
  const progress::Step step(fmt::format("planning {} probes in {}", functions.size(), module.basename()));
  return Planner(module, **symbols, options).run(functions);
}

ModulePlan one_site_each(std::vector<SitePlan> plans) {
  ModulePlan result;
  for (SitePlan& plan : plans) {
    const x86::Window& window = plan.window;
    PlannedProbe& probe = result.probes.emplace_back();
    probe.refusal = std::move(plan.refusal);
    if (probe.refused()) continue;
    probe.site = result.sites.size();
    probe.step = window.step;
    probe.flags_live = window.flags_live;
    probe.skip_red_zone = window.self_branch;
    result.sites.push_back({.rewrite = {.start = window.start,
                                        .length = window.length,
                                        .padding = window.padding,
                                        .step = window.step,
                                        .lead = window.lead},
                            .bytes = std::move(plan.bytes),
                            .springboard_bytes = {},
                            .lead = std::move(plan.lead)});
  }
  return result;
}

}  // namespace blip::probe
