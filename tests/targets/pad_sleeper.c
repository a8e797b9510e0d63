// SPDX-License-Identifier: MIT
// pad_sleeper plain|alt|disarm: hammers a probed function; a timer's handler that finds itself on top of one of blip's pads
// waits there for a line of input, and then goes back into the pad. On the thread's own stack, on an alternate one,
// or on one that is disarmed while the handler runs (SS_AUTODISARM).
#include <fcntl.h>
#include <poll.h>
#include <sys/time.h>
#include <ucontext.h>

#include "target.h"

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31)
#endif

static char stack_memory[65536], maps[1 << 16];
static volatile int slept;

PROBED int hammered(int a) {
  __asm__ volatile("" : "+r"(a));
  return a * 1000003 + 1;
}

// True if the address is in one of blip's pads.
static int in_pad(unsigned long pc) {
  const int fd = open("/proc/self/maps", O_RDONLY);
  size_t size = 0;
  for (ssize_t n; size < sizeof maps - 1 && (n = read(fd, maps + size, sizeof maps - 1 - size)) > 0;)
    size += (size_t)n;
  close(fd);
  maps[size] = 0;
  for (char* line = maps; line && *line; line = strchr(line, '\n'), line += !!line) {
    unsigned long begin = strtoul(line, &line, 16), end = strtoul(line + 1, &line, 16);
    char* name = strstr(line, "/memfd:blip-pads");
    char* next = strchr(line, '\n');
    if (pc >= begin && pc < end) return name && (!next || name < next);
  }
  return 0;
}

static void tick(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info;
  const int saved = errno;
  if (!slept && in_pad((unsigned long)((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP])) {
    say("info inside");
    slept = 1;
    next_round();
    say("info outside");
  }
  errno = saved;
}

static int input_waits(void) {
  struct pollfd in = {.fd = 0, .events = POLLIN};
  return poll(&in, 1, 0) > 0;
}

int main(int argc, char** argv) {
  struct sigaction action = {.sa_sigaction = tick, .sa_flags = SA_SIGINFO | SA_RESTART};
  if (argc > 1 && strcmp(argv[1], "plain")) {
    stack_t stack = {.ss_sp = stack_memory, .ss_size = sizeof stack_memory};
    stack.ss_flags = strcmp(argv[1], "disarm") ? 0 : (int)SS_AUTODISARM;
    require(!sigaltstack(&stack, 0), "sigaltstack");
    action.sa_flags |= SA_ONSTACK;
  }
  sigaction(SIGALRM, &action, 0);
  say("ready");
  while (next_round()) {
    slept = 0;
    struct itimerval timer = {{0, 500}, {0, 500}}, off = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &timer, 0);
    for (int n = 0; !slept && (n % 1024 || !input_waits()); n++)
      require(hammered(n) == (int)((unsigned)n * 1000003u + 1), "the product");
    setitimer(ITIMER_REAL, &off, 0);
    say("done");
  }
  return 0;
}
