// SPDX-License-Identifier: MIT
#pragma once

namespace blip::cli {

// Descriptors 0 to 2 that are closed are opened, so that no file, process or memory that blip opens later
// gets their numbers and is written to, or waited for. What is written to them fails as if they were closed,
// and a command that blip starts finds them closed. To be called first.
void open_standard_descriptors();

}  // namespace blip::cli
