// SPDX-License-Identifier: MIT
// The general registers of each processor that blip knows or will know, as data, and how calls use them. Code
// that belongs to no processor asks host().
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace blip::machine {

inline constexpr uint8_t kNoRegister = 0xff;

// A general register or a part of one.
struct RegisterPart {
  uint64_t number = 0;  // in the order of RegisterSet::general
  uint64_t size = 8;    // bytes
  uint64_t shift = 0;   // bits: x86's ah is 8 bits up in rax
};

struct PartName {
  std::string_view name;
  RegisterPart part;
};

struct RegisterSet {
  std::span<const std::string_view> general;  // by the number that instructions encode
  std::span<const PartName> parts;            // further names: parts of them, and synonyms
  std::span<const uint8_t> by_dwarf;          // the number of each of DWARF's first registers
  uint8_t stack_pointer = kNoRegister;
  uint8_t frame_pointer = kNoRegister;
  uint8_t link = kNoRegister;  // holds the return address at the entry; kNoRegister: the stack does
  std::string_view instruction_pointer;
  std::string_view flags;
  std::string_view thread_pointer;
  std::string_view vector_prefix;  // the vector registers are PREFIX0, PREFIX1, ...
  uint8_t vector_count = 0;
  uint8_t dwarf_return_address = kNoRegister;  // the column of call frame information
  uint8_t dwarf_vector = kNoRegister;          // DWARF's number of PREFIX0
};

// The places where a C function finds its arguments at its first instruction and leaves its result, for
// scalars and pointers.
struct CallingConvention {
  std::span<const uint8_t> arguments;  // registers, in order
  uint8_t vector_arguments = 0;        // so many vector registers, from the first one on
  uint8_t stack_arguments = 0;  // the first argument on the stack is so many bytes above the stack pointer
  std::span<const uint8_t> results;      // registers, in order
  uint8_t result_address = kNoRegister;  // points to where a result in memory goes
  bool result_address_is_argument = false;
  std::span<const uint8_t> preserved;  // what a function restores before it returns
  uint32_t red_zone = 0;               // bytes below the stack pointer that a function may use
  uint8_t syscall_number = kNoRegister;
  std::span<const uint8_t> syscall_arguments;
  uint8_t syscall_result = kNoRegister;
};

struct Machine {
  std::string_view name;  // as uname -m says it
  RegisterSet registers;
  CallingConvention convention;
};

extern const Machine kX86_64;
extern const Machine kAarch64;
// The processor that this blip is built for. Targets run on it too.
const Machine& host();

// By its name or the name of a part of it: rax, eax, ah; x0, w0, lr.
std::optional<RegisterPart> find_register(const RegisterSet& set, std::string_view name);
// xmm0, v31
std::optional<uint64_t> find_vector_register(const RegisterSet& set, std::string_view name);
// The register that DWARF gives this number; none: it is not a general one.
std::optional<uint64_t> find_dwarf_register(const RegisterSet& set, uint64_t number);

}  // namespace blip::machine
