// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace blip::bt {

// "SIGUSR1", "USR1", "10".
std::optional<int> find_signal(std::string_view name);
std::string signal_name(int number);  // empty: there is none

}  // namespace blip::bt
