// SPDX-License-Identifier: MIT
#include "bt/signals.h"

#include <array>
#include <charconv>
#include <csignal>

namespace blip::bt {

namespace {

// By number, from 1 on.
constexpr std::array<std::string_view, 31> kNames = {
    "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",   "SIGTRAP", "SIGABRT", "SIGBUS",  "SIGFPE",
    "SIGKILL", "SIGUSR1",   "SIGSEGV", "SIGUSR2",  "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT",
    "SIGCHLD", "SIGCONT",   "SIGSTOP", "SIGTSTP",  "SIGTTIN", "SIGTTOU", "SIGURG",  "SIGXCPU",
    "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO",   "SIGPWR",  "SIGSYS"};

}  // namespace

std::optional<int> find_signal(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name || kNames[i].substr(3) == name) return static_cast<int>(i + 1);
  int number = 0;
  const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (failed != std::errc() || end != name.data() + name.size() || number < 1 || number > 64)
    return std::nullopt;
  return number;
}

std::string signal_name(int number) {
  return number >= 1 && number <= static_cast<int>(kNames.size())
             ? std::string(kNames[static_cast<size_t>(number) - 1])
             : std::string();
}

}  // namespace blip::bt
