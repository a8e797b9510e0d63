// SPDX-License-Identifier: MIT
// For tests: programs at random, all of them valid, and a machine with registers and memory of one's choice.
// Whoever compiles programs compares what its code does with what run() says.
#pragma once

#include <array>
#include <map>
#include <random>

#include "script/ir/interpret.h"

namespace blip::script {

struct ProgramOptions {
  bool is_return = false;     // what only returns have may be in it
  uint64_t entry_values = 0;  // how many there are
  size_t most_nodes = 40;
  size_t most_outputs = 6;
  uint32_t most_bytes = 64;  // of one output
  std::vector<uint64_t>
      addresses;  // of memory that can be read, at least `near` bytes of it, and of some that cannot
  uint64_t near = 64;
  uint64_t stack_bytes = 64;  // what lies above the stack pointer, for loads from the frame
};

HitProgram random_program(std::mt19937_64& random, const ProgramOptions& options);

// Values of which small ones, large ones, negative ones and addresses are likely.
uint64_t random_value(std::mt19937_64& random, const ProgramOptions& options);

class TestMachine : public Machine {
 public:
  std::array<uint64_t, 16> registers{};
  std::array<std::array<uint64_t, 2>, 16> vectors{};
  uint64_t rflags = 0x246, fs = 0;
  uint64_t returned = 0, took = 0, calls = 0, is_tail = 0;
  std::vector<std::optional<uint64_t>> entries;
  std::map<uint64_t, std::vector<uint8_t>> memory;  // by address, none touching the next

  void put(uint64_t address, const void* bytes, size_t size);

  uint64_t general(unsigned n) const override { return registers[n]; }
  uint64_t vector(unsigned n, bool high) const override { return vectors[n][high ? 1 : 0]; }
  uint64_t flags() const override { return rflags; }
  uint64_t thread_pointer() const override { return fs; }
  bool read(uint64_t address, void* to, size_t bytes) const override;
  uint64_t result() const override { return returned; }
  uint64_t latency() const override { return took; }
  uint64_t depth() const override { return calls; }
  uint64_t tail() const override { return is_tail; }
  std::optional<uint64_t> entry_value(uint64_t n) const override;
};

}  // namespace blip::script
