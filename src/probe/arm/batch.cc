// SPDX-License-Identifier: MIT
#include "probe/arm/batch.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/give_back.h"

namespace blip::probe {

namespace {

std::vector<TargetAddr> entries_of(std::span<const PadJob> jobs) {
  std::vector<TargetAddr> entries;
  for (const PadJob& job : jobs)
    if (job.site->rewrite.entry != TargetAddr()) entries.push_back(job.site->rewrite.entry);
  return entries;
}

// The bytes of the modules' files, by run-time address.
class FileText {
 public:
  explicit FileText(std::span<const Module> modules) : modules_(modules) {}

  std::optional<uint8_t> operator()(TargetAddr a) {
    if (!last_ || !last_->extent().contains(a)) {
      const auto it = std::find_if(modules_.begin(), modules_.end(),
                                   [&](const Module& m) { return m.extent().contains(a); });
      if (it == modules_.end()) return std::nullopt;
      last_ = &*it;
    }
    const FileAddr at = last_->to_file(a);
    const auto bytes = last_->file().bytes({at, at + 1});
    return bytes.empty() ? std::nullopt : std::optional(bytes[0]);
  }

 private:
  std::span<const Module> modules_;
  const Module* last_ = nullptr;
};

}  // namespace

Batch::Batch(std::span<const Module> modules, ModuleSites sites, ProbeList probes,
             std::vector<x86::SyscallSite> syscall_sites, const jit::Environment& env)
    : sites_(std::move(sites)),
      syscall_sites_(std::move(syscall_sites)),
      jobs_(pad_jobs(sites_, probes)),
      neighbourhoods_(group_sites(modules, jobs_, probes, syscall_sites_, env)),
      trampolines_(pack_trampolines(entries_of(jobs_))) {}

void Batch::settle() {
  for (std::vector<Site>& sites : sites_)
    for (Site& site : sites) {
      free_contents(site.bytes);
      free_contents(site.springboard_bytes);
      free_contents(site.lead);
    }
  free_contents(neighbourhoods_);
  trampolines_ = {};
}

size_t Batch::max_edits() const {
  return syscall_sites_.size() + jobs_.size() +
         static_cast<size_t>(std::count_if(jobs_.begin(), jobs_.end(), [](const PadJob& job) {
           return job.site->rewrite.springboard != TargetAddr();
         }));
}

size_t Batch::traps() const {
  return static_cast<size_t>(std::count_if(jobs_.begin(), jobs_.end(), [](const PadJob& job) {
    return job.site->rewrite.step == x86::Step::kTrap;
  }));
}

// Written here as well: whoever is left without one must not become a patch.
void Batch::refuse_without_trampoline(const PadPlaces& places, std::vector<BuiltPad>& pads,
                                      std::vector<std::pair<size_t, std::string>>& refused) const {
  std::erase_if(pads, [&](const BuiltPad& pad) {
    if (pad.job == BuiltPad::kNoJob) return false;
    const TargetAddr entry = jobs_[pad.job].site->rewrite.entry;
    if (entry == TargetAddr()) return false;
    const PadFile& file = *places.trampolines;
    const auto offset = file.trampolines.offset_of(entry);
    const auto jump = trampoline(entry, pad.addr);
    if (offset && jump) {
      std::copy(jump->begin(), jump->end(), file.bytes.data() + file.trampolines_offset + *offset);
      return false;
    }
    refused.emplace_back(pad.job, offset ? jump.error().message()
                                         : "the place where its jump leads is not free in this process");
    return true;
  });
}

Result<MadePatches> Batch::build(const PadPlaces& places, std::span<const Module> modules, ProbeList probes,
                                 const jit::Environment& env, bool shadow_stack) const {
  std::vector<BuiltPad> pads;
  std::vector<std::pair<size_t, std::string>> refused = refused_;
  TargetAddr trap_stub, runtime;
  for (size_t i = 0; i < neighbourhoods_.size(); ++i) {
    const PadPlaces::Area& area = places.areas[i];
    const std::span<uint8_t> code = area.file->bytes().subspan(area.offset, neighbourhoods_[i].size);
    TRY(BuiltArea built,
        build_area(area.at, code, neighbourhoods_[i], jobs_, probes, syscall_sites_, env, shadow_stack));
    area.file->release_pages();
    if (built.trap_stub != TargetAddr()) trap_stub = built.trap_stub, runtime = built.runtime;
    std::move(built.pads.begin(), built.pads.end(), std::back_inserter(pads));
    std::move(built.refused.begin(), built.refused.end(), std::back_inserter(refused));
  }
  std::erase_if(pads, [&](const BuiltPad& pad) {
    return std::any_of(refused_.begin(), refused_.end(), [&](const auto& r) { return r.first == pad.job; });
  });
  refuse_without_trampoline(places, pads, refused);
  if (places.trampolines != nullptr) places.trampolines->bytes.release_pages();
  for (const Module& module : modules) module.release_pages();
  give_back_memory();
  MadePatches made =
      make_patches({.jobs = jobs_, .syscall_sites = syscall_sites_, .pads = pads, .text = FileText(modules)});
  made.trap_stub = trap_stub;
  made.runtime = runtime;
  made.refused.insert(made.refused.end(), std::make_move_iterator(refused.begin()),
                      std::make_move_iterator(refused.end()));
  return made;
}

}  // namespace blip::probe
