// SPDX-License-Identifier: MIT
// Any bytes as a file with debugging information: every walk ends, in bounds.
#include "dwarf/test_read_scopes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)blip::dwarf::read_scopes({data, size}, 0x80);
  return 0;
}
