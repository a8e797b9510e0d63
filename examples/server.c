// SPDX-License-Identifier: MIT
// A small key-value server to try blip on. Each worker thread answers one client thread of the same process over a
// socket pair, so it needs no port and makes its own load: some thousand requests per second.
//
//   gcc -O2 -g -pthread server.c -o server && ./server [SECONDS]      (ends by itself, default 60)
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#define PROBEABLE __attribute__((noipa)) // keeps the function and its name, whatever the optimizer thinks

enum { kWorkers = 3, kItems = 64, kLine = 64, kPauseNs = 200 * 1000 };

struct request {
  char verb[8];
  unsigned key;
  long value;
};

struct item {
  _Atomic long value;
};

static struct item items[kItems];
static atomic_bool stopping;
static atomic_long served;

PROBEABLE struct item* lookup_item(unsigned key) { return &items[key % kItems]; }

PROBEABLE int parse_request(const char* line, struct request* request) {
  return sscanf(line, "%7s %u %ld", request->verb, &request->key, &request->value);
}

PROBEABLE long handle_get(const struct request* request) { return lookup_item(request->key)->value; }

PROBEABLE long handle_put(const struct request* request) {
  return lookup_item(request->key)->value = request->value;
}

PROBEABLE long handle_sum(const struct request* request) {
  long sum = 0;
  for (unsigned key = 0; key <= request->key; ++key) sum += lookup_item(key)->value;
  return sum;
}

PROBEABLE int render_reply(char* line, long value) { return snprintf(line, kLine, "OK %ld", value); }

PROBEABLE void serve_request(int connection, const char* line) {
  struct request request = {0};
  char reply[kLine];
  int size;
  if (parse_request(line, &request) < 2)
    size = snprintf(reply, sizeof(reply), "ERROR");
  else if (!strcmp(request.verb, "PUT"))
    size = render_reply(reply, handle_put(&request));
  else if (!strcmp(request.verb, "SUM"))
    size = render_reply(reply, handle_sum(&request));
  else
    size = render_reply(reply, handle_get(&request));
  if (write(connection, reply, (size_t)size + 1) > 0) served++;
}

static void* worker(void* connection) {
  char line[kLine];
  const int fd = (int)(long)connection;
  while (read(fd, line, sizeof(line)) > 0) serve_request(fd, line);
  return NULL;
}

// Eight requests of which five read, two write, one sums up; then a short pause.
static void* client(void* connection) {
  static const char* const verbs[] = {"GET", "PUT", "GET", "GET", "SUM", "GET", "PUT", "GET"};
  const int fd = (int)(long)connection;
  const struct timespec pause = {0, kPauseNs};
  char line[kLine];
  for (unsigned i = 0; !stopping; ++i) {
    const int size = snprintf(line, sizeof(line), "%s %u %u", verbs[i % 8], i % 7, i);
    if (write(fd, line, (size_t)size + 1) < 0 || read(fd, line, sizeof(line)) <= 0) break;
    nanosleep(&pause, NULL);
  }
  close(fd);
  return NULL;
}

static void on_signal(int number) {
  (void)number;
  stopping = 1;
}

int main(int argc, char** argv) {
  pthread_t threads[2 * kWorkers];
  const int seconds = argc > 1 ? atoi(argv[1]) : 60;
  signal(SIGPIPE, SIG_IGN);
  signal(SIGTERM, on_signal);
  signal(SIGINT, on_signal);
  for (int i = 0; i < kWorkers; ++i) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) return perror("socketpair"), 1;
    if (pthread_create(&threads[2 * i], NULL, worker, (void*)(long)ends[0]) ||
        pthread_create(&threads[2 * i + 1], NULL, client, (void*)(long)ends[1]))
      return fputs("cannot start threads\n", stderr), 1;
  }
  struct timespec now, end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += seconds;
  do {
    const struct timespec tick = {0, 50 * 1000 * 1000};
    nanosleep(&tick, NULL);
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (!stopping && now.tv_sec < end.tv_sec);
  stopping = 1;
  for (int i = 0; i < 2 * kWorkers; ++i) pthread_join(threads[i], NULL);
  printf("server: %ld requests answered\n", served);
  return 0;
}
