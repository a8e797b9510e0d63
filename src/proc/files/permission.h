// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <string>

#include "base/error.h"
#include "proc/files/status.h"

namespace blip::proc {

// The facts by which the kernel decides whether one process may trace another (ptrace(2), "Ptrace access mode
// checking").
struct AccessFacts {
  pid_t pid = 0;
  ProcStatus target;
  ProcStatus self;
  bool dumpable = true;
  bool same_user_namespace = true;
  int yama_scope = 0;                 // /proc/sys/kernel/yama/ptrace_scope; 0 where Yama is not built in
  std::string unreadable_executable;  // its path, if blip's user may run but not read it
  std::string security_label;         // what AppArmor, SELinux or Smack call the target; empty: none of them
};

AccessFacts gather_access_facts(pid_t pid, const ProcStatus& target);

// The most likely cause of the kernel's "no" and what the user can do about it. Pure.
Error explain_denial(const AccessFacts& facts);

// Blip's user may run, but not read, the program of this process.
Error unreadable_executable(pid_t pid, const std::string& path);

}  // namespace blip::proc
