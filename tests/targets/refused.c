// SPDX-License-Identifier: MIT
// refused [inside]: things that cannot be probed. `inside`: a handler waits on top of the second instruction
// of stepped().
#include <stddef.h>
#include <ucontext.h>

#include "work.h"

unsigned long with_rseq(unsigned long), stepped(unsigned long);

__asm__(
    ".text\n.globl with_rseq, stepped\n"
    ".type with_rseq, @function\nwith_rseq: lea 1(%rdi), %rax\n1: add $1, %rax\n2: ret\n.long 0x53053053\n3: "
    "ret\n"
    ".size with_rseq, . - with_rseq\n"
    ".pushsection __rseq_cs, \"aw\"\n.balign 32\n.long 0, 0\n.quad 1b, 2b - 1b, 3b\n.popsection\n"
    ".type stepped, @function\nstepped: mov %rdi, %rax\nadd $2, %rax\nret\n.size stepped, . - stepped\n");

static volatile int waiting;

static void on_step(int signal, siginfo_t* info, void* context) {
  (void)signal;
  (void)info;
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  if (registers[REG_RIP] != (greg_t)((uintptr_t)&stepped + 3)) return;
  registers[REG_EFL] &= ~0x100;
  waiting = 1;
  say("ready");
  next_round();
}

// Single-steps itself into stepped().
static void wait_inside(void) {
  struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
  require(!sigaction(SIGTRAP, &action, 0), "sigaction");
  unsigned long result;
  __asm__ volatile("sub $128, %%rsp\npushfq\norl $0x100, (%%rsp)\npopfq\ncall stepped\nadd $128, %%rsp"
                   : "=a"(result)
                   : "D"(40)
                   : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
  require(result == 42 && waiting, "stepped");
}

int main(int argc, char** argv) {
  if (argc > 1 && !strcmp(argv[1], "inside")) {
    wait_inside();
    say("done");
  } else {
    say("ready");
  }
  while (next_round()) {
    unsigned long sum = 0;
    for (unsigned long i = 0; i < 10; i++) sum += with_rseq(i) + stepped(i) + work(i, "refused");
    say("calls=10 checksum=%lx", sum);
    say("done");
  }
  return 0;
}
