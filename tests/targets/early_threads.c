// SPDX-License-Identifier: MIT
// early_threads [N]: a constructor starts a thread that calls work() and waits for it, and one that lives on,
// calling work() N times when main() asks for it. Tells the number of calls and its SIGCONTs.
#include <pthread.h>

#include "work.h"

static unsigned long calls, sum;
static volatile sig_atomic_t continued;
static pthread_mutex_t asked = PTHREAD_MUTEX_INITIALIZER;
static pthread_t lives_on;
static unsigned long rounds;

static void on_continue(int signal) { continued += signal == SIGCONT; }

static void* once(void* arg) {
  sum += work(77, "early");
  calls++;
  return arg;
}

static void* later(void* arg) {
  pthread_mutex_lock(&asked);
  for (unsigned long i = 0; i < rounds; i++, calls++) sum += work(i, "later");
  return arg;
}

__attribute__((constructor)) static void at_start(void) {
  signal(SIGCONT, on_continue);
  pthread_t joined;
  pthread_create(&joined, 0, once, 0);
  pthread_join(joined, 0);
  require(continued == 0, "no SIGCONT that nobody has sent");
  pthread_mutex_lock(&asked);
  pthread_create(&lives_on, 0, later, 0);
}

int main(int argc, char** argv) {
  rounds = argc > 1 ? strtoul(argv[1], 0, 0) : 10;
  pthread_mutex_unlock(&asked);
  pthread_join(lives_on, 0);
  say("calls=%lu checksum=%lx", calls, sum);
  if (argc > 2) pause();
  return 0;
}
