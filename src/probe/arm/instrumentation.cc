// SPDX-License-Identifier: MIT
#include "probe/arm/instrumentation.h"

#include <algorithm>
#include <array>
#include <optional>

#include "probe/arm/arming.h"
#include "probe/inject/empty_rings.h"
#include "probe/inject/semaphores.h"
#include "proc/pause.h"
#include "proc/remote_call.h"
#include "proc/tracer_thread.h"

namespace blip::probe {

using Stage = ArmingStage::Stage;

namespace {

// Also with somebody's breakpoint on its first byte.
PatchSet::IsInText jumps_in(const proc::Memory& memory) {
  return [&memory](const Edit& edit) {
    std::array<uint8_t, abi::kMaxEdit> now{};
    const std::span<uint8_t> bytes(now.data(), edit.size);
    if (!memory.read(edit.addr, bytes)) return false;
    const size_t skipped = edit.size > 1 ? 1 : 0;
    return std::equal(bytes.begin() + skipped, bytes.end(), edit.changed.begin() + skipped);
  };
}

}  // namespace

Instrumentation::Instrumentation(const proc::Process& process, proc::Memory& memory,
                                 std::span<const Module> modules, std::vector<Probe> probes,
                                 const ArmOptions& options)
    : restorer_(process), trace_(process, memory, modules, std::move(probes), options) {
  for (const Module& module : modules)
    if (!module.is_executable()) trace_.patches.add_library(module.extent());
}

Result<std::unique_ptr<Instrumentation>> Instrumentation::arm(const proc::Process& process,
                                                              proc::Memory& memory,
                                                              std::span<const Module> modules,
                                                              ModuleSites sites, std::vector<Probe> probes,
                                                              const ArmOptions& options) {
  std::unique_ptr<Instrumentation> self(
      new Instrumentation(process, memory, modules, std::move(probes), options));
  auto status =
      proc::on_tracer_thread([&] { return Arming(self->trace_, self->restorer_).run(std::move(sites)); });
  if (!status) return status.error();  // the destructor takes back what was done
  return self;
}

Instrumentation::~Instrumentation() {
  if (!trace_.stage.is_in_target()) return;
  if (trace_.stage.is_touched()) {
    (void)disarm();
  } else {
    (void)proc::on_tracer_thread([&] { return unmap_untouched(); });
  }
}

// Nobody has been led into the pads: no need to stop more than the thread that unmaps them.
Status Instrumentation::unmap_untouched() {
  trace_.stage.enter(Stage::kRemoved);
  const Stops::RemoteWork unmap = [&](proc::Attachment&, proc::RemoteCaller& caller, auto) {
    return unmap_footprint(caller, trace_.memory.footprint());
  };
  Status done = trace_.stops.with_one(unmap);
  if (done || !proc::is_pause_exceeded(done.error())) return done;
  trace_.stops.lift_limit();  // nothing may stay behind
  return trace_.stops.with_one(unmap);
}

bool Instrumentation::is_patched(AddrRange library) const {
  return trace_.patches.is_patched(library, jumps_in(trace_.target));
}

Result<RemovalReport> Instrumentation::disarm() {
  trace_.stage.enter(Stage::kRemoved);
  trace_.memory.pages().stop_filling();
  return remove_from(trace_.process, trace_.target, false);
}

Result<RemovalReport> Instrumentation::disarm_child(const proc::Process& child, proc::Memory& memory) {
  return remove_from(child, memory, true);
}

void Instrumentation::forget(AddrRange library, const void* file) {
  trace_.patches.forget(library, file);
  trace_.semaphores.forget(library, file);
  // An error: the process has gone, and its semaphores with it.
  (void)Semaphores(trace_.target, trace_.memory.footprint().semaphores()).forget(library);
}

void Instrumentation::target_is_gone() {
  trace_.stage.enter(Stage::kRemoved);
  if (trace_.facts.has_shadow()) open_calls_.know_nothing();
}

Result<RemovalReport> Instrumentation::remove_from(const proc::Process& process, proc::Memory& memory,
                                                   bool is_child) {
  const PatchSet::IsInText is_in_text = jumps_in(memory);
  const std::optional<PatchTable> some = trace_.patches.without_absent(is_in_text);
  const std::vector<PatchTable> retired =
      is_child ? trace_.patches.retired_in_child(is_in_text) : trace_.patches.retired();
  std::optional<OpenCalls> open;
  const auto look = [&]() -> Status {
    if (trace_.facts.has_shadow())
      open = OpenCalls::read(memory, trace_.facts.environment().process.shadow(), geometry().class_count);
    return {};
  };
  RemovalSteps steps{.before_unmap = look};
  if (!is_child && are_rings_large(geometry())) steps.give_back = [&] { trace_.memory.empty_rings(); };
  auto report =
      remove_instrumentation(process, memory, trace_.memory.footprint(),
                             some ? *some : trace_.patches.table(), retired, steps, trace_.stops.max_pause());
  if (report && report->kept) (void)look();
  if (open) open_calls_ += *open;
  if (trace_.facts.has_shadow() && !open) open_calls_.know_nothing();
  return report;
}

}  // namespace blip::probe
