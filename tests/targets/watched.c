// SPDX-License-Identifier: MIT
// watched [stopped]: a parent whose child works for it, or is stopped, tells each round how often waitpid has
// told it of a stop or of a continuation.
#include <sys/wait.h>

#include "work.h"

static void child(int told, int tells) {
  char byte;
  while (read(told, &byte, 1) == 1) {
    work(1, "watched");
    require(write(tells, "x", 1) == 1, "write");
  }
  _exit(6);
}

int main(int argc, char** argv) {
  int to_child[2], to_parent[2], status, changes = 0;
  char byte;
  require(!pipe(to_child) && !pipe(to_parent), "pipe");
  pid_t pid = fork();
  if (!pid) {
    close(to_child[1]);
    child(to_child[0], to_parent[1]);
  }
  const int stopped = argc > 1 && !strcmp(argv[1], "stopped");
  if (stopped) {
    kill(pid, SIGSTOP);
    require(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status), "a stopped child");
  }
  say("info child=%d", pid);
  say("ready");
  while (next_round()) {
    while (waitpid(pid, &status, WUNTRACED | WCONTINUED | WNOHANG) == pid) changes++;
    if (!stopped) require(write(to_child[1], "x", 1) == 1 && read(to_parent[0], &byte, 1) == 1, "an answer");
    say("calls=1 changes=%d", changes);
    say("done");
  }
  if (stopped) kill(pid, SIGCONT);
  close(to_child[1]);
  require(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 6,
          "the child's end");
  return 0;
}
