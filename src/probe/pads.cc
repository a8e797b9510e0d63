// SPDX-License-Identifier: MIT
// An area holds the shared code, the pads of clone sites, then the pads of sites. Those are built in pieces
// on all CPUs: each piece begins where the pieces before it end at the latest and is dense in itself. The
// gaps between pieces are pages of a memfd that nobody touches, so they cost nothing.
#include "probe/pads.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

#include "base/parallel.h"
#include "jit/pad.h"
#include "jit/stubs.h"
#include "runtime/blob.h"

namespace blip::probe {

namespace {

constexpr uint64_t kJumpReach = uint64_t{1} << 31;
constexpr uint64_t kReachMargin = uint64_t{1} << 24;  // pads, and operands a little outside the module
constexpr uint64_t kMaxSpan = uint64_t{1} << 30;
constexpr uint64_t kPrologueSize = 2048;
constexpr size_t kJobsPerPiece = 512;

uint64_t align_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

AddrRange reach_of(AddrRange extent) {
  const uint64_t room = kJumpReach - kReachMargin;
  return {TargetAddr(extent.end.value > room ? extent.end.value - room : 0), extent.begin + room};
}

std::vector<jit::PadProbe> pad_probes(const PadJob& job, std::span<const Probe> probes) {
  std::vector<jit::PadProbe> result;
  result.reserve(job.probes.size());
  for (uint32_t i : job.probes) {
    const PlannedProbe& planned = probes[i].planned;
    result.push_back({.offset = planned.offset,
                      .program = &probes[i].program,
                      .flags_live = planned.flags_live,
                      .skip_red_zone = planned.skip_red_zone,
                      .live_registers = planned.live_registers});
  }
  return result;
}

jit::PadSite pad_site(const Site& site, std::span<const jit::PadProbe> probes) {
  return {.addr = site.rewrite.start,
          .window = std::span(site.bytes).first(site.rewrite.length),
          .probes = probes,
          .lead = site.lead};
}

uint64_t size_bound(const PadJob& job, std::span<const Probe> probes) {
  return align_up(jit::max_pad_size(pad_site(*job.site, pad_probes(job, probes))), jit::kPadAlign);
}

// What has been written of an area, or of a piece of one.
class AreaPart {
 public:
  AreaPart(TargetAddr at, std::span<uint8_t> code) : at_(at), code_(code) {}

  TargetAddr next() {
    const uint64_t begin = align_up(used_, jit::kPadAlign);
    std::fill(code_.begin() + static_cast<ptrdiff_t>(std::min(used_, code_.size())),
              code_.begin() + static_cast<ptrdiff_t>(std::min(begin, code_.size())), uint8_t{0xcc});
    used_ = begin;
    return at_ + begin;
  }
  Status append(std::span<const uint8_t> code) {
    if (code.size() > code_.size() - std::min(used_, code_.size()))
      return Error(ErrorKind::kInvalid, "the pads need more room than was set aside");
    std::copy(code.begin(), code.end(), code_.begin() + static_cast<ptrdiff_t>(used_));
    used_ += code.size();
    return {};
  }
  uint64_t used() const { return used_; }

 private:
  TargetAddr at_;
  std::span<uint8_t> code_;
  uint64_t used_ = 0;
};

class AreaBuilder {
 public:
  AreaBuilder(TargetAddr at, std::span<uint8_t> code, std::span<const PadJob> jobs,
              std::span<const Probe> probes, const jit::Environment& env, bool shadow_stack)
      : at_(at), code_(code), jobs_(jobs), probes_(probes), env_(env), shadow_stack_(shadow_stack) {}

  Result<BuiltArea> run(const Neighbourhood& group, std::span<const x86::CloneSite> clone_sites) {
    AreaPart start(at_, code_);
    TRY(jit::AreaPrologue prologue, jit::build_area_prologue(at_, env_));
    stubs_ = prologue.stubs;
    TRY_OK(start.append(prologue.code));
    for (size_t i : group.clone_sites) TRY_OK(add_clone_site(start, i, clone_sites[i]));
    TRY_OK(build_jobs(group.jobs, align_up(start.used(), jit::kPadAlign)));
    return std::move(area_);
  }

 private:
  Status add_clone_site(AreaPart& part, size_t index, const x86::CloneSite& site) {
    const TargetAddr pad = part.next();
    TRY(const std::vector<uint8_t> code, jit::build_clone_pad(pad, site.addr, site.number, env_));
    TRY_OK(part.append(code));
    clone_pads_[site.addr + abi::kJumpSize] = pad;
    area_.pads.push_back(
        {.addr = pad, .size = static_cast<uint32_t>(code.size()), .heads = {}, .clone_site = index});
    return {};
  }

  Status build_jobs(const std::vector<size_t>& jobs, uint64_t begin) {
    const size_t count = (jobs.size() + kJobsPerPiece - 1) / kJobsPerPiece;
    std::vector<uint64_t> starts(count + 1, begin);
    for (size_t i = 0; i < jobs.size(); ++i) {
      begin += size_bound(jobs_[jobs[i]], probes_);
      starts[i / kJobsPerPiece + 1] = begin;
    }
    if (starts[count] > code_.size())
      return Error(ErrorKind::kInvalid, "the pads need more room than was set aside");
    std::vector<BuiltArea> parts(count);
    std::vector<Status> statuses(count);
    parallel_pieces(jobs.size(), kJobsPerPiece, [&](size_t first, size_t last) {
      const size_t k = first / kJobsPerPiece;
      AreaPart part(at_ + starts[k], code_.subspan(starts[k], starts[k + 1] - starts[k]));
      for (size_t i = first; i < last && statuses[k]; ++i) statuses[k] = build_one(part, jobs[i], parts[k]);
    });
    for (size_t k = 0; k < count; ++k) {
      TRY_OK(statuses[k]);
      std::move(parts[k].pads.begin(), parts[k].pads.end(), std::back_inserter(area_.pads));
      std::move(parts[k].refused.begin(), parts[k].refused.end(), std::back_inserter(area_.refused));
    }
    return {};
  }

  Status build_one(AreaPart& part, size_t index, BuiltArea& built) const {
    const PadJob& job = jobs_[index];
    const Site& site = *job.site;
    const TargetAddr addr = part.next();
    const std::vector<jit::PadProbe> in_pad = pad_probes(job, probes_);
    jit::PadSite place = pad_site(site, in_pad);
    place.shadow_stack = shadow_stack_;
    place.resume = clone_pad_at(site.rewrite.end());
    auto pad = jit::build_pad(addr, place, env_, stubs_);
    if (!pad) {
      built.refused.emplace_back(index, pad.error().message());
      return {};
    }
    built.pads.push_back({.job = index,
                          .addr = addr,
                          .size = static_cast<uint32_t>(pad->code.size()),
                          .heads = std::move(pad->heads)});
    return part.append(pad->code);
  }

  // A window that ends with a clone site's first instruction goes on in the clone pad.
  TargetAddr clone_pad_at(TargetAddr behind) const {
    const auto it = clone_pads_.find(behind);
    return it != clone_pads_.end() ? it->second : TargetAddr();
  }

  TargetAddr at_;
  std::span<uint8_t> code_;
  std::span<const PadJob> jobs_;
  std::span<const Probe> probes_;
  const jit::Environment& env_;
  bool shadow_stack_;
  jit::AreaStubs stubs_;
  BuiltArea area_;
  std::map<TargetAddr, TargetAddr> clone_pads_;  // end of a window -> where its pad goes on
};

const Module* module_at(std::span<const Module> modules, TargetAddr a) {
  for (const Module& m : modules)
    if (m.extent().contains(a)) return &m;
  return nullptr;
}

// What one module contributes to an area.
struct Member {
  AddrRange extent;
  std::vector<size_t> jobs, clone_sites;
  uint64_t size = 0;
};

std::vector<Member> members_of(std::span<const Module> modules, std::span<const PadJob> jobs,
                               std::span<const Probe> probes, std::span<const x86::CloneSite> clone_sites) {
  std::vector<Member> members(modules.size());
  for (size_t m = 0; m < modules.size(); ++m) members[m].extent = modules[m].extent();
  for (size_t i = 0; i < jobs.size(); ++i) {
    members[jobs[i].module].jobs.push_back(i);
    members[jobs[i].module].size += size_bound(jobs[i], probes);
  }
  for (size_t i = 0; i < clone_sites.size(); ++i) {
    const Module* module = module_at(modules, clone_sites[i].addr);
    if (!module) continue;
    Member& member = members[static_cast<size_t>(module - modules.data())];
    member.clone_sites.push_back(i);
    member.size += align_up(jit::kClonePadSize, jit::kPadAlign);
  }
  std::erase_if(members, [](const Member& m) { return m.size == 0; });
  std::sort(members.begin(), members.end(),
            [](const Member& a, const Member& b) { return a.extent.begin < b.extent.begin; });
  return members;
}

}  // namespace

std::vector<PadJob> pad_jobs(const ModuleSites& sites, std::span<const Probe> probes, size_t first) {
  std::vector<PadJob> jobs;
  std::vector<size_t> begin(sites.size());
  for (size_t m = 0; m < sites.size(); ++m) {
    begin[m] = jobs.size();
    for (const Site& site : sites[m]) jobs.push_back({.module = m, .site = &site, .probes = {}});
  }
  for (size_t i = first; i < probes.size(); ++i) {
    if (probes[i].planned.refused()) continue;
    jobs[begin[probes[i].module] + probes[i].planned.site].probes.push_back(static_cast<uint32_t>(i));
  }
  for (PadJob& job : jobs)
    std::stable_sort(job.probes.begin(), job.probes.end(), [&](uint32_t a, uint32_t b) {
      return probes[a].planned.offset < probes[b].planned.offset;
    });
  std::sort(jobs.begin(), jobs.end(),
            [](const PadJob& a, const PadJob& b) { return a.site->rewrite.start < b.site->rewrite.start; });
  return jobs;
}

std::vector<Neighbourhood> group_sites(std::span<const Module> modules, std::span<const PadJob> jobs,
                                       std::span<const Probe> probes,
                                       std::span<const x86::CloneSite> clone_sites) {
  std::vector<Neighbourhood> groups;
  AddrRange span;
  for (Member& m : members_of(modules, jobs, probes, clone_sites)) {
    if (groups.empty() || m.extent.end - span.begin > kMaxSpan) {
      groups.emplace_back();
      groups.back().size = kPrologueSize + runtime::runtime_blob().size();
      span = m.extent;
    }
    span.end = std::max(span.end, m.extent.end);
    Neighbourhood& group = groups.back();
    group.reach = reach_of(span);
    group.size += m.size;
    group.jobs.insert(group.jobs.end(), m.jobs.begin(), m.jobs.end());
    group.clone_sites.insert(group.clone_sites.end(), m.clone_sites.begin(), m.clone_sites.end());
  }
  for (Neighbourhood& group : groups) group.size = align_up(group.size, abi::kPageSize);
  return groups;
}

Result<BuiltArea> build_area(TargetAddr at, std::span<uint8_t> code, const Neighbourhood& neighbourhood,
                             std::span<const PadJob> jobs, std::span<const Probe> probes,
                             std::span<const x86::CloneSite> clone_sites, const jit::Environment& env,
                             bool shadow_stack) {
  return AreaBuilder(at, code, jobs, probes, env, shadow_stack).run(neighbourhood, clone_sites);
}

}  // namespace blip::probe
