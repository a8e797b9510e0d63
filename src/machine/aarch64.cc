// SPDX-License-Identifier: MIT
// Procedure Call Standard for AArch64 (AAPCS64) sections 6.1 and 6.8; DWARF for AArch64 (AADWARF64)
// section 4.1; system calls as Linux has them. blip does not run there yet: these are the facts that its
// machine-independent rooms will need.
#include "machine/registers.h"

namespace blip::machine {

namespace {

// Number 31 means sp or the register that is always zero, as the instruction has it; blip only ever means sp.
// clang-format off
constexpr std::string_view kGeneral[] = {
    "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7",
    "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
    "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
    "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",
};
constexpr PartName kParts[] = {
    {"w0", {0, 4}}, {"w1", {1, 4}}, {"w2", {2, 4}}, {"w3", {3, 4}}, {"w4", {4, 4}},
    {"w5", {5, 4}}, {"w6", {6, 4}}, {"w7", {7, 4}}, {"w8", {8, 4}}, {"w9", {9, 4}},
    {"w10", {10, 4}}, {"w11", {11, 4}}, {"w12", {12, 4}}, {"w13", {13, 4}}, {"w14", {14, 4}},
    {"w15", {15, 4}}, {"w16", {16, 4}}, {"w17", {17, 4}}, {"w18", {18, 4}}, {"w19", {19, 4}},
    {"w20", {20, 4}}, {"w21", {21, 4}}, {"w22", {22, 4}}, {"w23", {23, 4}}, {"w24", {24, 4}},
    {"w25", {25, 4}}, {"w26", {26, 4}}, {"w27", {27, 4}}, {"w28", {28, 4}}, {"w29", {29, 4}},
    {"w30", {30, 4}}, {"wsp", {31, 4}}, {"fp", {29}}, {"lr", {30}},
};
constexpr uint8_t kByDwarf[] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
};
// clang-format on

constexpr uint8_t kArguments[] = {0, 1, 2, 3, 4, 5, 6, 7};
constexpr uint8_t kResults[] = {0, 1};
constexpr uint8_t kPreserved[] = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 31};
constexpr uint8_t kSyscallArguments[] = {0, 1, 2, 3, 4, 5};

}  // namespace

constinit const Machine kAarch64 = {
    .name = "aarch64",
    .registers = {.general = kGeneral,
                  .parts = kParts,
                  .by_dwarf = kByDwarf,
                  .stack_pointer = 31,
                  .frame_pointer = 29,
                  .link = 30,
                  .instruction_pointer = "pc",
                  .flags = "pstate",
                  .thread_pointer = "tpidr_el0",
                  .vector_prefix = "v",
                  .vector_count = 32,
                  .dwarf_return_address = 30,
                  .dwarf_vector = 64},
    .convention = {.arguments = kArguments,
                   .vector_arguments = 8,
                   .stack_arguments = 0,
                   .results = kResults,
                   .result_address = 8,
                   .result_address_is_argument = false,
                   .preserved = kPreserved,
                   .red_zone = 0,
                   .syscall_number = 8,
                   .syscall_arguments = kSyscallArguments,
                   .syscall_result = 0},
};

}  // namespace blip::machine
