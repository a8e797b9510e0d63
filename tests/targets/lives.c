// SPDX-License-Identifier: MIT
// lives SEED LOG: a program at random of threads, forks, vforks, posix_spawn, exec and ends, that writes down what it did:
//   thread PID TID     by the thread, when it begins
//   fork PARENT CHILD  by the parent
//   end PID STATUS     by who waited for it; -SIGNAL if it was killed
// Each thread that runs this program calls work() first and last.
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "work.h"

extern char** environ;
static int log_fd;

static void note(const char* what, long a, long b) {
  char line[64];
  const int n = snprintf(line, sizeof line, "%s %ld %ld\n", what, a, b);
  require(write(log_fd, line, (size_t)n) == n, "the log");
}

static unsigned next(unsigned* state, unsigned below) {
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 16) % below;
}

static void begins(void) {
  note("thread", getpid(), (long)syscall(SYS_gettid));
  work(1, "begins");
}

static void live(unsigned seed, int depth);

struct life {
  unsigned seed;
  int depth;
};

static void* thread(void* argument) {
  const struct life life = *(struct life*)argument;
  free(argument);
  begins();
  live(life.seed, life.depth);
  work(2, "ends");
  if (life.seed % 2) pthread_exit(0);
  return 0;
}

static void make_threads(unsigned seed, int depth, unsigned count) {
  pthread_t threads[8];
  for (unsigned i = 0; i < count; i++) {
    struct life* life = malloc(sizeof *life);
    require(life != 0, "malloc");
    *life = (struct life){seed + i * 7919, depth - 1};
    require(!pthread_create(&threads[i], 0, thread, life), "pthread_create");
  }
  for (unsigned i = 0; i < count; i++) require(!pthread_join(threads[i], 0), "pthread_join");
}

static void wait_for(pid_t child) {
  int status = 0;
  require(child > 0, "a child");
  note("fork", getpid(), child);
  require(waitpid(child, &status, 0) == child, "waitpid");
  note("end", child, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
}

static void fork_one(unsigned seed, int depth) {
  const pid_t child = fork();
  if (child == 0) {
    begins();
    live(seed, depth - 1);
    work(2, "ends");
    if (seed % 5 == 0) kill(getpid(), SIGKILL);
    if (seed % 3 == 0) exit((int)(seed % 100));
    _exit((int)(seed % 100));
  }
  wait_for(child);
}

static void vfork_one(unsigned seed) {
  static char* const words[] = {"/bin/true", 0};
  const pid_t child = vfork();
  if (child == 0) {
    if (seed % 3 == 0) execve("/nowhere", words, environ);
    if (seed % 2) execve(words[0], words, environ);
    _exit(9);
  }
  wait_for(child);
}

static void spawn_one(unsigned seed) {
  static char* const words[] = {"sh", "-c", "exit 5", 0};
  pid_t child = -1;
  require(!(seed % 2 ? posix_spawnp(&child, "sh", 0, 0, words, environ)
                     : posix_spawn(&child, "/bin/sh", 0, 0, words, environ)),
          "posix_spawn");
  wait_for(child);
}

static void live(unsigned seed, int depth) {
  unsigned state = seed;
  const unsigned steps = depth <= 0 ? 0 : 1 + next(&state, 4);
  for (unsigned i = 0; i < steps; i++) {
    const unsigned what = next(&state, 8), more = next(&state, 60000);
    if (what < 3)
      make_threads(more, depth, 1 + more % 6);
    else if (what < 6)
      fork_one(more, depth);
    else if (what == 6)
      vfork_one(more);
    else
      spawn_one(more);
  }
}

int main(int argc, char** argv) {
  require(argc > 2, "two arguments");
  const unsigned seed = (unsigned)strtoul(argv[1], 0, 0);
  log_fd = open(argv[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  require(log_fd >= 0, argv[2]);
  begins();
  make_threads(seed, 0, 3);
  for (unsigned i = 0; i < 4; i++) live(seed + i, 3);
  work(2, "ends");
  return (int)(seed % 50);
}
