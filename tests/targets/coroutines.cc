// SPDX-License-Identifier: MIT
// coroutines N: N generators of C++20, resumed in turns; what a resumed coroutine calls is probed.
#include <coroutine>
#include <vector>

#include "target.h"

static unsigned long calls;

PROBED unsigned long step(unsigned long i) {
  calls++;
  return i * i;
}

struct Numbers {
  struct promise_type {
    unsigned long value = 0;
    Numbers get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(unsigned long v) {
      value = v;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { _exit(93); }
  };
  std::coroutine_handle<promise_type> handle;
};

Numbers squares(unsigned long from) {
  for (unsigned long i = from; i < from + 5; i++) co_yield step(i);
}

int main(int argc, char** argv) {
  unsigned long n = argc > 1 ? strtoul(argv[1], nullptr, 0) : 20;
  say("ready");
  while (next_round()) {
    calls = 0;
    unsigned long sum = 0;
    std::vector<Numbers> all;
    for (unsigned long i = 0; i < n; i++) all.push_back(squares(i));
    for (int turn = 0; turn < 6; turn++)
      for (Numbers& numbers : all) {
        numbers.handle.resume();
        if (!numbers.handle.done()) sum = sum * 3 + numbers.handle.promise().value;
      }
    for (Numbers& numbers : all) numbers.handle.destroy();
    say("calls=%lu checksum=%lx", calls, sum);
    say("done");
  }
  return 0;
}
