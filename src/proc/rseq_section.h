// SPDX-License-Identifier: MIT
#pragma once

#include "base/result.h"
#include "proc/files/memory.h"
#include "proc/thread.h"

namespace blip::proc {

// A thread stopped inside a restartable sequence goes on at its abort address, as the kernel would let it
// after the stop. To be called before anything else is run in the thread, because the kernel forgets the
// section then.
Status leave_rseq_section(Thread& thread, Memory& memory);

}  // namespace blip::proc
