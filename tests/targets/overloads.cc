// SPDX-License-Identifier: MIT
// overloads N: functions of one name with other parameters, and a template; one has a name like no other.
#include "target.h"

namespace shop {
struct Service {
  PROBED unsigned long handle(int i) { return sum += static_cast<unsigned long>(i) * 3; }
  PROBED unsigned long handle(double d) { return sum += static_cast<unsigned long>(d) * 5; }
  PROBED unsigned long handle(const char* text) const { return sum + static_cast<unsigned char>(text[0]); }
  PROBED unsigned long close() { return sum ^= 1; }
  unsigned long sum = 0;
};

template <typename T>
PROBED unsigned long pick(T t) {
  return static_cast<unsigned long>(t) + sizeof(T);
}
}  // namespace shop

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 10;
  shop::Service service;
  say("ready");
  while (next_round()) {
    for (int i = 0; i < n; i++) {
      service.handle(i);
      service.handle(static_cast<double>(i));
      service.handle(static_cast<double>(i));
      service.sum += service.handle("text") + shop::pick(i) + shop::pick(static_cast<char>(i));
    }
    service.close();
    say("calls=%d sum=%lx", n, service.sum);
    say("done");
  }
}
