// SPDX-License-Identifier: MIT
#include "proc/stub.h"

#include <sys/syscall.h>

#include <algorithm>
#include <cstring>

// The stub and its frame, in the thread that runs it:
//
//     program's rsp  ->  ...                         stub:   syscall
//                        128 bytes of red zone               pop  rax, rdi, rsi, rdx, r10, r8, r9, rcx, r11
//     end of frame   ->  rsp  (the program's)                popfq
//                        rflags, r11, rcx ... rdi            pop  rsp
//     stub's rsp     ->  rax                                 jmp  *resume
//                                                    resume: .quad  where the program goes on
//
// A system call changes rax, rcx and r11 only, so this restores everything. It needs no tracer, no int3, no
// `ret` (which a shadow stack would forbid) and leaves the red zone alone. The tracer stops the thread right
// after `syscall` and puts the registers back itself; the rest runs only if the tracer has died.

namespace blip::proc {

namespace {

constexpr std::array<uint8_t, 23> kCode = {
    0x0f, 0x05,                          // syscall
    0x58,                                // pop rax
    0x5f,                                // pop rdi
    0x5e,                                // pop rsi
    0x5a,                                // pop rdx
    0x41, 0x5a,                          // pop r10
    0x41, 0x58,                          // pop r8
    0x41, 0x59,                          // pop r9
    0x59,                                // pop rcx
    0x41, 0x5b,                          // pop r11
    0x9d,                                // popfq
    0x5c,                                // pop rsp
    0xff, 0x25, 0x00, 0x00, 0x00, 0x00,  // jmp qword [rip]
};
constexpr uint8_t kTrap = 0xcc;  // never reached

// Where each instruction ends that pops a word of the frame.
constexpr std::array<uint8_t, 11> kPopEnds = {3, 4, 5, 6, 8, 10, 12, 13, 15, 16, 17};

static_assert(kCode.size() + sizeof(uint64_t) <= kStubSize);
static_assert(sizeof(StubFrame) == 11 * sizeof(uint64_t));

}  // namespace

Registers resume_state(const Registers& stopped) {
  Registers resume = stopped;
  resume.orig_rax = static_cast<uint64_t>(-1);
  if (!stopped.restarts_system_call()) return resume;
  resume.rip -= kSyscallLength;
  const bool restart_block = static_cast<int64_t>(stopped.rax) == kRestartBlock;
  resume.rax = restart_block ? SYS_restart_syscall : stopped.orig_rax;
  return resume;
}

StubFrame make_stub_frame(const Registers& resume) {
  return {resume.rax, resume.rdi, resume.rsi, resume.rdx,    resume.r10, resume.r8,
          resume.r9,  resume.rcx, resume.r11, resume.eflags, resume.rsp};
}

std::array<uint8_t, kStubSize> make_stub(uint64_t resume_rip) {
  std::array<uint8_t, kStubSize> stub;
  stub.fill(kTrap);
  std::copy(kCode.begin(), kCode.end(), stub.begin());
  std::memcpy(stub.data() + kCode.size(), &resume_rip, sizeof resume_rip);
  return stub;
}

bool is_stub(std::span<const uint8_t> bytes) {
  return bytes.size() >= kCode.size() && std::equal(kCode.begin(), kCode.end(), bytes.begin());
}

std::optional<size_t> words_popped_at(uint64_t offset) {
  if (offset == 0 || offset == kSyscallLength) return 0;
  const auto end = std::find(kPopEnds.begin(), kPopEnds.end(), offset);
  if (end == kPopEnds.end()) return std::nullopt;
  return static_cast<size_t>(end - kPopEnds.begin()) + 1;
}

uint64_t resume_rip_of(std::span<const uint8_t> stub) {
  uint64_t rip = 0;
  std::memcpy(&rip, stub.data() + kCode.size(), sizeof rip);
  return rip;
}

}  // namespace blip::proc
