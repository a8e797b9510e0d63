// SPDX-License-Identifier: MIT
// throws N: exceptions fly through probed functions with objects to destroy and are caught above them.
#include <stdexcept>

#include "target.h"

namespace shop {
static unsigned long destroyed, calls;
struct Guard {
  ~Guard() { destroyed++; }
};

PROBED unsigned long inner(unsigned long i) {
  calls++;
  if (i % 3 == 0) throw std::runtime_error("third");
  return i * 5;
}

PROBED unsigned long middle(unsigned long i) {
  calls++;
  Guard guard;
  try {
    return inner(i) + 1;
  } catch (const std::logic_error&) {
    return 0;
  }
}

PROBED unsigned long outer(unsigned long i) {
  calls++;
  try {
    Guard guard;
    return middle(i) + 1;
  } catch (const std::runtime_error& error) {
    return i + static_cast<unsigned long>(error.what()[0]);
  }
}
}  // namespace shop

int main(int argc, char** argv) {
  unsigned long n = argc > 1 ? strtoul(argv[1], nullptr, 0) : 300;
  shop::outer(3);
  say("ready");
  while (next_round()) {
    unsigned long sum = 0;
    shop::calls = shop::destroyed = 0;
    for (unsigned long i = 0; i < n; i++) sum = sum * 3 + shop::outer(i);
    require(shop::destroyed == 2 * n, "every guard destroyed");
    say("calls=%lu checksum=%lx", shop::calls, sum);
    say("done");
  }
  return 0;
}
