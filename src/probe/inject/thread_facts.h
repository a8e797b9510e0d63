// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "jit/program/environment.h"
#include "probe/code/module.h"
#include "proc/attachment.h"
#include "proc/files/memory.h"

namespace blip::probe {

// What pads may assume about every thread.
struct ThreadFacts {
  std::optional<jit::Rseq> rseq;      // registered at the same offset from the thread pointer by all that did
  std::optional<int32_t> tid_offset;  // where each thread's tid lies
  bool shadow_stack = false;
};

// From the stopped threads; `tid_hint` is what libc says about the tid (find_tid_hint).
ThreadFacts find_thread_facts(proc::Attachment& attachment, const proc::Memory& memory, pid_t ns_pid,
                              std::optional<int32_t> tid_hint);

// True if code generated for `facts` is right for every stopped thread.
bool facts_hold(proc::Attachment& attachment, const proc::Memory& memory, pid_t ns_pid,
                const ThreadFacts& facts, uint32_t ring_count);

// glibc describes its thread structure to debuggers: the offset of the tid.
std::optional<int32_t> find_tid_hint(std::span<const Module> modules, const proc::Memory& memory);

}  // namespace blip::probe
