// SPDX-License-Identifier: MIT
// Any bytes as an ELF file: every reader ends, in bounds.
#include "elf/test_read_everything.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)blip::elf::read_everything({data, data + size});
  return 0;
}
