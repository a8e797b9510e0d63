// SPDX-License-Identifier: MIT
#include "proc/left_over_stub.h"

#include <fmt/core.h>

#include <array>

#include "machine/stub.h"

namespace blip::proc {

using machine::StubCall;
using machine::StubFrame;

namespace {

constexpr size_t kFrameWords = sizeof(StubFrame) / sizeof(uint64_t);
constexpr size_t kMostCalls = 256;

// The words that the stub has popped lie in the red zone below rsp, and are still there.
Result<TargetAddr> find_frame(const Registers& registers, const Memory& memory, machine::StubPlace place) {
  TargetAddr at = TargetAddr(registers.sp()) - place.popped * sizeof(uint64_t);
  for (size_t i = 0; !place.in_frame && i < kMostCalls; ++i, at = at + sizeof(StubCall)) {
    TRY(const StubCall call, memory.read_value<StubCall>(at));
    if (call.more == 0) return at;
  }
  return at;
}

// Does what the rest of the stub would do, without its system calls.
Status run_rest_of_stub(Thread& thread, const Memory& memory, TargetAddr site, uint64_t resume_pc) {
  const auto place = machine::place_in_stub(thread.registers.pc() - site.value);
  if (!place) return {};
  Registers resumed = thread.registers;
  if (place->popped < kFrameWords) {
    TRY(const TargetAddr at, find_frame(thread.registers, memory, *place));
    TRY(const StubFrame frame, memory.read_value<StubFrame>(at));
    resumed = machine::with_frame(resumed, frame);
  }
  resumed.forget_system_call();
  resumed.set_pc(resume_pc);
  thread.rewound_call = -1;
  return thread.set_registers(resumed);
}

}  // namespace

Status clear_left_over_stub(Attachment& attachment, const Memory& memory, const StubSite& site) {
  std::array<uint8_t, machine::kStubSize> bytes{};
  TRY_OK(memory.read(site.addr, bytes));
  if (!machine::is_stub(bytes)) return {};
  if (!attachment.holds_all_threads())
    return Error(ErrorKind::kBusy,
                 fmt::format("process {}: an earlier blip was killed while it attached: stop all threads",
                             attachment.pid()));
  for (Thread& thread : attachment.threads())
    if (thread.stopped) TRY_OK(run_rest_of_stub(thread, memory, site.addr, machine::resume_pc_of(bytes)));
  return {};
}

}  // namespace blip::proc
