// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"

namespace blip::proc {

// CPU numbers run from 0 to possible_cpus() - 1; some may never come online. Without /sys only the CPUs that
// are online now are known: hits on others take the shared ring.
Result<unsigned> possible_cpus();
Result<std::vector<unsigned>> online_cpus();

// "0-3,8" as the kernel writes it; rejects anything else.
Result<std::vector<unsigned>> parse_cpu_list(std::string_view text);

// The CPUs of the lines "cpuN ..." of /proc/stat.
Result<std::vector<unsigned>> parse_cpus_of_stat(std::string_view text);

// The cycle counter runs at one speed on every CPU, also in sleep states, and can be read with the CPU's
// number (rdtscp).
bool tsc_usable();

// Threads of this machine may have a shadow stack.
bool shadow_stacks_possible();

}  // namespace blip::proc
