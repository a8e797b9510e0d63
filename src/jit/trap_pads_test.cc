// SPDX-License-Identifier: MIT
// Stub, sigaction pad and runtime together, in this process: a site as libc has it, patched to jump into its
// pad.
#include "jit/trap_pads.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "abi/traps.h"
#include "base/check.h"
#include "base/mapping.h"
#include "runtime/blob.h"

namespace blip::jit {
namespace {

constexpr size_t kPage = 4096;
constexpr uint64_t kRestorer = 0x04000000;

// Text and pads, a page each, then the runtime.
constexpr size_t kTrapSite = 0;        // int3; ret
constexpr size_t kSigactionSite = 16;  // mov %rcx, %r10; mov $13, %eax; syscall; ret
constexpr size_t kStub = kPage;
constexpr size_t kSigactionPad = kPage + kTrapPadSize;
constexpr size_t kPad = kPage + 2 * kTrapPadSize;  // mov $7, %eax; ret
constexpr size_t kRuntime = 2 * kPage;

constexpr uint8_t kTrapCode[] = {0xcc, 0xc3};
constexpr uint8_t kSigactionCode[] = {0x49, 0x89, 0xca, 0xb8, 13, 0, 0, 0, 0x0f, 0x05, 0xc3};
constexpr uint8_t kPadCode[] = {0xb8, 7, 0, 0, 0, 0xc3};

class TrapPads : public testing::Test {
 protected:
  TrapPads() {
    auto mapping = Mapping::create(kRuntime + runtime::runtime_blob().size(), PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(mapping.has_value());
    code_ = *std::move(mapping);
    const TrapPlaces places{at(kRuntime), TargetAddr(reinterpret_cast<uintptr_t>(&table_))};
    put(kTrapSite, kTrapCode);
    put(kSigactionSite, kSigactionCode);
    put(kPad, kPadCode);
    put(kRuntime, runtime::runtime_blob());
    auto stub = build_trap_stub(at(kStub), places);
    auto pad = build_sigaction_pad(at(kSigactionPad), at(kSigactionSite + 3), places);
    CHECK(stub.has_value() && pad.has_value());
    EXPECT_LE(stub->size(), kTrapPadSize);
    EXPECT_LE(pad->size(), kTrapPadSize);
    put(kStub, *stub);
    put(kSigactionPad, *pad);
    patch_sigaction();
    CHECK(::mprotect(code_.data(), code_.size(), PROT_READ | PROT_EXEC) == 0);
    install();
  }
  ~TrapPads() override { ::syscall(SYS_rt_sigaction, SIGTRAP, &before_, nullptr, 8); }

  TargetAddr at(size_t offset) const {
    return TargetAddr(reinterpret_cast<uintptr_t>(code_.data() + offset));
  }
  void put(size_t offset, std::span<const uint8_t> bytes) {
    std::memcpy(code_.data() + offset, bytes.data(), bytes.size());
  }
  void patch_sigaction() {
    code_.data()[kSigactionSite + 3] = 0xe9;
    const auto distance = static_cast<int32_t>(kSigactionPad - (kSigactionSite + 3 + 5));
    std::memcpy(code_.data() + kSigactionSite + 4, &distance, sizeof distance);
  }
  void install() {
    entry_ = {at(kTrapSite).value, at(kPad).value};
    table_.entries_addr = reinterpret_cast<uintptr_t>(&entry_);
    table_.entry_count = 1;
    table_.pid_addr = reinterpret_cast<uintptr_t>(&pid_);
    table_.own = {at(kStub).value, SA_SIGINFO | kRestorer, at(kRuntime + runtime::kRestoreOffset).value,
                  ~uint64_t{0}};
    CHECK(::syscall(SYS_rt_sigaction, SIGTRAP, &table_.own, &before_, 8) == 0);
  }
  // Through the patched site; the fourth argument comes in rcx, as for any function.
  long sigaction_by_site(int signal, const abi::SignalAction* act, abi::SignalAction* old) const {
    using Function = long (*)(int, const abi::SignalAction*, abi::SignalAction*, size_t);
    return reinterpret_cast<Function>(at(kSigactionSite).value)(signal, act, old, sizeof(uint64_t));
  }
  int trap() const { return reinterpret_cast<int (*)()>(at(kTrapSite).value)(); }

  Mapping code_;
  abi::TrapTable table_{};
  abi::TrapEntry entry_{};
  int32_t pid_ = 0;
  abi::SignalAction before_{};
};

TEST_F(TrapPads, a_trap_goes_on_in_its_pad) { EXPECT_EQ(trap(), 7); }

TEST_F(TrapPads, sigtrap_is_kept_from_the_kernel) {
  const abi::SignalAction act{1, 0, 0, 0};
  abi::SignalAction told{9, 9, 9, 9}, kernel{};
  EXPECT_EQ(sigaction_by_site(SIGTRAP, &act, &told), 0);
  EXPECT_EQ(told.handler, 0u);
  EXPECT_EQ(sigaction_by_site(SIGTRAP, nullptr, &told), 0);
  EXPECT_EQ(told.handler, 1u);
  EXPECT_EQ(::syscall(SYS_rt_sigaction, SIGTRAP, nullptr, &kernel, 8), 0);
  EXPECT_EQ(kernel.handler, at(kStub).value);
  EXPECT_EQ(trap(), 7);
}

TEST_F(TrapPads, other_signals_are_the_kernels) {
  const abi::SignalAction ignore{1, 0, 0, 0};
  abi::SignalAction kernel{};
  EXPECT_EQ(sigaction_by_site(SIGUSR1, &ignore, nullptr), 0);
  EXPECT_EQ(::syscall(SYS_rt_sigaction, SIGUSR1, nullptr, &kernel, 8), 0);
  EXPECT_EQ(kernel.handler, 1u);
  EXPECT_EQ(sigaction_by_site(SIGKILL, &ignore, nullptr), -EINVAL);
  ::signal(SIGUSR1, SIG_DFL);
}

}  // namespace
}  // namespace blip::jit
