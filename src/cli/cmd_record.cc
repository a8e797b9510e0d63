// SPDX-License-Identifier: MIT
#include "cli/commands.h"
#include "cli/tracing.h"

namespace blip::cli {

int cmd_record(const Command& command) { return run_tracing(command, {}); }

}  // namespace blip::cli
