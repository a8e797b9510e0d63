// SPDX-License-Identifier: MIT
// The driver every measured program shares, so that their loops and clocks are the same. The program offers
// variants; commands come as lines on stdin, answers go to stdout, end of input ends it:
//
//   run VARIANT BURSTS CALLS PAUSE_US THREADS -> "ns CPU/WALL..." ns per call, mean of the threads, by burst
//   rate VARIANT CALLS_PER_S MS               -> "rate CALLS WALL_NS" from one thread, spread over the time
//   spin N                                    -> "spin N" what burst_spin is from now on
//
// Between bursts it sleeps, so that a consumer can drain: rings never fill, and what is timed is recording,
// not discarding. CPU time is what is compared: other load on the machine does not count in it.
#pragma once

typedef void burst_loop(long calls);

struct burst_variant {
  const char* name;
  burst_loop* loop;
};

int burst_main(const struct burst_variant* variants);  // ends with a variant whose name is null

// Steps of work a call of spin_work() makes: from nothing to some microseconds.
extern long burst_spin;

// Defines a loop that calls `function` and cannot be optimised around it.
#define BURST_LOOP(loop_name, function)                  \
  static void loop_name(long calls) {                    \
    for (long i = 0; i < calls; i++) {                   \
      int result = function((int)i, "a burst of calls"); \
      __asm__ volatile("" : : "r"(result) : "memory");   \
    }                                                    \
  }
