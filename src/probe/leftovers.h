// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "proc/memory.h"
#include "proc/process.h"
#include "proc/remote_call.h"

namespace blip::probe {

// Finds what another blip has in the process, by the names of its mappings and the header in them. One that
// still lives: kBusy, naming it. One that is dead: its probes and memory are taken away; returns what was
// done, for the user. Nothing there: nothing happens.
Result<std::optional<std::string>> clean_leftovers(const proc::Process& process, proc::Memory& memory);

// Takes away every descriptor and mapping of blip's, for an attempt that failed before anything was armed.
Status discard_unarmed(proc::RemoteCaller& caller, const proc::Process& process, const proc::Memory& memory);

}  // namespace blip::probe
