// SPDX-License-Identifier: MIT
#include "base/check.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace blip {

namespace {
void (*failure_hook)() = nullptr;
}

void set_check_failure_hook(void (*hook)()) { failure_hook = hook; }

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "blip: internal error at %s:%d: %s does not hold\n", file, line, condition);
  if (auto* hook = std::exchange(failure_hook, nullptr)) hook();
  std::abort();
}

}  // namespace blip
