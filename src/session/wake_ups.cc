// SPDX-License-Identifier: MIT
#include "session/wake_ups.h"

#include <algorithm>
#include <set>
#include <utility>

namespace blip::session {

void WakeUps::watch(std::span<const Waker> wanted) {
  if (std::equal(wanted.begin(), wanted.end(), wanted_.begin(), wanted_.end())) return;
  wanted_.assign(wanted.begin(), wanted.end());
  const std::set<Waker> all(wanted.begin(), wanted.end());
  // First those that go: a new one may have the number of an old one.
  std::erase_if(watches_, [&](const auto& watch) { return !all.contains(watch.first); });
  for (const Waker& waker : all) {
    if (waker.fd < 0 || watches_.contains(waker)) continue;
    auto watch = loop_.on_readable(waker.fd, [] {});
    if (watch) watches_.emplace(waker, *std::move(watch));
  }
}

}  // namespace blip::session
