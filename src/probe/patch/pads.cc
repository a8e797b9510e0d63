// SPDX-License-Identifier: MIT
// An area holds the shared code, the pads of system calls, then the pads of sites. Those are built in pieces
// on all CPUs: each piece begins where the pieces before it end at the latest and is dense in itself. The
// gaps between pieces are pages of a memfd that nobody touches, so they cost nothing.
#include "probe/patch/pads.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

#include "base/parallel.h"
#include "jit/pad.h"
#include "jit/stubs.h"
#include "jit/trap_pads.h"
#include "jit/unmap_pad.h"
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

// The probes of one instruction become one list of actions. What any of their plans takes for live is.
std::vector<jit::PadPoint> pad_points(const PadJob& job, ProbeList probes) {
  std::vector<jit::PadPoint> points;
  for (uint32_t i : job.probes) {
    const PlannedProbe& planned = probes[i].planned;
    if (points.empty() || points.back().offset != planned.offset)
      points.push_back(
          {.offset = planned.offset, .flags_live = false, .skip_red_zone = false, .live_registers = 0});
    jit::PadPoint& point = points.back();
    point.actions.push_back(&probes[i].action);
    point.flags_live |= planned.flags_live;
    point.skip_red_zone |= planned.skip_red_zone;
    point.live_registers |= planned.live_registers;
  }
  return points;
}

jit::PadSite pad_site(const Site& site, std::span<const jit::PadPoint> points) {
  return {.addr = site.rewrite.start,
          .window = std::span(site.bytes).first(site.rewrite.length),
          .points = points,
          .lead = site.lead};
}

uint64_t size_bound(const PadJob& job, ProbeList probes) {
  return align_up(jit::max_pad_size(pad_site(*job.site, pad_points(job, probes))), jit::kPadAlign);
}

// How much of its bound a pad really needs, from some of them, built for no place in particular.
double fill_of(std::span<const PadJob> jobs, ProbeList probes, jit::Environment env) {
  constexpr size_t kSamples = 256;
  constexpr double kMargin = 1.1;
  env.process.control = TargetAddr(0x7fff'0000'0000);
  for (jit::ChannelEnvironment& channel : env.channels) channel.control = env.process.control;
  if (!env.process.rseq) env.process.rseq.emplace();
  uint64_t bound = 0, used = 0;
  for (size_t i = 0; i < jobs.size(); i += jobs.size() / kSamples + 1) {
    const TargetAddr near = jobs[i].site->rewrite.end() + 4096;
    const std::vector<jit::PadPoint> points = pad_points(jobs[i], probes);
    const jit::AreaStubs stubs{.channels = {env.channels.size(), {near, near}},
                               .reserve = near,
                               .enter = near,
                               .find = near,
                               .leave = near};
    const auto pad = jit::build_pad(near, pad_site(*jobs[i].site, points), env, stubs);
    if (!pad) continue;
    bound += size_bound(jobs[i], probes);
    used += align_up(pad->code.size(), jit::kPadAlign);
  }
  return bound == 0 ? 1 : std::min(1.0, kMargin * static_cast<double>(used) / static_cast<double>(bound));
}

// Holds what has been written of an area, or of a piece of one.
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
  AreaBuilder(TargetAddr at, std::span<uint8_t> code, std::span<const PadJob> jobs, ProbeList probes,
              const jit::Environment& env, bool shadow_stack)
      : at_(at), code_(code), jobs_(jobs), probes_(probes), env_(env), shadow_stack_(shadow_stack) {}

  Result<BuiltArea> run(const Neighbourhood& group, std::span<const x86::SyscallSite> syscall_sites) {
    AreaPart start(at_, code_);
    TRY(jit::AreaPrologue prologue, jit::build_area_prologue(at_, env_));
    stubs_ = prologue.stubs;
    TRY_OK(start.append(prologue.code));
    for (size_t i : group.syscall_sites) TRY_OK(add_syscall_site(start, i, syscall_sites[i]));
    TRY_OK(build_jobs(group, align_up(start.used(), jit::kPadAlign)));
    return std::move(area_);
  }

 private:
  Status add_syscall_site(AreaPart& part, size_t index, const x86::SyscallSite& site) {
    const bool sets_action = site.number == jit::kSigactionNumber;
    if (sets_action) TRY_OK(add_trap_stub(part));
    const TargetAddr pad = part.next();
    TRY(const std::vector<uint8_t> code, syscall_pad(pad, site));
    TRY_OK(part.append(code));
    if (!sets_action && !site.stores_argument) syscall_pads_[site.addr + abi::kJumpSize] = pad;
    area_.pads.push_back(
        {.addr = pad, .size = static_cast<uint32_t>(code.size()), .heads = {}, .syscall_site = index});
    return {};
  }

  Result<std::vector<uint8_t>> syscall_pad(TargetAddr pad, const x86::SyscallSite& site) const {
    if (site.number == jit::kSigactionNumber) return jit::build_sigaction_pad(pad, site.addr, trap_places());
    if (jit::may_unmap(site.number))
      return jit::build_unmap_pad(pad, site.addr, site.number, at_, env_.process);
    return jit::build_clone_pad(pad, site, env_, stubs_.reserve);
  }

  jit::TrapPlaces trap_places() const { return {.runtime = at_, .table = env_.process.trap_table()}; }

  Status add_trap_stub(AreaPart& part) {
    area_.trap_stub = part.next();
    area_.runtime = at_;
    TRY(const std::vector<uint8_t> code, jit::build_trap_stub(area_.trap_stub, trap_places()));
    return part.append(code);
  }

  Status build_jobs(const Neighbourhood& group, uint64_t begin) {
    const std::vector<size_t>& jobs = group.jobs;
    const size_t count = (jobs.size() + kJobsPerPiece - 1) / kJobsPerPiece;
    std::vector<uint64_t> starts(count + 1, begin);
    double at = static_cast<double>(begin);
    for (size_t i = 0; i < jobs.size(); ++i) {
      at += group.fill * static_cast<double>(size_bound(jobs_[jobs[i]], probes_));
      starts[i / kJobsPerPiece + 1] = align_up(static_cast<uint64_t>(at), jit::kPadAlign);
    }
    if (starts[count] > code_.size())
      return Error(ErrorKind::kInvalid, "the pads need more room than was set aside");
    std::vector<BuiltArea> parts(count);
    std::vector<std::vector<size_t>> spilled(count);
    parallel_pieces(jobs.size(), kJobsPerPiece, [&](size_t first, size_t last) {
      const size_t k = first / kJobsPerPiece;
      AreaPart part(at_ + starts[k], code_.subspan(starts[k], starts[k + 1] - starts[k]));
      for (size_t i = first; i < last; ++i)
        if (!build_one(part, jobs[i], parts[k])) spilled[k].push_back(jobs[i]);
    });
    AreaPart rest(at_ + starts[count], code_.subspan(starts[count]));
    for (size_t k = 0; k < count; ++k) {
      for (size_t job : spilled[k])
        if (!build_one(rest, job, parts[k]))
          parts[k].refused.emplace_back(job, "there is no room for its pad");
      std::move(parts[k].pads.begin(), parts[k].pads.end(), std::back_inserter(area_.pads));
      std::move(parts[k].refused.begin(), parts[k].refused.end(), std::back_inserter(area_.refused));
    }
    return {};
  }

  // False: there is no room for it in this part.
  bool build_one(AreaPart& part, size_t index, BuiltArea& built) const {
    const PadJob& job = jobs_[index];
    const Site& site = *job.site;
    const TargetAddr addr = part.next();
    const std::vector<jit::PadPoint> points = pad_points(job, probes_);
    jit::PadSite place = pad_site(site, points);
    place.shadow_stack = shadow_stack_;
    place.resume = syscall_pad_at(site.rewrite.end());
    auto pad = jit::build_pad(addr, place, env_, stubs_);
    if (!pad) {
      built.refused.emplace_back(index, pad.error().message());
      return true;
    }
    if (!part.append(pad->code)) return false;
    built.pads.push_back({.job = index,
                          .addr = addr,
                          .size = static_cast<uint32_t>(pad->code.size()),
                          .heads = std::move(pad->heads)});
    return true;
  }

  // A window that ends with the first instruction of a watched system call goes on in that pad.
  TargetAddr syscall_pad_at(TargetAddr behind) const {
    const auto it = syscall_pads_.find(behind);
    return it != syscall_pads_.end() ? it->second : TargetAddr();
  }

  TargetAddr at_;
  std::span<uint8_t> code_;
  std::span<const PadJob> jobs_;
  ProbeList probes_;
  const jit::Environment& env_;
  bool shadow_stack_;
  jit::AreaStubs stubs_;
  BuiltArea area_;
  std::map<TargetAddr, TargetAddr> syscall_pads_;  // end of a window -> where its pad goes on
};

const Module* module_at(std::span<const Module> modules, TargetAddr a) {
  for (const Module& m : modules)
    if (m.extent().contains(a)) return &m;
  return nullptr;
}

// Cuts the pads of a group into areas of a size that still finds a place among trampolines near the code.
// Many pads get the room they should need, a few the most they can need.
class AreaCutter {
 public:
  AreaCutter(const Neighbourhood& group, std::span<const PadJob> jobs, ProbeList probes,
             std::span<const x86::SyscallSite> syscall_sites)
      : group_(group), jobs_(jobs), probes_(probes), syscall_sites_(syscall_sites) {}

  std::vector<Neighbourhood> run(const jit::Environment& env) {
    constexpr uint64_t kFew = 4 << 20;
    uint64_t bound = 0;
    std::vector<PadJob> mine;
    for (size_t i : group_.jobs) {
      bound += size_bound(jobs_[i], probes_);
      mine.push_back(jobs_[i]);
    }
    if (bound > kFew) fill_ = fill_of(mine, probes_, env);
    start_area();
    for (size_t i : group_.jobs) {
      constexpr double kLargest = 8 << 20;
      if (expected_ > kLargest) start_area();
      areas_.back().jobs.push_back(i);
      expected_ += fill_ * static_cast<double>(size_bound(jobs_[i], probes_));
    }
    finish_area();
    for (size_t i : group_.syscall_sites) add_syscall_site(i);
    return std::move(areas_);
  }

 private:
  void start_area() {
    if (!areas_.empty()) finish_area();
    areas_.push_back({.reach = group_.reach, .fill = fill_});
    expected_ = 0;
  }

  void finish_area() {
    constexpr uint64_t kLeastSpill = 256 << 10, kSpillShare = 8;
    const auto expected = static_cast<uint64_t>(expected_) + jit::kPadAlign;
    const uint64_t spill = fill_ < 1 ? kLeastSpill + expected / kSpillShare : 0;
    areas_.back().size =
        align_up(kPrologueSize + runtime::runtime_blob().size() + expected + spill, abi::kPageSize);
  }

  // Into the area of a pad that may go on in that of the system call.
  void add_syscall_site(size_t index) {
    size_t area = 0;
    for (size_t k = 0; k < areas_.size(); ++k)
      if (!areas_[k].jobs.empty() &&
          jobs_[areas_[k].jobs.front()].site->rewrite.start <= syscall_sites_[index].addr)
        area = k;
    areas_[area].syscall_sites.push_back(index);
    areas_[area].size += align_up(jit::kClonePadSize, abi::kPageSize);
  }

  const Neighbourhood& group_;
  std::span<const PadJob> jobs_;
  ProbeList probes_;
  std::span<const x86::SyscallSite> syscall_sites_;
  double fill_ = 1;
  double expected_ = 0;  // bytes of the last area's pads
  std::vector<Neighbourhood> areas_;
};

// The part that one module contributes to an area.
struct Member {
  AddrRange extent;
  std::vector<size_t> jobs, syscall_sites;
};

std::vector<Member> members_of(std::span<const Module> modules, std::span<const PadJob> jobs,
                               std::span<const x86::SyscallSite> syscall_sites) {
  std::vector<Member> members(modules.size());
  for (size_t m = 0; m < modules.size(); ++m) members[m].extent = modules[m].extent();
  for (size_t i = 0; i < jobs.size(); ++i) members[jobs[i].module].jobs.push_back(i);
  for (size_t i = 0; i < syscall_sites.size(); ++i) {
    const Module* module = module_at(modules, syscall_sites[i].addr);
    if (!module) continue;
    members[static_cast<size_t>(module - modules.data())].syscall_sites.push_back(i);
  }
  std::erase_if(members, [](const Member& m) { return m.jobs.empty() && m.syscall_sites.empty(); });
  std::sort(members.begin(), members.end(),
            [](const Member& a, const Member& b) { return a.extent.begin < b.extent.begin; });
  return members;
}

}  // namespace

std::vector<PadJob> pad_jobs(const ModuleSites& sites, ProbeList probes) {
  std::vector<PadJob> jobs;
  std::vector<size_t> begin(sites.size());
  for (size_t m = 0; m < sites.size(); ++m) {
    begin[m] = jobs.size();
    for (const Site& site : sites[m]) jobs.push_back({.module = m, .site = &site, .probes = {}});
  }
  for (size_t i = probes.first(); i < probes.end(); ++i) {
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
                                       ProbeList probes, std::span<const x86::SyscallSite> syscall_sites,
                                       const jit::Environment& env) {
  std::vector<Neighbourhood> groups;
  AddrRange span;
  for (Member& m : members_of(modules, jobs, syscall_sites)) {
    if (groups.empty() || m.extent.end - span.begin > kMaxSpan) {
      groups.emplace_back();
      span = m.extent;
    }
    span.end = std::max(span.end, m.extent.end);
    Neighbourhood& group = groups.back();
    group.reach = reach_of(span);
    group.jobs.insert(group.jobs.end(), m.jobs.begin(), m.jobs.end());
    group.syscall_sites.insert(group.syscall_sites.end(), m.syscall_sites.begin(), m.syscall_sites.end());
  }
  std::vector<Neighbourhood> areas;
  for (const Neighbourhood& group : groups) {
    auto cut = AreaCutter(group, jobs, probes, syscall_sites).run(env);
    std::move(cut.begin(), cut.end(), std::back_inserter(areas));
  }
  return areas;
}

Result<BuiltArea> build_area(TargetAddr at, std::span<uint8_t> code, const Neighbourhood& neighbourhood,
                             std::span<const PadJob> jobs, ProbeList probes,
                             std::span<const x86::SyscallSite> syscall_sites, const jit::Environment& env,
                             bool shadow_stack) {
  return AreaBuilder(at, code, jobs, probes, env, shadow_stack).run(neighbourhood, syscall_sites);
}

}  // namespace blip::probe
