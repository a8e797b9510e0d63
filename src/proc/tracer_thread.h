// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace blip::proc {

// While a target is stopped, whoever else wants the CPU makes its pause longer. Needs a privilege (or
// RLIMIT_NICE); without it nothing happens.
void hurry_this_thread();

// Runs a piece of work that attaches to processes on an OS thread of its own and returns its result. When
// that thread ends the kernel undoes every attachment it still has, even to threads that never stopped:
// nothing can be left behind. Where a limit does not allow one more thread this one does the work, and its
// end comes with blip's.
template <typename Work>
auto on_tracer_thread(Work&& work) -> decltype(work()) {
  std::optional<decltype(work())> result;
  std::thread tracer;
  try {
    tracer = std::thread([&] {
      hurry_this_thread();
      result.emplace(work());
    });
  } catch (const std::system_error&) {
    return work();
  }
  tracer.join();
  return *std::move(result);
}

}  // namespace blip::proc
