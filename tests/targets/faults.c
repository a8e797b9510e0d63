// SPDX-License-Identifier: MIT
// faults knows|barrier [later]: functions that begin with an instruction that may fault, and a handler.
//   knows    it knows the address of each such instruction and goes on behind the function's; any other
//   address
//            is an error, which it tells
//   barrier  it lets the program write to a page (a collector's write barrier) and goes on at the instruction
// later: the handler is installed with the first round, not before.
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "target.h"

// Each has one instruction that may fault, and goes on behind its first ret with -1 after that. Where both
// are is kept as distances: addresses in data would tell blip of them.
#define FAULTS(name, before, insn, behind)                                                                  \
  long name(long* a, long b, long c);                                                                       \
  extern const int name##_where[2];                                                                         \
  __asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" before ".L" #name \
          "_at: " insn "\n" behind "ret\n.L" #name "_on: mov $-1, %rax\nret\n.size " #name ", .-" #name     \
          "\n.section .rodata\n.globl " #name "_where\n" #name "_where: .long .L" #name "_at - " #name      \
          ", .L" #name "_on - " #name "\n.text\n")

FAULTS(loads_result, "", "mov (%rdi), %rax", "add %rsi, %rax\n");
FAULTS(loads_argument, "", "mov (%rdi), %rdi", "lea 1(%rdi,%rsi), %rax\n");
FAULTS(stores, "", "mov %rsi, (%rdi)", "mov %rsi, %rax\n");
FAULTS(compares, "", "cmpq %rsi, (%rdi)", "mov $0, %eax\nsete %al\n");
FAULTS(loads_vector, "", "movsd (%rdi), %xmm0", "movq %xmm0, %rax\n");
FAULTS(scans, "xor %eax, %eax\nmov %esi, %ecx\n", "repne scasb", "mov %rcx, %rax\n");
FAULTS(divides, "mov %rdx, %rax\ncqo\n", "idivq %rsi", "");
FAULTS(in_a_loop, "", "1: mov (%rdi), %rax", "dec %rsi\njns 1b\n");
FAULTS(later_on, "lea (%rsi,%rsi), %rcx\n", "mov (%rdi), %rax", "add %rcx, %rax\n");

typedef long (*Function)(long*, long, long);
static const struct {
  const char* name;
  Function function;
  const int* where;
} known[] = {
#define KNOWN(name) \
  { #name, name, name##_where }
    KNOWN(loads_result), KNOWN(loads_argument), KNOWN(stores),    KNOWN(compares), KNOWN(loads_vector),
    KNOWN(scans),        KNOWN(divides),        KNOWN(in_a_loop), KNOWN(later_on),
};
enum { kKnown = sizeof known / sizeof known[0] };

static volatile int faults;
static long* page;

static void goes_on(int signal, siginfo_t* info, void* context) {
  greg_t* const pc = &((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
  (void)signal, (void)info;
  faults++;
  for (int i = 0; i < kKnown; i++) {
    if (*pc != (greg_t)known[i].function + known[i].where[0]) continue;
    *pc = (greg_t)known[i].function + known[i].where[1];
    return;
  }
  require(0, "the address of the fault");
}

static void lets_write(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)context;
  faults++;
  require(info->si_addr == page, "the address that was written to");
  require(!mprotect(page, 4096, PROT_READ | PROT_WRITE), "mprotect");
}

static void handle(void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, 0);
  sigaction(SIGFPE, &action, 0);
}

// A hundred calls of each that work, ten that fault.
static void try_known(void) {
  long sum = 0, value = 7;
  for (int i = 0; i < kKnown; i++) {
    for (long n = 0; n < 100; n++) value = 7, sum += known[i].function(&value, 1 + n % 5, 35);
    for (int n = 0; n < 10; n++) {
      const int is_division = known[i].function == divides;
      require(known[i].function(is_division ? &value : (long*)8, !is_division, 35) == -1, known[i].name);
    }
  }
  require(faults == 10 * kKnown, "each fault, once");
  say("sum=%ld", sum);
}

static void write_behind_barrier(void) {
  for (long n = 0; n < 100; n++) {
    require(!mprotect(page, 4096, PROT_READ), "mprotect");
    require(stores(page, n, 0) == n && *page == n, "the store");
  }
  require(!mprotect(page, 4096, PROT_READ), "mprotect");
  require(faults == 100, "each fault, once");
  say("faults=100");
}

int main(int argc, char** argv) {
  const int is_barrier = argc > 1 && !strcmp(argv[1], "barrier"), is_late = argc > 2;
  void (*const handler)(int, siginfo_t*, void*) = is_barrier ? lets_write : goes_on;
  page = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(page != MAP_FAILED, "mmap");
  if (!is_late) handle(handler);
  say("ready");
  while (next_round()) {
    if (is_late) handle(handler);
    faults = 0;
    is_barrier ? write_behind_barrier() : try_known();
    say("done");
  }
  return 0;
}
