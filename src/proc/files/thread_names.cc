// SPDX-License-Identifier: MIT
#include "proc/files/thread_names.h"

#include <fmt/core.h>

#include "proc/files/status.h"

namespace blip::proc {

std::string read_comm(pid_t pid, pid_t tid) {
  auto text = read_proc_file(fmt::format("/proc/{}/task/{}/comm", pid, tid));
  if (!text) return {};
  if (!text->empty() && text->back() == '\n') text->pop_back();
  return *std::move(text);
}

}  // namespace blip::proc
