// SPDX-License-Identifier: MIT
#include "session/process/direct_reads.h"

#include <fmt/core.h>

namespace blip::session {

DirectReads::DirectReads(const TargetProcess& target, std::span<const probe::Module> modules)
    : target_(target), feed_(target.process(), target.memory(), modules, *target.pads()) {
  feed_.refresh();
}

std::optional<std::string> DirectReads::refresh() {
  if (!feed_.obstacle().empty()) return {};
  feed_.refresh();
  if (feed_.obstacle().empty()) return {};
  return text();
}

std::string DirectReads::text() const {
  const pid_t pid = target_.process().pid();
  if (const std::string& why = target_.pads()->no_calls(); !why.empty())
    return fmt::format("process {}: memory is read on the stack's own page only: {}", pid, why);
  if (feed_.obstacle().empty())
    return fmt::format("process {}: memory is read directly, where it is known to be there (valid ranges)",
                       pid);
  return fmt::format("process {}: memory is read by process_vm_readv: {}", pid, feed_.obstacle());
}

}  // namespace blip::session
