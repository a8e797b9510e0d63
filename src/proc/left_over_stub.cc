// SPDX-License-Identifier: MIT
#include "proc/left_over_stub.h"

#include <fmt/core.h>

#include <array>

#include "proc/stub.h"

namespace blip::proc {

namespace {

constexpr size_t kFrameWords = sizeof(StubFrame) / sizeof(uint64_t);
constexpr size_t kMostCalls = 256;

Registers with_frame(Registers registers, const StubFrame& frame) {
  registers.rax = frame.rax;
  registers.rdi = frame.rdi;
  registers.rsi = frame.rsi;
  registers.rdx = frame.rdx;
  registers.r10 = frame.r10;
  registers.r8 = frame.r8;
  registers.r9 = frame.r9;
  registers.rcx = frame.rcx;
  registers.r11 = frame.r11;
  registers.eflags = frame.rflags;
  registers.rsp = frame.rsp;
  return registers;
}

// The words that the stub has popped lie in the red zone below rsp, and are still there.
Result<TargetAddr> find_frame(const Registers& registers, const Memory& memory, StubPlace place) {
  TargetAddr at = TargetAddr(registers.rsp) - place.popped * sizeof(uint64_t);
  for (size_t i = 0; !place.in_frame && i < kMostCalls; ++i, at = at + sizeof(StubCall)) {
    TRY(const StubCall call, memory.read_value<StubCall>(at));
    if (call.more == 0) return at;
  }
  return at;
}

// Does what the rest of the stub would do, without its system calls.
Status run_rest_of_stub(Thread& thread, const Memory& memory, TargetAddr site, uint64_t resume_rip) {
  const auto place = place_in_stub(thread.registers.rip - site.value);
  if (!place) return {};
  Registers resumed = thread.registers;
  if (place->popped < kFrameWords) {
    TRY(const TargetAddr at, find_frame(thread.registers, memory, *place));
    TRY(const StubFrame frame, memory.read_value<StubFrame>(at));
    resumed = with_frame(resumed, frame);
  }
  resumed.orig_rax = static_cast<uint64_t>(-1);
  resumed.rip = resume_rip;
  thread.rewound_call = -1;
  return thread.set_registers(resumed);
}

}  // namespace

Status clear_left_over_stub(Attachment& attachment, const Memory& memory, const StubSite& site) {
  std::array<uint8_t, kStubSize> bytes{};
  TRY_OK(memory.read(site.addr, bytes));
  if (!is_stub(bytes)) return {};
  if (!attachment.holds_all_threads())
    return Error(ErrorKind::kBusy,
                 fmt::format("process {}: an earlier blip was killed while it attached: stop all threads",
                             attachment.pid()));
  for (Thread& thread : attachment.threads())
    if (thread.stopped) TRY_OK(run_rest_of_stub(thread, memory, site.addr, resume_rip_of(bytes)));
  return {};
}

}  // namespace blip::proc
