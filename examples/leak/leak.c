// SPDX-License-Identifier: MIT
// A leak of connections. A crawler fetches pages over a pool of connections, and opens a new one when the pool is empty. One
// should be enough, since it fetches one page after the other. README.md finds the path that does not give its connection back.
//
//   gcc -O2 -g leak.c -o leak && ./leak [PAGES]      (default 1000)
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP __attribute__((noinline)) // stays a function of its own

struct connection {
  int number;
  int uses;
  struct connection* next_free;
};

struct page {
  int number;
  int status; // as in HTTP
  int length;
};

static struct connection* free_list;
static int opened;

STEP struct connection* open_connection(void) {
  struct connection* connection = calloc(1, sizeof(*connection));
  connection->number = ++opened;
  return connection;
}

STEP struct connection* pool_get(void) {
  struct connection* connection = free_list;
  if (connection)
    free_list = connection->next_free;
  else
    connection = open_connection();
  ++connection->uses;
  return connection;
}

STEP void pool_put(struct connection* connection) {
  connection->next_free = free_list;
  free_list = connection;
}

STEP int send_request(struct connection* connection, struct page* page) {
  page->status = page->number % 50 == 17 ? 404 : page->number % 100 == 42 ? 302 : 200;
  page->length = page->status == 200 ? 1000 + page->number % 300 : 0;
  return connection->number > 0 ? page->status : -1;
}

STEP int follow_redirect(struct page* page) {
  page->number += 1000000;
  return 0;
}

STEP int fetch_page(struct page* page) {
  struct connection* connection = pool_get();
  const int status = send_request(connection, page);
  if (status == 404) {
    pool_put(connection);
    return -1;
  }
  if (status == 302) {
    page->length = follow_redirect(page);
    return page->length;
  }
  pool_put(connection);
  return page->length;
}

int main(int argc, char** argv) {
  const int pages = argc > 1 ? atoi(argv[1]) : 1000;
  long bytes = 0;
  for (int i = 0; i < pages; ++i) {
    struct page page = {.number = i};
    const int length = fetch_page(&page);
    if (length > 0) bytes += length;
  }
  printf("leak: %d pages, %ld bytes, %d connections opened\n", pages, bytes, opened);
  return 0;
}
