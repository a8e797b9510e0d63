// SPDX-License-Identifier: MIT
// For tests only.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <set>

#include "jit/test_calls.h"

namespace blip::jit::test {

// Single-steps through a call and does something where an instruction of the pads comes for the first time.
struct Stepper {
  static inline const ProbedFunction* function = nullptr;
  static inline void (*at_each)(uint64_t pc) = nullptr;
  static inline std::set<uint64_t> seen;

  Stepper(const ProbedFunction& f, void (*what)(uint64_t)) {
    function = &f;
    at_each = what;
    seen.clear();
    struct sigaction action {};
    action.sa_sigaction = on_step;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    ::sigaction(SIGTRAP, &action, &before_);
  }
  ~Stepper() { ::sigaction(SIGTRAP, &before_, nullptr); }

  static void on_step(int, siginfo_t*, void* context) {
    const auto pc = static_cast<uint64_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
    if (function->in_pads(pc) && seen.insert(pc).second) at_each(pc);
  }
  static void set_trap_flag(bool on) {
    if (on) {
      asm volatile("lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp" ::
                       : "cc", "memory");
    } else {
      asm volatile("lea -128(%%rsp), %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp" ::
                       : "cc", "memory");
    }
  }

 private:
  struct sigaction before_ {};
};

}  // namespace blip::jit::test
