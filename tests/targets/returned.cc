// SPDX-License-Identifier: MIT
// returned [CALLS]: functions that return values of every kind, in every place that the convention has for
// them; the values are known.
#include <cstdint>
#include <memory>

#include "target.h"

struct Pair {
  int x, y;
};
struct Longs {
  long first, second;
};
struct Mixed {
  double ratio;
  long count;
};
struct Doubles {
  double re, im;
};
struct Large {
  long words[4];
  const char* name;
};
enum Color { RED, GREEN = 5, BLUE = -3 };

int global_counter = 0;
static long numbers[4] = {10, 11, 12, 13};

// Owns what it points to: returned in memory though it would fit into a register.
class Handle {
 public:
  explicit Handle(int number) : number_(new int(number)) {}
  Handle(Handle&& other) noexcept : number_(other.number_) { other.number_ = nullptr; }
  ~Handle() { delete number_; }
  int get() const { return number_ ? *number_ : 0; }

 private:
  int* number_;
};

#define KEEP asm volatile("" ::: "memory")

PROBED signed char give_char(int i) {
  KEEP;
  return static_cast<signed char>(-i);
}
PROBED unsigned char give_byte(int i) {
  KEEP;
  return static_cast<unsigned char>(200 + i);
}
PROBED short give_short(int i) {
  KEEP;
  return static_cast<short>(-300 - i);
}
PROBED int give_int(int i) {
  KEEP;
  return -1000000 - i;
}
PROBED unsigned give_unsigned(int i) {
  KEEP;
  return 4000000000U + static_cast<unsigned>(i);
}
PROBED long give_long(int i) {
  KEEP;
  return -5000000000L - i;
}
PROBED bool give_bool(int i) {
  KEEP;
  return i % 2 == 0;
}
PROBED Color give_color(int i) {
  KEEP;
  return i % 2 ? BLUE : GREEN;
}
PROBED float give_float(int i) {
  KEEP;
  return 0.5F + static_cast<float>(i);
}
PROBED double give_double(int i) {
  KEEP;
  return -2.25 - i;
}
PROBED const char* give_text(int i) {
  KEEP;
  return i == 2 ? nullptr : "a text";
}
PROBED long* give_pointer(int i) {
  KEEP;
  return &numbers[i % 4];
}
PROBED long& give_reference(int i) {
  KEEP;
  return numbers[i % 4];
}
PROBED Pair give_pair(int i) {
  KEEP;
  return {i, -i};
}
PROBED Longs give_longs(int i) {
  KEEP;
  return {i, -7L * i};
}
PROBED Mixed give_mixed(int i) {
  KEEP;
  return {i + 0.5, 3L * i};
}
PROBED Doubles give_doubles(int i) {
  KEEP;
  return {i + 0.25, -i - 0.5};
}
PROBED Large give_large(int i) {
  KEEP;
  return {{i, 2L * i, 3L * i, 4L * i}, "large"};
}
PROBED Handle give_handle(int i) {
  KEEP;
  return Handle(i + 70);
}
PROBED std::unique_ptr<int> give_unique(int i) {
  KEEP;
  return std::make_unique<int>(i + 90);
}
PROBED void give_nothing(int i) {
  global_counter += i;
  KEEP;
}
// Changes its arguments, and what they point to.
PROBED long change(Pair p, Pair* where, const char* text, int i) {
  const long before = p.x + where->y + text[0];
  where->y += 100;
  p.x = i = -1;
  text = nullptr;
  asm volatile("" : "+r"(i), "+r"(text) : "m"(p) : "memory");
  return before;
}

int main(int argc, char** argv) {
  const int calls = argc > 1 ? atoi(argv[1]) : 3;
  say("info numbers=%#lx", reinterpret_cast<unsigned long>(numbers));
  say("ready");
  while (next_round()) {
    long sum = 0;
    Pair where = {5, 6};
    global_counter = 0;
    for (int i = 0; i < calls; i++) {
      sum += give_char(i) + give_byte(i) + give_short(i) + give_int(i) + give_unsigned(i) + give_long(i);
      sum +=
          give_bool(i) + give_color(i) + static_cast<long>(give_float(i)) + static_cast<long>(give_double(i));
      sum += give_text(i) != nullptr;
      sum +=
          *give_pointer(i) + give_reference(i) + give_pair(i).y + give_longs(i).second + give_mixed(i).count;
      sum += static_cast<long>(give_doubles(i).im) + give_large(i).words[3] + give_handle(i).get() +
             *give_unique(i);
      give_nothing(i);
      sum += change({i, 2}, &where, "word", i);
    }
    say("calls=%d sum=%ld", calls, sum);
    say("done");
  }
  return 0;
}
