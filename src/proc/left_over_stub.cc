// SPDX-License-Identifier: MIT
#include "proc/left_over_stub.h"

#include <fmt/core.h>

#include <array>
#include <cstring>

#include "proc/stub.h"

namespace blip::proc {

namespace {

constexpr size_t kFrameWords = sizeof(StubFrame) / sizeof(uint64_t);
using Words = std::array<uint64_t, kFrameWords>;

Words current_words(const Registers& registers) {
  const StubFrame frame = make_stub_frame(registers);
  Words words;
  std::memcpy(words.data(), &frame, sizeof frame);
  return words;
}

Registers with_words(Registers registers, const Words& words) {
  StubFrame frame;
  std::memcpy(&frame, words.data(), sizeof frame);
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
  registers.orig_rax = static_cast<uint64_t>(-1);
  return registers;
}

// Does what the rest of the stub would do, without its system call.
Status run_rest_of_stub(Thread& thread, const Memory& memory, TargetAddr site, uint64_t resume_rip) {
  const auto popped = words_popped_at(thread.registers.rip - site.value);
  if (!popped) return {};
  Words words = current_words(thread.registers);
  const size_t left = kFrameWords - *popped;
  TRY_OK(memory.read(TargetAddr(thread.registers.rsp),
                     {reinterpret_cast<uint8_t*>(words.data() + *popped), left * sizeof(uint64_t)}));
  Registers resumed = with_words(thread.registers, words);
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
