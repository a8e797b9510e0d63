// SPDX-License-Identifier: MIT
#include "probe/pads.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "jit/pad.h"
#include "jit/stubs.h"
#include "runtime/blob.h"

namespace blip::probe {

namespace {

constexpr uint64_t kJumpReach = uint64_t{1} << 31;
constexpr uint64_t kReachMargin = uint64_t{1} << 24;  // pads, and operands a little outside the module
constexpr uint64_t kMaxSpan = uint64_t{1} << 30;
constexpr uint64_t kPrologueSize = 2048;

uint64_t align_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

AddrRange reach_of(AddrRange extent) {
  const uint64_t room = kJumpReach - kReachMargin;
  return {TargetAddr(extent.end.value > room ? extent.end.value - room : 0), extent.begin + room};
}

jit::PadProbe pad_probe_of(const Probe& probe) {
  return {.offset = 0,
          .program = &probe.program,
          .flags_live = probe.site.window.flags_live,
          .skip_red_zone = probe.site.window.self_branch};
}

uint64_t max_size(const Probe& probe) {
  const jit::PadProbe pad_probe = pad_probe_of(probe);
  return jit::max_pad_size({.window = probe.site.bytes, .probes = {&pad_probe, 1}, .lead = probe.site.lead});
}

class AreaBuilder {
 public:
  AreaBuilder(TargetAddr at, const jit::Environment& env) : at_(at), env_(env) {}

  Status start() {
    TRY(jit::AreaPrologue prologue, jit::build_area_prologue(at_, env_));
    area_.code = std::move(prologue.code);
    stubs_ = prologue.stubs;
    return {};
  }

  void add_probe(size_t index, const Probe& probe, bool shadow_stack) {
    const SitePlan& site = probe.site;
    const TargetAddr pad_addr = next();
    const jit::PadProbe pad_probe = pad_probe_of(probe);
    auto pad = jit::build_pad(pad_addr,
                              {.addr = site.window.start,
                               .window = std::span(site.bytes).first(site.window.length),
                               .probes = {&pad_probe, 1},
                               .lead = site.lead,
                               .shadow_stack = shadow_stack,
                               .resume = clone_pad_at(site.window.end())},
                              env_, stubs_);
    if (!pad) {
      area_.refused.emplace_back(index, pad.error().message());
      return;
    }
    append(pad_addr, pad->code, site.window.start, static_cast<uint8_t>(site.bytes.size()), site.bytes);
    area_.patches.back().heads = std::move(pad->heads);
    area_.patches.back().probe = index;
  }

  // `covered`: a probe's window ends with this very instruction, its pad goes on in the clone pad.
  Status add_clone_site(const x86::CloneSite& site, bool covered) {
    const TargetAddr pad_addr = next();
    TRY(std::vector<uint8_t> code, jit::build_clone_pad(pad_addr, site.addr, site.number, env_));
    if (covered) {
      area_.code.insert(area_.code.end(), code.begin(), code.end());
      clone_pads_[site.addr + abi::kJumpSize] = pad_addr;
      return {};
    }
    std::array<uint8_t, abi::kJumpSize> mov{0xb8};  // mov $number, %eax
    std::memcpy(&mov[1], &site.number, 4);
    append(pad_addr, code, site.addr, abi::kJumpSize, mov);
    return {};
  }

  BuiltArea finish() { return std::move(area_); }

 private:
  TargetAddr clone_pad_at(TargetAddr behind) const {
    const auto it = clone_pads_.find(behind);
    return it != clone_pads_.end() ? it->second : TargetAddr();
  }

  TargetAddr next() {
    area_.code.resize(align_up(area_.code.size(), jit::kPadAlign), 0xcc);
    return at_ + area_.code.size();
  }

  void append(TargetAddr pad, const std::vector<uint8_t>& code, TargetAddr site, uint8_t window,
              std::span<const uint8_t> original) {
    area_.code.insert(area_.code.end(), code.begin(), code.end());
    Patch patch{.addr = site, .pad = pad, .pad_size = static_cast<uint32_t>(code.size()), .window = window};
    std::copy_n(original.begin(), abi::kJumpSize, patch.original.begin());
    patch.jump = jump_to(site, pad);
    area_.patches.push_back(std::move(patch));
  }

  TargetAddr at_;
  const jit::Environment& env_;
  jit::AreaStubs stubs_;
  BuiltArea area_;
  std::map<TargetAddr, TargetAddr> clone_pads_;  // end of a window -> where its pad goes on
};

// A probe's window that ends with the clone site's first instruction.
bool covered_by_probe(const x86::CloneSite& site, const Neighbourhood& group, std::span<const Probe> probes) {
  return std::any_of(group.probes.begin(), group.probes.end(), [&](size_t i) {
    const x86::Window& w = probes[i].site.window;
    return w.start <= site.addr && w.end() == site.addr + abi::kJumpSize;
  });
}

const Module* module_at(std::span<const Module> modules, TargetAddr a) {
  for (const Module& m : modules)
    if (m.extent().contains(a)) return &m;
  return nullptr;
}

}  // namespace

std::array<uint8_t, abi::kJumpSize> jump_to(TargetAddr from, TargetAddr to) {
  std::array<uint8_t, abi::kJumpSize> jump{0xe9};  // jmp rel32
  const auto displacement = static_cast<int32_t>(to - (from + abi::kJumpSize));
  std::memcpy(&jump[1], &displacement, sizeof displacement);
  return jump;
}

std::vector<Neighbourhood> group_sites(std::span<const Module> modules, std::span<const Probe> probes,
                                       std::span<const x86::CloneSite> clone_sites) {
  struct Member {
    AddrRange extent;
    std::vector<size_t> probes, clone_sites;
    uint64_t size = 0;
  };
  std::vector<Member> members(modules.size());
  for (size_t m = 0; m < modules.size(); ++m) members[m].extent = modules[m].extent();
  for (size_t i = 0; i < probes.size(); ++i) {
    if (probes[i].site.refused()) continue;
    Member& member = members[probes[i].module];
    member.probes.push_back(i);
    member.size += align_up(max_size(probes[i]), jit::kPadAlign);
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

  std::vector<Neighbourhood> groups;
  AddrRange span;
  for (Member& m : members) {
    if (groups.empty() || m.extent.end - span.begin > kMaxSpan) {
      groups.emplace_back();
      groups.back().size = kPrologueSize + runtime::runtime_blob().size();
      span = m.extent;
    }
    span.end = std::max(span.end, m.extent.end);
    Neighbourhood& group = groups.back();
    group.reach = reach_of(span);
    group.size += m.size;
    group.probes.insert(group.probes.end(), m.probes.begin(), m.probes.end());
    group.clone_sites.insert(group.clone_sites.end(), m.clone_sites.begin(), m.clone_sites.end());
  }
  for (Neighbourhood& group : groups) group.size = align_up(group.size, abi::kPageSize);
  return groups;
}

Result<BuiltArea> build_area(TargetAddr at, const Neighbourhood& neighbourhood, std::span<const Probe> probes,
                             std::span<const x86::CloneSite> clone_sites, const jit::Environment& env,
                             bool shadow_stack) {
  AreaBuilder builder(at, env);
  TRY_OK(builder.start());
  for (size_t i : neighbourhood.clone_sites)
    TRY_OK(builder.add_clone_site(clone_sites[i], covered_by_probe(clone_sites[i], neighbourhood, probes)));
  for (size_t i : neighbourhood.probes) builder.add_probe(i, probes[i], shadow_stack);
  BuiltArea area = builder.finish();
  if (area.code.size() > neighbourhood.size)
    return Error(ErrorKind::kInvalid, "the pads need more room than was set aside");
  return area;
}

}  // namespace blip::probe
