// SPDX-License-Identifier: MIT
#include "session/plan/environment.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/milliseconds.h"
#include "proc/files/cpu.h"
#include "session/plan/purpose.h"

namespace blip::session {

namespace {

// The moment of exec: before main() and the dynamic linker, which only the process's CPU clock has seen.
std::chrono::steady_clock::time_point process_start() {
  timespec used;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::steady_clock::now() - std::chrono::seconds(used.tv_sec) -
         std::chrono::nanoseconds(used.tv_nsec);
}
const auto kProcessStart = process_start();

std::string now_utc() {
  const time_t now = ::time(nullptr);
  tm parts;
  ::gmtime_r(&now, &parts);
  char text[32];
  ::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string hostname() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

ctf::TraceInfo trace_info(const Options& options) {
  return {.hostname = hostname(), .command_line = options.command_line, .creation_time = now_utc()};
}

bool records_monotonic_time(const Options& options) {
  if (counts_hits(options) || options.clock == ClockChoice::kTsc) return false;
  return options.clock == ClockChoice::kMonotonic || !proc::tsc_usable();
}

double since_process_start_ms() { return to_ms(std::chrono::steady_clock::now() - kProcessStart); }

double cpu_seconds() {
  rusage usage;
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](timeval t) { return double(t.tv_sec) + double(t.tv_usec) / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace blip::session
