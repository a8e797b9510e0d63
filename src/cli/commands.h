// SPDX-License-Identifier: MIT
// One function per verb; each returns blip's exit code.
#pragma once

#include "cli/options/options.h"

namespace blip::cli {

inline constexpr int kExitFine = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

int cmd_trace(const Command& command);
int cmd_record(const Command& command);
int cmd_count(const Command& command);
int cmd_run(const Command& command);
int cmd_list(const Command& command);
int cmd_view(const Command& command);
int cmd_clean(const Command& command);

}  // namespace blip::cli
