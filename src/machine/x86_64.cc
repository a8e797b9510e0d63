// SPDX-License-Identifier: MIT
// System V psABI for x86-64, chapter 3; system calls: appendix A.2.
#include "machine/registers.h"

namespace blip::machine {

namespace {

// clang-format off
constexpr std::string_view kGeneral[] = {
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
    "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
};
constexpr PartName kParts[] = {
    {"eax", {0, 4}}, {"ax", {0, 2}}, {"al", {0, 1}}, {"ah", {0, 1, 8}},
    {"ecx", {1, 4}}, {"cx", {1, 2}}, {"cl", {1, 1}}, {"ch", {1, 1, 8}},
    {"edx", {2, 4}}, {"dx", {2, 2}}, {"dl", {2, 1}}, {"dh", {2, 1, 8}},
    {"ebx", {3, 4}}, {"bx", {3, 2}}, {"bl", {3, 1}}, {"bh", {3, 1, 8}},
    {"esp", {4, 4}}, {"sp", {4, 2}}, {"spl", {4, 1}},
    {"ebp", {5, 4}}, {"bp", {5, 2}}, {"bpl", {5, 1}},
    {"esi", {6, 4}}, {"si", {6, 2}}, {"sil", {6, 1}},
    {"edi", {7, 4}}, {"di", {7, 2}}, {"dil", {7, 1}},
    {"r8d", {8, 4}}, {"r8w", {8, 2}}, {"r8b", {8, 1}},
    {"r9d", {9, 4}}, {"r9w", {9, 2}}, {"r9b", {9, 1}},
    {"r10d", {10, 4}}, {"r10w", {10, 2}}, {"r10b", {10, 1}},
    {"r11d", {11, 4}}, {"r11w", {11, 2}}, {"r11b", {11, 1}},
    {"r12d", {12, 4}}, {"r12w", {12, 2}}, {"r12b", {12, 1}},
    {"r13d", {13, 4}}, {"r13w", {13, 2}}, {"r13b", {13, 1}},
    {"r14d", {14, 4}}, {"r14w", {14, 2}}, {"r14b", {14, 1}},
    {"r15d", {15, 4}}, {"r15w", {15, 2}}, {"r15b", {15, 1}},
};
// clang-format on

// DWARF counts rax rdx rcx rbx rsi rdi rbp rsp r8...
constexpr uint8_t kByDwarf[] = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};

constexpr uint8_t kArguments[] = {7, 6, 2, 1, 8, 9};          // rdi rsi rdx rcx r8 r9
constexpr uint8_t kResults[] = {0, 2};                        // rax rdx
constexpr uint8_t kPreserved[] = {3, 4, 5, 12, 13, 14, 15};   // rbx rsp rbp r12...
constexpr uint8_t kSyscallArguments[] = {7, 6, 2, 10, 8, 9};  // rdi rsi rdx r10 r8 r9

}  // namespace

constinit const Machine kX86_64 = {
    .name = "x86_64",
    .registers = {.general = kGeneral,
                  .parts = kParts,
                  .by_dwarf = kByDwarf,
                  .stack_pointer = 4,
                  .frame_pointer = 5,
                  .instruction_pointer = "rip",
                  .flags = "rflags",
                  .thread_pointer = "fs_base",
                  .vector_prefix = "xmm",
                  .vector_count = 16,
                  .dwarf_return_address = 16,
                  .dwarf_vector = 17},
    .convention = {.arguments = kArguments,
                   .vector_arguments = 8,
                   .stack_arguments = 8,  // above the return address
                   .results = kResults,
                   .result_address = 7,
                   .result_address_is_argument = true,
                   .preserved = kPreserved,
                   .red_zone = 128,
                   .syscall_number = 0,
                   .syscall_arguments = kSyscallArguments,
                   .syscall_result = 0},
};

}  // namespace blip::machine
