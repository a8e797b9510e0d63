// SPDX-License-Identifier: MIT
#include "cli/script_signals.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>

namespace blip::cli {

namespace {

constexpr size_t kNumbers = 65;
std::array<std::atomic<uint32_t>, kNumbers> came;  // by number; written by signal handlers

void count(int number) { came[static_cast<size_t>(number)].fetch_add(1, std::memory_order_relaxed); }

// How blip is told to end, or that nobody reads.
bool is_of_blip(int number) {
  constexpr int kOwn[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGPIPE, SIGXFSZ, SIGCHLD};
  return std::find(std::begin(kOwn), std::end(kOwn), number) != std::end(kOwn);
}

}  // namespace

Status ScriptSignals::catch_signal(int number) {
  struct sigaction action = {}, before;
  action.sa_handler = count;
  ::sigemptyset(&action.sa_mask);
  const bool is_possible = number > 0 && static_cast<size_t>(number) < kNumbers && !is_of_blip(number);
  if (!is_possible || ::sigaction(number, &action, &before) != 0)
    return Error(
        ErrorKind::kUsage,
        fmt::format("signal {} cannot be the script's: blip or the kernel needs it. SIGUSR1 can", number));
  came[static_cast<size_t>(number)] = 0;
  before_.emplace_back(number, before);
  return {};
}

ScriptSignals::~ScriptSignals() {
  for (const auto& [number, before] : before_) ::sigaction(number, &before, nullptr);
}

void ScriptSignals::take_all(const std::function<void(int)>& take) {
  for (const auto& [number, before] : before_)
    for (uint32_t n = came[static_cast<size_t>(number)].exchange(0); n > 0; --n) take(number);
}

}  // namespace blip::cli
