// SPDX-License-Identifier: MIT
// Writing jumps into a stopped target's text and taking them out again.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/result.h"
#include "probe/patch/edit_set.h"
#include "proc/files/memory.h"

namespace blip::probe {

// Edits that were not made (or taken back).
struct TextReport {
  std::vector<size_t> foreign;  // other bytes than expected stand there, or none at all
  std::vector<size_t> left;     // only because of those
  std::vector<size_t> undone;   // time was up
};

// Asked between pieces of work of at most a millisecond; none: there is time.
using TimeIsUp = std::function<bool()>;

// Makes the edits chosen by `which`. All of a page are one write, and the pages and edits are in such an
// order that every moment is a valid state of the target. An edit whose place does not hold the original, or
// whose jump would be led astray by the bytes behind it, is left alone with everything that needs it.
// Once time is up the rest is left for another stop: each beginning is a valid state, too.
Result<TextReport> install_text(proc::Memory& memory, const EditSet& edits, const EditMask& which,
                                const TimeIsUp& time_is_up = {});

// Takes them back, in the opposite order. A place that does not hold our bytes any more is left alone, and
// what its jump would need stays too: somebody who saved our bytes may put them back.
Result<TextReport> restore_text(proc::Memory& memory, const EditSet& edits, const EditMask& which,
                                const TimeIsUp& time_is_up = {});

}  // namespace blip::probe
