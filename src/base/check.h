// SPDX-License-Identifier: MIT
#pragma once

namespace blip {

// Called once before a failed CHECK ends the process: the session registers what restores the target.
void set_check_failure_hook(void (*hook)());

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace blip

// States what cannot be otherwise; on in every build.
#define CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::blip::check_failed(#condition, __FILE__, __LINE__))
