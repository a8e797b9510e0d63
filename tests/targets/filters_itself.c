// SPDX-License-Identifier: MIT
// filters_itself HOW: threads call work() with text that only the kernel can tell to be there, and under that
// load the program puts itself under a seccomp filter that kills for what it does not do itself.
//   all      seccomp(), all threads at once, while they call
//   prctl    the main thread alone, and its child
//   raw      the same, and the child is made without libc's help
//   child    only that child, by itself
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "allow.h"
#include "work.h"

enum { THREADS = 2, BEFORE = 500, AFTER = 500 };

static struct sock_filter filter[] = {
    LOAD_CALL,
    ALLOW(read),
    ALLOW(write),
    ALLOW(exit),
    ALLOW(exit_group),
    ALLOW(restart_syscall),
    ALLOW(clone),
    ALLOW(rt_sigprocmask),
    ALLOW(set_robust_list),
    ALLOW(wait4),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};
static struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};

static const char* text;
static atomic_ulong* calls;  // shared with the child
static atomic_int ready, installed, left;

static void call(unsigned long i) {
  atomic_fetch_add(calls, 1);
  require(work(i, text) != 1, "an answer");
  for (int k = 0; k < 300; k++) __builtin_ia32_pause();  // blip is to come along
}

static void* caller(void* unused) {
  (void)unused;
  for (unsigned long i = 0; i < BEFORE; i++) call(i);
  ready++;
  for (unsigned long i = 0; !installed; i++) call(i);
  for (unsigned long i = 0; i < AFTER; i++) call(i);
  left++;
  syscall(SYS_exit, 0);  // what libc would do at the end of a thread is not allowed
  return NULL;
}

static void install(const char* how) {
  require(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
  if (strcmp(how, "all") == 0)
    require(!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program), "seccomp");
  else
    require(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0), "prctl");
}

static void fork_one(const char* how) {
  pid_t child = strcmp(how, "prctl") == 0 ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) {
    call(0);
    if (strcmp(how, "child") == 0) install("prctl");
    for (unsigned long i = 0; i < 10; i++) call(i);
    syscall(SYS_exit_group, 0);
  }
  int status = -1;
  require(wait4(child, &status, 0, NULL) == child && status == 0, "the child");
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "all";
  char* shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  text = strcpy(shared, "only the kernel knows");
  calls = (void*)(shared + 4096);
  say("ready");
  require(next_round(), "a round");
  for (int i = 0; i < THREADS; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, caller, NULL);
  }
  while (ready != THREADS) continue;
  if (strcmp(how, "child") != 0) install(how);
  installed = 1;
  for (unsigned long i = 0; i < AFTER; i++) call(i);
  while (left != THREADS) continue;
  if (strcmp(how, "all") != 0) fork_one(how);
  say("info calls=%lu", atomic_load(calls));
  say("done");
  next_round();
  syscall(SYS_exit_group, 0);
}
