// SPDX-License-Identifier: MIT
// comes_and_goes LIB: a round starts a named thread that calls work(), loads and unloads a library, forks a child that
// calls work() and ends with 7, and one that kills itself; each waits for a line of input between its begin and its
// end. Then it ends with 3.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "work.h"

static void step(const char* name) {
  say("%s", name);
  require(next_round(), name);
}

static void* named(void* unused) {
  require(!pthread_setname_np(pthread_self(), "helper"), "a name");
  say("info htid=%d", (int)syscall(SYS_gettid));
  work(1, "thread");
  step("in_thread");
  return unused;
}

static void child(int how) {
  pid_t pid = fork();
  if (pid == 0) {
    work(2, "child");
    say("info child%d=%d", how, (int)getpid());
    step(how == 0 ? "in_child" : "in_crash");
    if (how != 0) {
      signal(SIGSEGV, SIG_DFL);
      raise(SIGSEGV);
    }
    _exit(7);
  }
  int status = 0;
  require(pid > 0 && waitpid(pid, &status, 0) == pid, "a child");
}

int main(int argc, char** argv) {
  require(argc > 1, "a library");
  say("ready");
  require(next_round(), "the round");
  pthread_t thread;
  require(!pthread_create(&thread, 0, named, 0) && !pthread_join(thread, 0), "a thread");
  void* library = dlopen(argv[1], RTLD_NOW);
  require(library != 0, "dlopen");
  step("loaded");
  require(!dlclose(library), "dlclose");
  step("unloaded");
  child(0);
  child(1);
  step("last");
  return 3;
}
