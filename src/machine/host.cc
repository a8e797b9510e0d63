// SPDX-License-Identifier: MIT
#include "machine/registers.h"

namespace blip::machine {

const Machine& host() {
#if defined(__x86_64__)
  return kX86_64;
#elif defined(__aarch64__)
  return kAarch64;
#else
#error "blip does not know this processor: describe its registers in src/machine, beside x86_64.cc"
#endif
}

}  // namespace blip::machine
