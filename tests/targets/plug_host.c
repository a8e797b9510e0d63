// SPDX-License-Identifier: MIT
// plug_host SCRIPT LIBRARY...: does in each round what the words up to the next / say.
//   l0 u0    load, unload library 0           c0:5   call its plug_work() five times
//   x0:100   load, call twice, unload, a hundred times          t    a thread that keeps calling work()
//   f0       a child that loads it, calls plug_work() once and ends
// `calls` is how often plug_work() was called so far, `info at0` where it was.
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>

#include "work.h"

enum { kMost = 8 };
typedef unsigned long (*Work)(unsigned long);
static struct {
  void* handle;
  Work work;
} libraries[kMost];
static char** paths;
static unsigned long calls;
static volatile int is_busy;

static void call(int n, int times) {
  Work f = libraries[n].work;
  unsigned long zero = f(0), factor = f(1) - zero;
  require(zero == 1, "plug_work(0)");
  for (int i = 2; i < times; ++i) require(f((unsigned long)i) == (unsigned long)i * factor + 1, "plug_work");
  calls += (unsigned long)(times > 2 ? times : 2);
}

static void load(int n) {
  libraries[n].handle = dlopen(paths[n], RTLD_NOW);
  require(libraries[n].handle != 0, dlerror());
  libraries[n].work = (Work)dlsym(libraries[n].handle, "plug_work");
  require(libraries[n].work != 0, "plug_work");
  Dl_info about;
  require(dladdr((void*)libraries[n].work, &about), "dladdr");
  say("info at%d=%p", n, about.dli_fbase);
  if (dlsym(libraries[n].handle, "plug_twice")) calls += 2;  // its constructor
}

static void unload(int n) {
  if (dlsym(libraries[n].handle, "plug_twice")) calls += 1;  // its destructor
  require(!dlclose(libraries[n].handle), "dlclose");
}

static void* busy(void* unused) {
  for (unsigned long i = 0;; ++i) {
    work(i, "busy");
    is_busy = 1;
  }
  return unused;
}

// Until it runs it has all signals blocked.
static void start_busy(void) {
  pthread_t thread;
  require(!pthread_create(&thread, 0, busy, 0), "a thread");
  while (!is_busy) sched_yield();
}

static void child(int n) {
  pid_t pid = fork();
  if (pid == 0) {
    load(n);
    unload(n);
    _exit(7);
  }
  int status = 0;
  require(pid > 0 && waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7, "the child");
}

static void do_word(const char* word) {
  int n = word[1] ? word[1] - '0' : 0, times = strchr(word, ':') ? atoi(strchr(word, ':') + 1) : 1;
  require(n >= 0 && n < kMost, "the number of a library");
  switch (word[0]) {
    case 'l': return load(n);
    case 'u': return unload(n);
    case 'c': return call(n, times);
    case 'f': return child(n);
    case 't': return start_busy();
    case 'x':
      for (int i = 0; i < times; ++i) load(n), call(n, 2), unload(n);
      return;
    default: require(0, "the script");
  }
}

int main(int argc, char** argv) {
  require(argc > 2, "a script and a library");
  paths = argv + 2;
  char* rest;
  char* word = strtok_r(argv[1], " ", &rest);
  say("ready");
  while (next_round()) {
    for (; word && strcmp(word, "/") != 0; word = strtok_r(0, " ", &rest)) do_word(word);
    if (word) word = strtok_r(0, " ", &rest);
    say("calls=%lu", calls);
    say("done");
  }
  return 0;
}
