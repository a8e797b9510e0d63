// SPDX-License-Identifier: MIT
// A shop that is fast nearly always. Two threads take orders; most take a microsecond, some take a hundred times
// as long. docs/tutorial.md finds out why.
//
//   gcc -O2 -g -pthread checkout.c -o checkout && ./checkout [SECONDS]      (ends by itself, default 60)
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEP __attribute__((noinline)) // a step of an order stays a function of its own

enum { kThreads = 2, kItems = 500, kBuckets = 4096, kCampaign = 20000, kSingles = 2000, kPauseNs = 100 * 1000 };

struct coupon {
  char code[24];
  int percent;
  struct coupon* next;
};

struct order {
  unsigned id;
  int item;
  int quantity;
  const char* coupon; // NULL: none
  long total;         // in cents
};

static long prices[kItems];
static atomic_long stock[kItems];
static struct coupon* buckets[kBuckets];
static atomic_bool stopping;
static atomic_long taken;

#ifndef FIXED
// The first four letters were enough when each coupon was printed by itself.
STEP unsigned hash_code(const char* code) {
  unsigned hash = 0;
  for (int i = 0; i < 4 && code[i]; ++i) hash = hash * 31 + (unsigned char)code[i];
  return hash % kBuckets;
}
#else
STEP unsigned hash_code(const char* code) {
  unsigned hash = 0;
  for (; *code; ++code) hash = hash * 31 + (unsigned char)*code;
  return hash % kBuckets;
}
#endif

STEP int same_code(const struct coupon* coupon, const char* code) { return strcmp(coupon->code, code) == 0; }

STEP struct coupon* find_coupon(const char* code) {
  struct coupon* coupon = buckets[hash_code(code)];
  while (coupon && !same_code(coupon, code)) coupon = coupon->next;
  return coupon;
}

STEP void add_coupon(const char* code, int percent) {
  struct coupon* coupon = malloc(sizeof(*coupon));
  struct coupon** bucket = &buckets[hash_code(code)];
  snprintf(coupon->code, sizeof(coupon->code), "%s", code);
  coupon->percent = percent;
  coupon->next = *bucket;
  *bucket = coupon;
}

STEP long find_price(int item) { return prices[item]; }

STEP int reserve_stock(int item, int quantity) {
  if (atomic_fetch_sub(&stock[item], quantity) >= quantity) return 1;
  atomic_fetch_add(&stock[item], 1000); // the storehouse sends more
  return 0;
}

STEP long apply_coupon(struct order* order) {
  const struct coupon* coupon = order->coupon ? find_coupon(order->coupon) : NULL;
  if (coupon) order->total -= order->total * coupon->percent / 100;
  return order->total;
}

STEP int write_receipt(const struct order* order, char* text, size_t size) {
  return snprintf(text, size, "order %u: %d x item %d, %ld.%02ld\n", order->id, order->quantity, order->item,
                  order->total / 100, order->total % 100);
}

STEP int take_order(struct order* order) {
  char receipt[80];
  order->total = find_price(order->item) * order->quantity;
  if (!reserve_stock(order->item, order->quantity)) return -1;
  apply_coupon(order);
  taken++;
  return write_receipt(order, receipt, sizeof(receipt));
}

// Every fourth customer has a coupon; one in fifty has one of the summer's campaign.
static void* till(void* number) {
  const struct timespec pause = {0, kPauseNs};
  unsigned state = 12345 + (unsigned)(long)number;
  char code[24];
  for (unsigned turn = 0; !stopping; ++turn) {
    const unsigned id = turn * kThreads + (unsigned)(long)number;
    struct order order = {.id = id, .item = (int)(id * 7 % kItems), .quantity = 1 + (int)(id % 3)};
    state = state * 1664525 + 1013904223;
    if (turn % 50 == 0)
      snprintf(code, sizeof(code), "SUMMER-%05u", (state >> 8) % kCampaign);
    else
      snprintf(code, sizeof(code), "%04u-THANKS", (state >> 8) % kSingles);
    if (turn % 50 == 0 || turn % 4 == 0) order.coupon = code;
    take_order(&order);
    nanosleep(&pause, NULL);
  }
  return NULL;
}

static void on_signal(int number) {
  (void)number;
  stopping = 1;
}

int main(int argc, char** argv) {
  const struct timespec tick = {0, 50 * 1000 * 1000};
  const int ticks = 20 * (argc > 1 ? atoi(argv[1]) : 60);
  pthread_t threads[kThreads];
  char code[24];
  signal(SIGTERM, on_signal);
  signal(SIGINT, on_signal);
  for (int i = 0; i < kItems; ++i) {
    prices[i] = 199 + 37 * i;
    stock[i] = 1000;
  }
  for (int i = 0; i < kSingles; ++i) {
    snprintf(code, sizeof(code), "%04d-THANKS", i);
    add_coupon(code, 5);
  }
  for (int i = 0; i < kCampaign; ++i) {
    snprintf(code, sizeof(code), "SUMMER-%05d", i);
    add_coupon(code, 20);
  }
  for (long i = 0; i < kThreads; ++i)
    if (pthread_create(&threads[i], NULL, till, (void*)i)) return fputs("cannot start threads\n", stderr), 1;
  for (int i = 0; i < ticks && !stopping; ++i) nanosleep(&tick, NULL);
  stopping = 1;
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  printf("checkout: %ld orders taken\n", taken);
  return 0;
}
