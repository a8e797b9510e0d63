// SPDX-License-Identifier: MIT
#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace blip {

void parallel_pieces(size_t count, size_t piece, const std::function<void(size_t, size_t)>& work) {
  if (count == 0) return;
  piece = std::max<size_t>(piece, 1);
  std::atomic<size_t> next{0};
  const auto take_pieces = [&] {
    for (size_t begin; (begin = next.fetch_add(piece)) < count;) work(begin, std::min(begin + piece, count));
  };
  const size_t pieces = (count - 1) / piece + 1;
  const size_t helpers = std::min<size_t>(std::max(1U, std::thread::hardware_concurrency()), pieces) - 1;
  std::vector<std::jthread> threads;
  threads.reserve(helpers);
  try {
    for (size_t i = 0; i < helpers; ++i) threads.emplace_back(take_pieces);
  } catch (const std::system_error&) {  // a limit on threads: those that there are do the work
  }
  take_pieces();
}

void parallel_run(std::initializer_list<std::function<void()>> tasks) {
  parallel_pieces(tasks.size(), 1, [&](size_t begin, size_t) { tasks.begin()[begin](); });
}

}  // namespace blip
