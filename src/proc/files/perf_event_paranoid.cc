// SPDX-License-Identifier: MIT
#include "proc/files/perf_event_paranoid.h"

#include "proc/files/status.h"

namespace blip::proc {

std::string perf_event_paranoid() {
  std::string text = read_proc_file("/proc/sys/kernel/perf_event_paranoid").value_or("?");
  text.erase(text.find_last_not_of(" \n") + 1);
  return text;
}

}  // namespace blip::proc
