// SPDX-License-Identifier: MIT
// For tests only: runs generated code with a register file of its own, general, x87 and vector registers
// included, and catches what it faults with.
#pragma once

#include <asmjit/asmjit.h>
#include <cpuid.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "base/addr.h"
#include "base/check.h"
#include "base/mapping.h"
#include "base/test_registers.h"

namespace blip::x86::test {

// An image of the XSAVE instruction: 512 bytes as of FXSAVE, a header of 64, then what the CPU has.
struct VectorState {
  static constexpr size_t kSize = 4096;
  alignas(64) std::array<uint8_t, kSize> bytes{};
};

struct MachineState {
  blip::test::Registers general{};
  VectorState vectors;
};

class Machine {
 public:
  // Parts of the arena. It lies in the low 2 GiB, so that 32-bit addresses reach it.
  static constexpr size_t kCodeSize = 0x1000, kDataSize = 0x1000, kStackSize = 0x1000, kPadsSize = 0x10000;

  Machine();
  ~Machine();

  uint8_t* code() { return at(kCodeAt); }
  std::span<uint8_t> data() { return {at(kDataAt), kDataSize}; }
  std::span<uint8_t> stack() { return {at(kStackAt), kStackSize}; }
  std::span<uint8_t> pads() { return {at(kPadsAt), kPadsSize}; }
  static TargetAddr addr(const void* p) { return TargetAddr(reinterpret_cast<uint64_t>(p)); }
  // Code ends by jumping here.
  TargetAddr exit() const { return exit_; }
  size_t vector_size() const { return vector_size_; }

  // Random values everywhere, rsp in the middle of the stack, exceptions of x87 and SSE masked.
  MachineState random_state(std::mt19937_64& random);
  // Runs the code at `entry` with `state`, which it replaces; the signal that ended it, 0: it jumped to
  // exit().
  int run(MachineState& state, const uint8_t* entry);

 private:
  static constexpr size_t kStateAt = 0, kCodeAt = 0x8000, kDataAt = 0xa000, kStackAt = 0xc000,
                          kPadsAt = 0x10000, kArenaSize = 0x20000;

  // The memory that stubs reach by absolute addresses.
  struct Shared {
    MachineState state;
    VectorState host;
    uint64_t host_rsp;
    uint64_t entry;
  };
  static_assert(sizeof(Shared) + 0x400 < kCodeAt);

  uint8_t* at(size_t offset) { return arena_ + offset; }
  Shared& shared() { return *reinterpret_cast<Shared*>(at(kStateAt)); }
  void emit_stubs();
  void randomize_vectors(VectorState& state, std::mt19937_64& random);
  static void on_signal(int signal);
  static sigjmp_buf& landing() {
    static sigjmp_buf buffer;
    return buffer;
  }

  static constexpr std::array kSignals = {SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGTRAP};

  uint8_t* arena_;
  uint64_t features_;
  size_t vector_size_;
  TargetAddr exit_;
  void (*enter_)() = nullptr;
  std::vector<uint8_t> signal_stack_ = std::vector<uint8_t>(1 << 16);
  std::array<struct sigaction, kSignals.size()> before_{};
};

inline Machine::Machine() {
  void* arena = ::mmap(nullptr, kArenaSize, PROT_READ | PROT_WRITE | PROT_EXEC,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  CHECK(arena != MAP_FAILED);
  arena_ = static_cast<uint8_t*>(arena);
  uint32_t low, high;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr uint64_t kX87SseAvxAvx512 = 0xe7;
  features_ = (uint64_t{high} << 32 | low) & kX87SseAvxAvx512;
  vector_size_ = 576;
  for (unsigned i = 2; i < 8; ++i) {
    unsigned size, offset, c, d;
    if (!(features_ >> i & 1) || !__get_cpuid_count(0xd, i, &size, &offset, &c, &d)) continue;
    vector_size_ = std::max<size_t>(vector_size_, offset + size);
  }
  CHECK(vector_size_ <= VectorState::kSize);
  emit_stubs();
  const stack_t alternate{.ss_sp = signal_stack_.data(), .ss_flags = 0, .ss_size = signal_stack_.size()};
  ::sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &before_[i]);
}

inline Machine::~Machine() {
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  ::sigaltstack(&none, nullptr);
  ::munmap(arena_, kArenaSize);
}

inline void Machine::on_signal(int signal) { siglongjmp(landing(), signal); }

inline int Machine::run(MachineState& state, const uint8_t* entry) {
  std::memcpy(&shared().state, &state, sizeof state);
  shared().entry = reinterpret_cast<uint64_t>(entry);
  if (const int signal = sigsetjmp(landing(), 0)) return signal;
  enter_();
  std::memcpy(&state, &shared().state, sizeof state);
  return 0;
}

inline void Machine::emit_stubs() {
  using namespace asmjit::x86;  // NOLINT: register names
  asmjit::CodeHolder code;
  uint8_t* const stubs = at((sizeof(Shared) + 63) & ~size_t{63});
  code.init(asmjit::Environment(asmjit::Arch::kX64), reinterpret_cast<uint64_t>(stubs));
  Assembler a(&code);
  const auto memory = [](const void* p) { return ptr_abs(reinterpret_cast<uint64_t>(p), 8); };
  const auto general = [&](uint32_t reg) { return memory(&shared().state.general.gpr[reg]); };
  const auto vectors = [&](uint32_t instruction, VectorState& state) {
    a.mov(eax, static_cast<uint32_t>(features_));
    a.xor_(edx, edx);
    a.emit(instruction, ptr_abs(reinterpret_cast<uint64_t>(&state)), edx, eax);
  };
  const Gp saved[] = {rbx, rbp, r12, r13, r14, r15};
  constexpr auto kSave = Inst::kIdXsave64, kLoad = Inst::kIdXrstor64;

  for (const Gp& r : saved) a.push(r);
  vectors(kSave, shared().host);
  vectors(kLoad, shared().state.vectors);
  a.push(memory(&shared().state.general.rflags));
  a.popfq();
  a.mov(memory(&shared().host_rsp), rsp);
  for (uint32_t r = 0; r < 16; ++r) a.mov(gpq(r), general(r));
  a.jmp(memory(&shared().entry));

  exit_ = addr(stubs) + a.offset();
  for (uint32_t r = 0; r < 16; ++r) a.mov(general(r), gpq(r));
  a.mov(rsp, memory(&shared().host_rsp));
  a.pushfq();
  a.pop(memory(&shared().state.general.rflags));
  a.cld();
  vectors(kSave, shared().state.vectors);
  vectors(kLoad, shared().host);
  for (size_t i = std::size(saved); i-- > 0;) a.pop(saved[i]);
  a.ret();

  code.flatten();
  code.relocateToBase(reinterpret_cast<uint64_t>(stubs));
  CHECK(code.codeSize() < 0x400);
  code.copyFlattenedData(stubs, 0x400);
  enter_ = reinterpret_cast<void (*)()>(stubs);
}

inline void Machine::randomize_vectors(VectorState& state, std::mt19937_64& random) {
  auto* words = reinterpret_cast<uint64_t*>(state.bytes.data());
  for (size_t i = 0; i < vector_size_ / 8; ++i) words[i] = random() % 4 ? random() : 0;
  const auto put = [&](size_t offset, auto value) {
    std::memcpy(state.bytes.data() + offset, &value, sizeof value);
  };
  put(0, static_cast<uint16_t>(0x37f | (random() & 0xc00)));     // control word: a random rounding mode
  put(2, static_cast<uint16_t>(random() & 0x7f3f & ~0x80));      // status word, no exception pending
  put(4, static_cast<uint16_t>(random() & 0xff));                // which registers are in use
  put(24, static_cast<uint32_t>(0x1f80 | (random() & 0xe07f)));  // MXCSR
  std::memset(state.bytes.data() + 512, 0, 64);                  // header
  put(512, features_);
  for (size_t i = 0; i < 8; ++i) std::memset(state.bytes.data() + 32 + 16 * i + 10, 0, 6);
}

inline MachineState Machine::random_state(std::mt19937_64& random) {
  MachineState state;
  for (uint64_t& r : state.general.gpr) r = random() >> (random() % 4 * 16);
  constexpr uint64_t kReserved = 0x202, kStatusAndDirection = 0xcd5;
  state.general.rflags = kReserved | (random() & kStatusAndDirection);
  state.general.gpr[blip::test::kRsp] = reinterpret_cast<uint64_t>(stack().data()) + kStackSize / 2;
  randomize_vectors(state.vectors, random);
  return state;
}

}  // namespace blip::x86::test
