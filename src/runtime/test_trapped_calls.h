// SPDX-License-Identifier: MIT
// For tests only: a thread in which the runtime's system calls on its own memory are trapped, and the gate
// page is looked at where they are made.
#pragma once

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <thread>

#include "abi/layout.h"

namespace blip::runtime {

struct TrappedCalls {
  unsigned count = 0;
  unsigned unannounced = 0;  // outside of begin_own_call() and end_own_call()
};

inline TrappedCalls trapped_calls;
inline const abi::GatePage* trapping_page;

inline void note_trapped_call(int, siginfo_t*, void* context) {
  ++trapped_calls.count;
  trapped_calls.unannounced += trapping_page->calls != 1;
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RAX] = -EPERM;
}

// Counts the calls of gettid and process_vm_readv that `work` makes. All of them fail.
template <typename Work>
TrappedCalls with_trapped_calls(const abi::GatePage* page, Work work) {
  constexpr sock_filter kTrap = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_gettid, 0, 1),
                          kTrap,
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
                          kTrap,
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  trapped_calls = {};
  trapping_page = page;
  struct sigaction action {
  }, before{};
  action.sa_sigaction = note_trapped_call;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSYS, &action, &before);
  std::thread([&] {  // a filter is there for good, but it is the thread's
    const sock_fprog program{std::size(filter), filter};
    ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    work();
  })
      .join();
  ::sigaction(SIGSYS, &before, nullptr);
  return trapped_calls;
}

}  // namespace blip::runtime
