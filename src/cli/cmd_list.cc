// SPDX-License-Identifier: MIT
#include "cli/commands.h"
#include "cli/notices.h"

namespace blip::cli {

int cmd_list(const Command&) {
  say("blip list is not available in this version");
  return kExitFailed;
}

}  // namespace blip::cli
