// SPDX-License-Identifier: MIT
#include "probe/arm/trap_support.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "base/bytes_of.h"
#include "probe/inject/trap_action.h"
#include "proc/files/status.h"
#include "proc/remote_call.h"
#include "runtime/blob.h"

namespace blip::probe {

namespace {

constexpr uint64_t kSigInfo = 4, kOnStack = 0x08000000, kRestart = 0x10000000, kRestorer = 0x04000000;
constexpr int kSignals = 64;

}  // namespace

void TrapSupport::plan(std::span<const Module> modules, const ModuleSites& sites) {
  for (const std::vector<Site>& of_module : sites)
    wanted_ |= std::any_of(of_module.begin(), of_module.end(),
                           [](const Site& s) { return s.rewrite.step == x86::Step::kTrap; });
  if (!wanted_) return;
  const bool go =
      std::any_of(modules.begin(), modules.end(), [](const Module& m) { return m.file().is_go(); });
  if (go) {
    refused_ = "traps cannot be used in Go programs, whose runtime owns the signals";
  } else if (process_.seccomp_mode() != 0) {
    refused_ = "traps cannot be used under a seccomp filter, which may not let their handler return";
  } else {
    actions_ = find_sigaction_sites(modules);
    if (!actions_.complete)
      refused_ = "traps cannot be used: the program sets signal actions in a way that blip cannot watch";
  }
}

void TrapSupport::refuse_planned(Batch& batch) const {
  if (!refused_.empty()) refuse_all(batch, refused_);
}

void TrapSupport::refuse_all(Batch& batch, const std::string& reason) {
  for (size_t i = 0; i < batch.jobs().size(); ++i)
    if (batch.jobs()[i].site->rewrite.step == x86::Step::kTrap) batch.refuse(i, reason);
}

uint64_t TrapSupport::memory_size(const Batch& batch) const {
  return wanted_ && refused_.empty() ? trap_memory_size(batch.traps()) : 0;
}

void TrapSupport::use_code(const MadePatches& made) {
  if (made.trap_stub == TargetAddr()) return;
  stub_ = made.trap_stub;
  runtime_ = made.runtime;
}

bool TrapSupport::any_in(const PatchTable& patches) const {
  return wanted_ && refused_.empty() &&
         std::any_of(patches.patches.begin(), patches.patches.end(),
                     [](const Patch& p) { return p.trap && p.active; });
}

EditMask TrapSupport::edits_of(const PatchTable& patches) {
  EditMask edits(patches.edits.size());
  for (size_t i = 0; i < edits.size(); ++i) {
    const Patch& patch = patches.patches[patches.edits.edits()[i].patch];
    edits[i] = patch.trap || patch.sets_action;
  }
  return edits;
}

// The kernel kills whoever traps with SIGTRAP blocked.
Result<std::string> TrapSupport::find_obstacle(proc::Attachment& attachment,
                                               const std::vector<proc::Map>& maps, const PatchTable& patches,
                                               TargetAddr table) const {
  for (proc::Thread& thread : attachment.threads()) {
    if (thread.shadow_stack()) return std::string("traps cannot be used with shadow stacks");
    TRY(const proc::ProcStatus status, proc::read_status(process_.pid(), thread.tid));
    if (status.blocked & signal_bit(SIGTRAP))
      return fmt::format("thread {} blocks SIGTRAP: a trap would end the process", thread.tid);
    for (const x86::SyscallSite& site : actions_.sites)
      if (thread.restart_pc() == site.addr.value + abi::kJumpSize)
        return fmt::format("thread {} is setting a signal action", thread.tid);
  }
  for (const x86::SyscallSite& site : actions_.sites) {
    TRY(const auto bytes, (memory_.read_value<std::array<uint8_t, abi::kJumpSize>>(site.addr)));
    uint32_t number;
    std::memcpy(&number, &bytes[1], sizeof number);
    if (bytes[0] != 0xb8 || number != site.number)
      return std::string("another tool watches the program's signal actions");
    const bool watched = std::any_of(patches.patches.begin(), patches.patches.end(), [&](const Patch& p) {
      return p.sets_action && p.active && p.addr == site.addr;
    });
    if (!watched) return std::string("the program's signal actions cannot be watched");
  }
  return find_masking_handler(attachment, maps, table);
}

// A probe may be hit in a handler.
Result<std::string> TrapSupport::find_masking_handler(proc::Attachment& attachment,
                                                      const std::vector<proc::Map>& maps,
                                                      TargetAddr table) const {
  const pid_t tid = attachment.threads().front().tid;
  TRY(const proc::ProcStatus status, proc::read_status(process_.pid(), tid));
  TRY(proc::StubSite stub, proc::find_stub_site(memory_, maps));
  auto caller = proc::RemoteCaller::create(attachment, memory_, std::move(stub));
  if (!caller) return caller.error().message();  // a bad moment
  for (int signal = 1; signal <= kSignals; ++signal) {
    if (!(status.caught & signal_bit(signal)) || signal == SIGTRAP) continue;
    TRY(const abi::SignalAction action, remote_action(*caller, memory_, table, signal));
    if (action.mask & signal_bit(SIGTRAP))
      return fmt::format("the handler of signal {} blocks SIGTRAP: a trap in it would end the process",
                         signal);
  }
  return std::string();
}

Status TrapSupport::start(proc::Attachment& attachment, const std::vector<proc::Map>& maps,
                          const PatchTable& patches, TargetAddr at, TargetAddr gate) {
  TRY(proc::StubSite stub, proc::find_stub_site(memory_, maps));
  TRY(proc::RemoteCaller caller, proc::RemoteCaller::create(attachment, memory_, std::move(stub)));
  TRY(const abi::SignalAction found, remote_action(caller, memory_, at, SIGTRAP));
  std::vector<abi::TrapEntry> entries;
  for (const Patch& patch : patches.patches)
    if (patch.trap && patch.active) entries.push_back({patch.addr.value, patch.pad.value});
  const bool catches = found.handler > 1;  // neither SIG_DFL nor SIG_IGN
  abi::TrapTable table{};
  table.current = abi::kFirstAction;
  table.next = 1;
  table.pid_addr = gate.value + offsetof(abi::GatePage, pid);
  table.entries_addr = (at + abi::kTrapEntries).value;
  table.entry_count = entries.size();
  table.own = {.handler = stub_.value,
               .flags = kSigInfo | kRestorer | (catches ? found.flags & (kOnStack | kRestart) : kRestart),
               .restorer = runtime_.value + runtime::kRestoreOffset,
               .mask = ~uint64_t{0}};
  table.actions[abi::kFirstAction] = found;
  TRY_OK(memory_.write(at + abi::kTrapEntries, bytes_of(std::span<const abi::TrapEntry>(entries))));
  TRY_OK(memory_.write(at, bytes_of(table)));
  return set_remote_action(caller, memory_, at, SIGTRAP, table.own);
}

}  // namespace blip::probe
