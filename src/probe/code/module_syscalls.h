// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "probe/code/module.h"
#include "x86/flow/call_numbers.h"
#include "x86/flow/syscall_sites.h"

namespace blip::probe {

// The calls that a module's code may make, of the system calls asked for.
struct ModuleSyscalls {
  // `mov $number, %eax; syscall`, and `mov 8(%rsp), %r9; syscall` of syscall() (jit::kAnyNumber), where
  // nothing else can come to the instruction: a jump to a pad has room there.
  std::vector<x86::SyscallSite> sites;
  std::string unknown;  // that there may be others; empty: there are none
};

enum class SyscallSearch {
  kAll,
  kAllOrNone,  // the same for those who cannot use the sites if others are unknown
  kWatchable,  // sites only, which takes a hundredth of the time; `unknown` says nothing
};

ModuleSyscalls find_module_syscalls(const Module& module, std::span<const uint32_t> numbers,
                                    SyscallSearch search = SyscallSearch::kAll);

// The calls of one function as far as their numbers are known for sure.
struct SureSyscalls {
  std::vector<x86::NumberedCall> calls;
};

// Finds them in the functions that load one of the numbers as a constant.
std::vector<SureSyscalls> find_sure_syscalls(const Module& module, std::span<const uint32_t> numbers);

}  // namespace blip::probe
