// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cerrno>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace blip::proc {

// System calls that a thread of the target makes one after the other (RemoteCaller::run), whatever the
// results: none can depend on what another gives.
class CallList {
 public:
  struct Call {
    long number = 0;
    std::array<uint64_t, 6> arguments{};
    std::vector<uint8_t> bytes{};  // not empty: the first argument points at a copy of them
    int64_t result = -ECANCELED;   // what the kernel says; -ECANCELED: not made
  };

  // Its place in the list.
  template <typename... Args>
  size_t add(long number, Args... args) {
    static_assert(sizeof...(Args) <= 6);
    calls_.push_back({.number = number, .arguments = {static_cast<uint64_t>(args)...}});
    return calls_.size() - 1;
  }
  template <typename... Args>
  size_t add_with_text(long number, std::string_view text, Args... others) {
    const size_t place = add(number, 0, others...);
    calls_[place].bytes.assign(text.begin(), text.end());
    calls_[place].bytes.push_back(0);
    return place;
  }

  std::span<Call> calls() { return calls_; }
  bool empty() const { return calls_.empty(); }
  // After the run.
  Result<uint64_t> result(size_t place) const {
    const int64_t result = calls_[place].result;
    if (result < 0) return Error::from_errno(static_cast<int>(-result), "a system call in the target");
    return static_cast<uint64_t>(result);
  }
  Status first_error() const {
    for (size_t i = 0; i < calls_.size(); ++i) TRY_OK(result(i));
    return {};
  }

 private:
  std::vector<Call> calls_;
};

}  // namespace blip::proc
