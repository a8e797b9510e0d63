// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>

namespace blip {

// Calls work(begin, end) for pieces of at most `piece` that together are [0, count), each exactly once. It
// uses as many threads as there are CPUs to run on, this one among them, and returns when all are done.
// `work` must not touch what another piece touches. Where no thread can be made, this thread does everything.
void parallel_pieces(size_t count, size_t piece, const std::function<void(size_t, size_t)>& work);

// The same for a few unlike things to do.
void parallel_run(std::initializer_list<std::function<void()>> tasks);

}  // namespace blip
