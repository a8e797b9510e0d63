// SPDX-License-Identifier: MIT
#include "probe/patch/patches.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>

#include "jit/stubs.h"
#include "jit/trap_pads.h"
#include "jit/unmap_pad.h"

namespace blip::probe {

namespace {

constexpr size_t kNoJob = BuiltPad::kNoJob;

class PatchMaker {
 public:
  explicit PatchMaker(const PatchInput& input)
      : input_(input), pads_(input.jobs.size()), edits_(input.jobs.size()) {}

  MadePatches run() {
    for (const BuiltPad& pad : input_.pads)
      if (pad.job != kNoJob) pads_[pad.job] = &pad;
    for (const x86::SyscallSite& site : input_.syscall_sites) keep_clear_of(site);
    edit_sites();
    while (drop_contradictions()) {
    }
    finish();
    return std::move(made_);
  }

 private:
  void refuse(size_t job, std::string reason) {
    pads_[job] = nullptr;
    edits_[job].clear();
    made_.refused.emplace_back(job, std::move(reason));
  }

  // The job whose bytes [start, end()) hold the address; kNoJob if none does.
  size_t job_at(TargetAddr a) const {
    auto it = std::upper_bound(input_.jobs.begin(), input_.jobs.end(), a,
                               [](TargetAddr x, const PadJob& j) { return x < j.site->rewrite.start; });
    if (it == input_.jobs.begin() || a >= (--it)->site->rewrite.end()) return kNoJob;
    return static_cast<size_t>(it - input_.jobs.begin());
  }

  // The pad of a system call makes the system call itself and comes back behind it.
  void keep_clear_of(const x86::SyscallSite& site) {
    size_t previous = kNoJob;
    for (uint64_t k = 0; k < site.end() - site.addr; ++k) {
      const size_t job = job_at(site.addr + k);
      if (job == kNoJob || job == previous || !pads_[job]) continue;
      previous = job;
      if (site.number == jit::kSigactionNumber)
        refuse(job, "it is part of the system call that sets signal actions, which blip watches itself");
      else if (jit::may_unmap(site.number) && !covers(input_.jobs[job].site->rewrite, site))
        refuse(job, "it is part of a system call that blip watches itself");
      else if (!covers(input_.jobs[job].site->rewrite, site))
        refuse(job, "it is part of a system call that makes processes, which blip watches itself");
    }
  }

  // By rank: whatever a site needs has been decided before it.
  void edit_sites() {
    std::vector<size_t> order(input_.jobs.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return input_.jobs[a].site->rewrite.rank < input_.jobs[b].site->rewrite.rank;
    });
    for (size_t job : order)
      if (pads_[job]) edit_site(job);
  }

  void edit_site(size_t job) {
    const Site& site = *input_.jobs[job].site;
    const Site* host = nullptr;
    if (site.rewrite.springboard != TargetAddr() && site.springboard_bytes.empty()) {
      const size_t at = job_at(site.rewrite.springboard);
      if (at == kNoJob || !pads_[at]) return refuse(job, kNeedsRefused);
      host = input_.jobs[at].site;
    }
    auto edits = site_edits(site, pads_[job]->addr, host);
    if (!edits) return refuse(job, edits.error().message());
    edits_[job] = *std::move(edits);
  }

  void edit_syscall_sites() {
    syscall_edits_.clear();
    for (const BuiltPad& pad : input_.pads) {
      if (pad.job != kNoJob) continue;
      const x86::SyscallSite& site = input_.syscall_sites[pad.syscall_site];
      const size_t job = job_at(site.addr);
      if (job != kNoJob && pads_[job]) continue;  // it covers the site
      auto edit = jump_edit(site.addr, first_instruction(site), pad.addr, 0);
      if (!edit) continue;  // pads are near, sites that cross a page are not watched
      edit->order = 1;
      edit->pad = pad.addr;
      edit->window = abi::kJumpSize;
      syscall_edits_.emplace_back(&pad, *edit);
    }
  }

  // Drops what the others leave no room for; true if there was any.
  bool drop_contradictions() {
    edit_syscall_sites();
    std::vector<Edit> all;
    all.reserve(edits_.size() + syscall_edits_.size());
    for (size_t job = 0; job < edits_.size(); ++job)
      for (Edit& edit : edits_[job]) all.push_back(edit), all.back().patch = static_cast<uint32_t>(job);
    for (auto& [pad, edit] : syscall_edits_) all.push_back(edit), all.back().patch = Edit::kNoPatch;
    EditSet set(std::move(all));
    std::vector<size_t> bad = set.contradictions();
    for (size_t i = 0; i < set.size(); ++i)
      if (!tail_stands(set, i)) bad.push_back(i);
    if (bad.empty()) return false;
    // The jump of a system call is not given up: what lies before it, and overlaps it, goes.
    for (size_t n = bad.size(), i = 0; i < n; ++i)
      if (set.edits()[bad[i]].patch == Edit::kNoPatch && bad[i] != 0) bad.push_back(bad[i] - 1);
    const EditMask gone = set.with_dependents(bad);
    bool any = false;
    for (size_t i = 0; i < set.size(); ++i) {
      const uint32_t job = set.edits()[i].patch;
      if (!gone[i] || job == Edit::kNoPatch || !pads_[job]) continue;
      refuse(job, kNeedsRefused);
      any = true;
    }
    return any;
  }

  uint32_t number_of(const BuiltPad* pad) const { return input_.syscall_sites[pad->syscall_site].number; }

  // True if the bytes behind an edit will be those that its jump ends with.
  bool tail_stands(const EditSet& set, size_t i) const {
    const Edit& edit = set.edits()[i];
    size_t k = i + 1;
    for (size_t n = edit.size; n < edit.length; ++n) {
      const TargetAddr at = edit.addr + n;
      while (k < set.size() && set.edits()[k].end() <= at) ++k;
      const bool edited = k < set.size() && set.edits()[k].addr <= at;
      const std::optional<uint8_t> byte =
          edited ? std::optional(set.edits()[k].changed[at - set.edits()[k].addr]) : input_.text(at);
      if (byte != edit.changed[n]) return false;
    }
    return true;
  }

  void finish() {
    std::vector<Edit> edits;
    std::vector<Patch>& patches = made_.table.patches;
    const auto add = [&](Patch patch, std::span<const Edit> some) {
      for (const Edit& edit : some)
        edits.push_back(edit), edits.back().patch = static_cast<uint32_t>(patches.size());
      patches.push_back(std::move(patch));
    };
    edits.reserve(edits_.size() + syscall_edits_.size());
    patches.reserve(edits_.size() + syscall_edits_.size());
    auto syscall = syscall_edits_.begin();
    std::sort(syscall_edits_.begin(), syscall_edits_.end(),
              [](const auto& a, const auto& b) { return a.second.addr < b.second.addr; });
    const auto add_syscalls_before = [&](TargetAddr end) {
      for (; syscall != syscall_edits_.end() && syscall->second.addr < end; ++syscall) {
        add({.addr = syscall->second.addr,
             .pad = syscall->first->addr,
             .pad_size = syscall->first->size,
             .window = abi::kJumpSize,
             .sets_action = number_of(syscall->first) == jit::kSigactionNumber,
             .unmaps = jit::may_unmap(number_of(syscall->first))},
            {&syscall->second, 1});
      }
    };
    for (size_t job = 0; job < edits_.size(); ++job) {
      if (!pads_[job]) continue;
      const x86::Rewrite& rewrite = input_.jobs[job].site->rewrite;
      add_syscalls_before(rewrite.start);
      add({.addr = rewrite.start,
           .pad = pads_[job]->addr,
           .entry = rewrite.entry,
           .springboard = rewrite.springboard,
           .pad_size = pads_[job]->size,
           .window = static_cast<uint8_t>(input_.jobs[job].site->bytes.size()),
           .heads = pads_[job]->heads,
           .job = &input_.jobs[job],
           .trap = rewrite.step == x86::Step::kTrap},
          edits_[job]);
    }
    add_syscalls_before(TargetAddr(UINT64_MAX));
    made_.table.edits = EditSet(std::move(edits));
  }

  const PatchInput& input_;
  std::vector<const BuiltPad*> pads_;  // of each job; null: none, or refused
  std::vector<std::vector<Edit>> edits_;
  std::vector<std::pair<const BuiltPad*, Edit>> syscall_edits_;
  MadePatches made_;
};

}  // namespace

EditMask PatchTable::active() const {
  EditMask mask(edits.size());
  for (size_t i = 0; i < mask.size(); ++i) mask[i] = patches[edits.edits()[i].patch].active;
  return mask;
}

EditMask PatchTable::fresh() const {
  EditMask mask(edits.size());
  for (size_t i = 0; i < mask.size(); ++i) {
    const Patch& patch = patches[edits.edits()[i].patch];
    mask[i] = patch.active && patch.fresh;
  }
  return mask;
}

void PatchTable::merge(PatchTable other) {
  std::vector<Edit> all;
  std::vector<Patch> both;
  for (PatchTable* table : {this, &other}) {
    for (Edit edit : table->edits.edits()) {
      if (!table->patches[edit.patch].active) continue;
      edit.patch += static_cast<uint32_t>(both.size());
      all.push_back(edit);
    }
    std::move(table->patches.begin(), table->patches.end(), std::back_inserter(both));
  }
  std::vector<uint32_t> order, place(both.size());
  for (uint32_t i = 0; i < both.size(); ++i)
    if (both[i].active) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return both[a].addr < both[b].addr; });
  patches.clear();
  for (uint32_t i : order) {
    place[i] = static_cast<uint32_t>(patches.size());
    patches.push_back(std::move(both[i]));
  }
  for (Edit& edit : all) edit.patch = place[edit.patch];
  edits = EditSet(std::move(all));
}

PatchTable PatchTable::take(AddrRange range) {
  PatchTable taken, rest;
  std::vector<Edit> taken_edits, rest_edits;
  std::vector<uint32_t> place(patches.size());
  for (size_t i = 0; i < patches.size(); ++i) {
    std::vector<Patch>& to = (range.contains(patches[i].addr) ? taken : rest).patches;
    place[i] = static_cast<uint32_t>(to.size());
    if (patches[i].active) to.push_back(patches[i]);
  }
  for (Edit edit : edits.edits()) {
    const Patch& patch = patches[edit.patch];
    edit.patch = place[edit.patch];
    if (patch.active) (range.contains(patch.addr) ? taken_edits : rest_edits).push_back(edit);
  }
  taken.edits = EditSet(std::move(taken_edits));
  rest.edits = EditSet(std::move(rest_edits));
  *this = std::move(rest);
  return taken;
}

bool PatchTable::touches(AddrRange bytes) const {
  constexpr uint64_t kWidest = UINT8_MAX;  // window
  const TargetAddr first(bytes.begin.value - std::min(bytes.begin.value, kWidest));
  auto it = std::lower_bound(edits.edits().begin(), edits.edits().end(), first,
                             [](const Edit& e, TargetAddr a) { return e.addr < a; });
  for (; it != edits.edits().end() && it->addr < bytes.end; ++it) {
    const TargetAddr end = it->addr + std::max(it->length, it->window);
    if (patches[it->patch].active && bytes.begin < end) return true;
  }
  return false;
}

std::array<uint8_t, abi::kJumpSize> first_instruction(const x86::SyscallSite& site) {
  if (site.stores_argument) return {0x48, 0x89, 0x0e, 0x0f, 0x05};            // mov %rcx, (%rsi); syscall
  if (site.number == jit::kAnyNumber) return {0x4c, 0x8b, 0x4c, 0x24, 0x08};  // mov 8(%rsp), %r9
  std::array<uint8_t, abi::kJumpSize> mov{0xb8};                              // mov $number, %eax
  std::memcpy(&mov[1], &site.number, 4);
  return mov;
}

bool covers(const x86::Rewrite& rewrite, const x86::SyscallSite& site) {
  return !site.stores_argument && rewrite.start <= site.addr && rewrite.end() == site.addr + abi::kJumpSize;
}

MadePatches make_patches(const PatchInput& input) { return PatchMaker(input).run(); }

}  // namespace blip::probe
