// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "base/result.h"
#include "base/stop.h"
#include "elf/elf_file.h"

namespace blip::session {

// True if the user wants debug files to be fetched over the network: BLIP_DEBUGINFOD is 1, and
// DEBUGINFOD_URLS names servers. Otherwise no server is asked.
bool may_ask_debuginfod();

// The debug file of that build, from a server or from what was fetched before, by elfutils' debuginfod-find.
// It may take up to a minute; Ctrl-C ends it. What comes must have the build-id. `stop` may be
// null: it is told that blip has a child meanwhile.
Result<elf::ElfFile> ask_debuginfod(const std::string& build_id, const std::string& name, StopRequest* stop);

}  // namespace blip::session
