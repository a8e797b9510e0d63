// SPDX-License-Identifier: MIT
// For tests only: the runtime where this process can call it.
#pragma once

#include <sys/mman.h>

#include <cstring>

#include "base/check.h"
#include "base/mapping.h"
#include "base/test_registers.h"
#include "runtime/blob.h"

namespace blip::runtime {

inline Mapping callable_blob() {
  const auto bytes = runtime_blob();
  auto code = Mapping::create(bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(code.has_value());
  std::memcpy(code->data(), bytes.data(), bytes.size());
  CHECK(::mprotect(code->data(), code->size(), PROT_READ | PROT_EXEC) == 0);
  return *std::move(code);
}

// Registers around a call of the blob; rsp is checked by coming back at all.
struct Frame {
  test::Registers registers;
  uint64_t code;
};
static_assert(offsetof(Frame, code) == 136);

extern "C" void blip_test_call_with_registers(Frame* frame);  // blob_test.cc

}  // namespace blip::runtime
