// SPDX-License-Identifier: MIT
#include "probe/code/module_code.h"

#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "elf/code_pointers.h"
#include "elf/jump_tables.h"
#include "elf/landing_pads.h"
#include "probe/code/fault_handlers.h"
#include "x86/flow/syscall_sites.h"

namespace blip::probe {

namespace {

constexpr uint64_t kNeighbourhood = 256;  // what a short jump reaches, and an instruction or two

}  // namespace

FunctionRanges FunctionRanges::of(const Module& module) {
  std::vector<AddrRange> all;
  const auto add = [&](FileAddr begin, FileAddr end) {
    all.push_back({module.to_target(begin), module.to_target(end)});
  };
  if (const auto symbols = module.symbols())
    for (const elf::Function& f : (*symbols)->functions()) add(f.addr, f.addr + f.size);
  for (const FileRange& r : module.frames()) add(r.begin, r.end);
  std::sort(all.begin(), all.end());
  FunctionRanges ranges;
  for (const AddrRange& r : all) {
    if (ranges.starts.empty() || ranges.starts.back() != r.begin) {
      ranges.starts.push_back(r.begin);
      ranges.ends.push_back(r.end);
    }
    ranges.ends.back() = std::max(ranges.ends.back(), r.end);
  }
  return ranges;
}

std::vector<AddrRange> FunctionRanges::around(std::span<const AddrRange> wanted) const {
  std::vector<AddrRange> found;
  size_t next = 0;  // what has been taken so far
  for (const AddrRange& w : wanted) {
    const TargetAddr low(w.begin.value - std::min(w.begin.value, kNeighbourhood));
    const auto first = std::upper_bound(starts.begin(), starts.end(), low) - starts.begin();
    for (size_t i = std::max(next, static_cast<size_t>(std::max<ptrdiff_t>(first - 1, 0)));
         i < starts.size() && starts[i] < w.end + kNeighbourhood; next = ++i)
      found.push_back({starts[i], ends[i]});
  }
  return found;
}

ModuleCode::ModuleCode(const Module& module, const FunctionRanges& ranges,
                       std::span<const AddrRange> functions, const IndirectEntries* entries)
    : module_(module) {
  for (const elf::Segment& s : module.file().segments()) {
    if (!s.exec) continue;
    segments_.push_back(std::make_unique<x86::CodeMap>(module.file().bytes(s.range),
                                                       module.to_target(s.range.begin), forget_pages()));
    segments_.back()->decode(functions, ranges.starts);
  }
  if (entries) {
    find_indirect_entries(*entries);
    find_computed_labels();
    find_branches(ranges);
  }
  watch_clone_sites();
  pin_known_faults();
  for (const auto& segment : segments_) segment->finish();
}

IndirectEntries IndirectEntries::of(const elf::ElfFile& file) {
  IndirectEntries e;
  parallel_run({[&] { e.cases = elf::jump_table_targets(file); },
                [&] { e.pointers = elf::code_pointers(file); },
                [&] { e.landing_pads = elf::landing_pads(file); }});
  return e;
}

// Text that has been read stays in the page cache, and need not count as blip's memory meanwhile.
std::function<void()> ModuleCode::forget_pages() const {
  return [&file = module_.file()] { file.release_pages(); };
}

// Everything but direct branches that may lead into the middle of a function.
void ModuleCode::find_indirect_entries(const IndirectEntries& entries) {
  for (const auto& segment : segments_) {
    for (const auto* addresses : {&entries.landing_pads, &entries.pointers, &entries.cases})
      for (const FileAddr a : *addresses) segment->enter(module_.to_target(a));
    for (const elf::RseqSection& s : elf::rseq_sections(module_.file()))
      segment->enter(module_.to_target(s.abort), true);
  }
}

// Tables of 32-bit distances from a label (gcc: &&a - &&b), followed as long as they lead into the function.
void ModuleCode::find_computed_labels() {
  constexpr size_t kMostEntries = 1024;
  for (const auto& segment : segments_) {
    for (const x86::CodeMap::LabelUser& user : segment->label_users()) {
      for (const TargetAddr table : user.tables) {
        const FileAddr at = module_.to_file(table);
        const auto bytes = module_.file().bytes({at, at + kMostEntries * 4});
        for (const TargetAddr label : user.labels) {
          for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
            int32_t distance;
            std::memcpy(&distance, &bytes[i], sizeof distance);
            const TargetAddr goal = label + static_cast<uint64_t>(int64_t{distance});
            if (!user.function.contains(goal)) break;
            segment->enter(goal);
          }
        }
      }
    }
  }
}

void ModuleCode::find_branches(const FunctionRanges& ranges) {
  for (const auto& into : segments_)
    for (const auto& from : segments_)
      into->scan(from->bytes_from(from->base()), from->base(), ranges.starts);
}

void ModuleCode::pin_known_faults() {
  if (!module_.basename().starts_with("libjvm")) return;
  const auto symbols = module_.symbols();
  if (!symbols) return;
  for (const elf::Function& f : (*symbols)->functions())
    if (is_known_to_fault(module_, f))
      for (const auto& segment : segments_) segment->pin(module_.to_target(f.addr));
}

// blip leads the system calls that make children through pads of its own: a run may end before them.
void ModuleCode::watch_clone_sites() {
  for (const auto& segment : segments_) {
    for (const x86::SyscallSite& site :
         x86::find_clone_sites(segment->bytes_from(segment->base()), segment->base(), forget_pages()))
      segment->watch(site.addr);
  }
}

}  // namespace blip::probe
