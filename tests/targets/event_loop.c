// SPDX-License-Identifier: MIT
// event_loop: sleeps in epoll_wait like a server and ends with an error when it sees EINTR. A byte on stdin
// is a request.
#include <sys/epoll.h>

#include "work.h"

int main(void) {
  int fd = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN};
  require(!epoll_ctl(fd, EPOLL_CTL_ADD, 0, &event), "epoll_ctl");
  say("ready");
  for (;;) {
    require(epoll_wait(fd, &event, 1, -1) == 1, "epoll_wait");
    if (!next_round()) return 0;
    say("calls=1 sum %lx", work(1, "request"));
    say("done");
  }
}
