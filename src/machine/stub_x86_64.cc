// SPDX-License-Identifier: MIT
#include "machine/stub.h"

#include <sys/syscall.h>

#include <algorithm>
#include <cstring>

// The stub, and what it works through in the thread that runs it:
//
//     program's rsp  ->  ...                         next:   pop  rax, rdi, rsi, rdx, r10, r8, r9, rcx
//                        128 bytes of red zone               jrcxz done
//     end of frame   ->  rsp  (the program's)                syscall
//                        rflags, r11, rcx                    mov  %rax, -8(%rsp)
//                        0, r9, r8 ... rax                   jmp  next
//     second call        1, r9 ... rax               done:   pop  rcx, r11
//     first call         1, r9 ...                           popfq
//     stub's rsp     ->  rax                                 pop  rsp
//                                                            jmp  *resume
//                                                    resume: .quad  where the program goes on
//
// A single call may also begin at its `syscall`, with its registers set and rsp at the frame. A system call
// changes rax, rcx and r11 only, so this restores everything. It needs no tracer, no int3, no `ret` (which a
// shadow stack would forbid) and leaves the red zone alone. The tracer stops the thread after the last call
// and puts the registers back itself; the rest runs only if the tracer has died.

namespace blip::machine {

const uint64_t kStubCall = 13;
const uint64_t kStubReturn = kStubCall + kSyscallLength;

namespace {

constexpr std::array<uint8_t, 33> kCode = {
    0x58,                                // pop rax
    0x5f,                                // pop rdi
    0x5e,                                // pop rsi
    0x5a,                                // pop rdx
    0x41, 0x5a,                          // pop r10
    0x41, 0x58,                          // pop r8
    0x41, 0x59,                          // pop r9
    0x59,                                // pop rcx
    0xe3, 0x09,                          // jrcxz done
    0x0f, 0x05,                          // syscall
    0x48, 0x89, 0x44, 0x24, 0xf8,        // mov [rsp-8], rax
    0xeb, 0xea,                          // jmp next
    0x59,                                // done: pop rcx
    0x41, 0x5b,                          // pop r11
    0x9d,                                // popfq
    0x5c,                                // pop rsp
    0xff, 0x25, 0x00, 0x00, 0x00, 0x00,  // jmp qword [rip]
};
constexpr uint8_t kTrap = 0xcc;  // never reached

constexpr size_t kCallWords = sizeof(StubCall) / sizeof(uint64_t);
constexpr uint64_t kTest = 11, kSyscall = 13, kStore = 15, kJump = 20, kDone = 22;  // offsets
static_assert(kCode[kSyscall] == 0x0f && kStore == kSyscall + kSyscallLength);

// The number of words that are popped where each instruction begins, in order. From kDone on the frame is
// popped.
constexpr std::array<uint8_t, 9> kBegins = {0, 1, 2, 3, 4, 6, 8, 10, kTest};
constexpr std::array<uint8_t, 5> kBeginsInFrame = {kDone, 23, 25, 26, 27};

static_assert(kCode.size() + sizeof(uint64_t) <= kStubSize);
static_assert(sizeof(StubFrame) == 12 * sizeof(uint64_t));

}  // namespace

ThreadRegisters resume_state(const ThreadRegisters& stopped) {
  ThreadRegisters resume = stopped;
  resume.forget_system_call();
  if (!restarts_system_call(stopped)) return resume;
  resume.rewind_to_call(stopped.result() == kRestartBlock ? SYS_restart_syscall : stopped.system_call());
  return resume;
}

StubFrame make_stub_frame(const ThreadRegisters& r) {
  return {.registers = {.number = r.rax, .arguments = {r.rdi, r.rsi, r.rdx, r.r10, r.r8, r.r9}, .more = 0},
          .others = {r.rcx, r.r11, r.eflags, r.rsp}};
}

ThreadRegisters with_frame(ThreadRegisters registers, const StubFrame& frame) {
  registers.rax = frame.registers.number;
  registers.set_arguments(frame.registers.arguments);
  registers.rcx = frame.others[0];
  registers.r11 = frame.others[1];
  registers.eflags = frame.others[2];
  registers.rsp = frame.others[3];
  return registers;
}

std::array<uint8_t, kStubSize> make_stub(uint64_t resume_pc) {
  std::array<uint8_t, kStubSize> stub;
  stub.fill(kTrap);
  std::copy(kCode.begin(), kCode.end(), stub.begin());
  std::memcpy(stub.data() + kCode.size(), &resume_pc, sizeof resume_pc);
  return stub;
}

bool is_stub(std::span<const uint8_t> bytes) {
  return bytes.size() >= kCode.size() && std::equal(kCode.begin(), kCode.end(), bytes.begin());
}

std::optional<StubPlace> place_in_stub(uint64_t offset) {
  if (offset == kSyscall || offset == kStore || offset == kJump) return StubPlace{};
  const auto index_in = [&](const auto& begins) {
    return static_cast<size_t>(std::find(begins.begin(), begins.end(), offset) - begins.begin());
  };
  if (const size_t popped = index_in(kBegins); popped < kBegins.size()) return StubPlace{.popped = popped};
  const size_t more = index_in(kBeginsInFrame);
  if (more == kBeginsInFrame.size()) return std::nullopt;
  return StubPlace{.popped = kCallWords + more, .in_frame = true};
}

std::optional<size_t> calls_made(uint64_t offset, uint64_t sp, uint64_t first) {
  const auto place = place_in_stub(offset);
  if (!place || place->in_frame || sp < first) return std::nullopt;
  const size_t popped = (sp - first) / sizeof(StubCall);
  return offset == kTest || offset == kSyscall ? popped - 1 : popped;
}

uint64_t resume_pc_of(std::span<const uint8_t> stub) {
  uint64_t pc = 0;
  std::memcpy(&pc, stub.data() + kCode.size(), sizeof pc);
  return pc;
}

}  // namespace blip::machine
