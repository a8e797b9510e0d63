// SPDX-License-Identifier: MIT
// Defines what the codes of ir.h mean: jit's machine code must give the same for every program and every
// state.
//
// A fault is a value that is none: everything made of it is a fault too, except through those sides of &&, ||
// and ?: that are not looked at. Memory does not change while a hit is looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "script/ir/ir.h"

namespace blip::script {

// The state that a probe finds.
class Machine {
 public:
  virtual ~Machine() = default;
  virtual uint64_t general(unsigned n) const = 0;            // register n of 16, in encoding order
  virtual uint64_t vector(unsigned n, bool high) const = 0;  // 64 bits of an xmm register
  virtual uint64_t flags() const = 0;
  virtual uint64_t thread_pointer() const = 0;
  // False: not all of them can be read.
  virtual bool read(uint64_t address, void* to, size_t bytes) const = 0;

  // For returns only.
  virtual uint64_t result() const = 0;
  virtual uint64_t latency() const = 0;
  virtual uint64_t depth() const = 0;
  virtual uint64_t tail() const = 0;
  virtual std::optional<uint64_t> entry_value(uint64_t n) const = 0;  // none: it was a fault
};

// Returns what an operation makes of one or two values; none if it needs something of the machine, or if the
// result is a fault.
std::optional<uint64_t> compute(const Node& node, uint64_t a, uint64_t b);

// None: a fault.
std::optional<uint64_t> interpret(const Code& code, uint32_t node, const Machine& machine);

struct OutputBytes {
  // As in the record. Of a fault: zeros if its size is fixed, else none.
  std::vector<uint8_t> bytes;
  bool is_fault = false;
  // A text whose `count` bytes have no NUL among them or that goes on where nothing can be read, a sequence
  // of more than `count` elements. Of a fault: a text at NULL.
  bool is_cut = false;

  bool operator==(const OutputBytes&) const = default;
};

// One for each output; none: the condition is 0 or a fault. A sequence of no elements reads nothing and is no
// fault, wherever it points. A text of which nothing can be read is a fault, as is a sequence that cannot be
// read up to its end, or its most.
std::optional<std::vector<OutputBytes>> run(const HitProgram& program, const Machine& machine);

}  // namespace blip::script
