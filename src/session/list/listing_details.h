// SPDX-License-Identifier: MIT
#pragma once

#include "session/list/listing.h"

namespace blip::session {

// Fills in what `details` asks for: aliases, source lines. What cannot be read becomes a note.
void add_details(Listing& listing);

}  // namespace blip::session
