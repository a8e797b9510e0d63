// SPDX-License-Identifier: MIT
#include "base/stop.h"

#include <atomic>

namespace blip::stop {

namespace {

std::atomic<bool> g_requested{false};
std::atomic<int> g_untouched{0}, g_vital{0};
static_assert(std::atomic<int>::is_always_lock_free);

}  // namespace

void request() { g_requested = true; }
bool requested() { return g_requested; }

Status check() {
  if (!requested()) return {};
  return Error(ErrorKind::kTimeout, "stopped before any probe was armed");
}

Untouched::Untouched() { ++g_untouched; }
Untouched::~Untouched() { --g_untouched; }

Vital::Vital() { ++g_vital; }
Vital::~Vital() { --g_vital; }

bool may_end_at_once() { return g_untouched > 0 && g_vital == 0; }

}  // namespace blip::stop
