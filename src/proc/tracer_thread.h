// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <thread>
#include <utility>

namespace blip::proc {

// Runs a piece of work that attaches to processes on an OS thread of its own and returns its result. When
// that thread ends the kernel undoes every attachment it still has, even to threads that never stopped:
// nothing can be left behind.
template <typename Work>
auto on_tracer_thread(Work&& work) -> decltype(work()) {
  std::optional<decltype(work())> result;
  std::thread([&] { result.emplace(work()); }).join();
  return *std::move(result);
}

}  // namespace blip::proc
