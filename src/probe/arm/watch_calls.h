// SPDX-License-Identifier: MIT
// Who is about to make a system call that was to be watched, while all threads stand still.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/addr.h"
#include "probe/inject/signal_frames.h"
#include "proc/attachment.h"
#include "x86/flow/syscall_sites.h"

namespace blip::probe {

// Their `syscall` instructions, sorted.
std::vector<AddrRange> instructions_of(std::span<const x86::SyscallSite> sites);

// A thread at the instruction of one of the sites, or a signal handler that will return there.
bool any_before(proc::Attachment& attachment, std::span<const InterruptedCode> interrupted,
                std::span<const x86::SyscallSite> sites);

// Saved registers of a fiber at the instruction of the site.
bool any_parked_before(std::span<const InterruptedCode> parked, const x86::SyscallSite& site);

// Whether a thread runs under a seccomp filter, or may.
bool any_filtered(proc::Attachment& attachment);

}  // namespace blip::probe
