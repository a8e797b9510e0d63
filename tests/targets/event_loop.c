// SPDX-License-Identifier: MIT
// event_loop [lenient]: sleeps in epoll_wait like a server and ends with an error when it sees EINTR; a
// lenient one says how often it did. A byte on stdin is a request.
#include <sys/epoll.h>

#include "work.h"

int main(int argc, char** argv) {
  (void)argv;
  int interrupted = 0;
  int fd = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN};
  require(!epoll_ctl(fd, EPOLL_CTL_ADD, 0, &event), "epoll_ctl");
  say("ready");
  for (;;) {
    int ready = epoll_wait(fd, &event, 1, -1);
    if (argc > 1 && ready < 0 && errno == EINTR) {
      interrupted++;
      continue;
    }
    require(ready == 1, "epoll_wait");
    if (!next_round()) return 0;
    say("calls=1 sum %lx", work(1, "request"));
    if (interrupted) say("interrupted=%d", interrupted);
    interrupted = 0;
    say("done");
  }
}
