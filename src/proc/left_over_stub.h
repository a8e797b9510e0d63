// SPDX-License-Identifier: MIT
#pragma once

#include "base/result.h"
#include "proc/attachment.h"
#include "proc/files/memory.h"
#include "proc/stub_site.h"

namespace blip::proc {

// A blip that was killed during a remote call leaves its stub behind, and the thread may not have come out of
// it yet. Takes such threads to where the stub would have taken them, so that its bytes can be used again.
// kBusy if the attachment does not hold all threads and one of the others might be inside.
Status clear_left_over_stub(Attachment& attachment, const Memory& memory, const StubSite& site);

}  // namespace blip::proc
