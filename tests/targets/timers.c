// SPDX-License-Identifier: MIT
// timers: a timerfd, a POSIX timer and an interval timer run all the time. A round tells whether each has
// expired as often as the clock says it should have, be the process stopped meanwhile or not.
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>

#include "work.h"

enum { kPeriodNs = 5000000 };
static volatile long posix_expirations, interval_signals;
static timer_t posix_timer;

static void on_posix(int signal) {
  (void)signal;
  posix_expirations += 1 + timer_getoverrun(posix_timer);
}
static void on_interval(int signal) {
  (void)signal;
  interval_signals++;
}

static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000 + t.tv_nsec;
}

// A timer that expired between two looks at the clock expired between the times that they gave.
static void check(const char* what, long count, long least, long most) {
  if (count < least || count > most)
    say("WRONG: %s expired %ld times, expected %ld to %ld", what, count, least, most);
  require(count >= least && count <= most, what);
}

int main(void) {
  struct sigaction posix_action = {.sa_handler = on_posix, .sa_flags = SA_RESTART},
                   interval_action = {.sa_handler = on_interval, .sa_flags = SA_RESTART};
  sigaction(SIGUSR1, &posix_action, 0);
  sigaction(SIGALRM, &interval_action, 0);
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  require(!timer_create(CLOCK_MONOTONIC, &event, &posix_timer), "timer_create");
  int fd = timerfd_create(CLOCK_MONOTONIC, 0);
  const struct itimerspec every = {{0, kPeriodNs}, {0, kPeriodNs}};
  const struct itimerval every_micro = {{0, kPeriodNs / 1000}, {0, kPeriodNs / 1000}};
  long before = now();
  require(!timerfd_settime(fd, 0, &every, 0) && !timer_settime(posix_timer, 0, &every, 0), "settime");
  require(!setitimer(ITIMER_REAL, &every_micro, 0), "setitimer");
  long after = now();
  long file_expirations = 0;
  say("ready");
  while (next_round()) {
    uint64_t more;
    long least = (now() - after) / kPeriodNs;
    require(read(fd, &more, sizeof more) == sizeof more, "read of a timerfd");
    file_expirations += (long)more;
    check("the timerfd", file_expirations, least, (now() - before) / kPeriodNs);
    while (posix_expirations < least || !interval_signals) usleep(1000);  // on their way
    check("the POSIX timer", posix_expirations, least, (now() - before) / kPeriodNs);
    check("the interval timer", interval_signals, 1, (now() - before) / kPeriodNs);
    unsigned long sum = work(1, "timers");
    say("calls=1 sum=%lx", sum);
    say("done");
  }
  return 0;
}
