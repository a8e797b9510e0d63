// SPDX-License-Identifier: MIT
// The calls that are open, beside the stack they are on: how a return finds its entry without a return
// address being changed. Private memory of the target, so that a fork copies it. See docs/design/returns.md.
#pragma once

#include <cstdint>

namespace blip::abi {

// One open call. `sum` is slot + time + outer + the id of the function, modulo 2^64: words of two calls that
// met in one place do not add up.
struct ShadowFrame {
  uint64_t slot;   // where its return address is; 0: free
  uint64_t time;   // of the entry, as in a record's header without the class
  uint64_t outer;  // ShadowThread::top before it
  uint64_t sum;
};
static_assert(sizeof(ShadowFrame) == 32);

// The calls that are open on one thread. Only `depth` depends on it. A thread keeps its place after its end.
struct ShadowThread {
  uint64_t key;  // its thread pointer; 0: nobody's
  uint64_t top;  // the innermost open call, slot << kDepthBits | number of open calls; kNoCall: none
};
static_assert(sizeof(ShadowThread) == 16);

inline constexpr unsigned kDepthBits = 16;
inline constexpr uint64_t kDepthMask = (uint64_t{1} << kDepthBits) - 1;  // deeper calls have this depth too
inline constexpr uint64_t kNoCall = ~kDepthMask;                         // above every slot, depth 0

// Threads and frames are found by hashing; where the first place is taken, the next ones are tried.
inline constexpr unsigned kShadowThreadBits = 15;
inline constexpr unsigned kShadowFrameBits = 15;
inline constexpr uint32_t kShadowWays = 16;
inline constexpr uint32_t kShadowThreadStep = 1, kShadowFrameStep = 37;
inline constexpr uint64_t kShadowThreadsSize = sizeof(ShadowThread) << kShadowThreadBits;
inline constexpr uint64_t kShadowSize = kShadowThreadsSize + (sizeof(ShadowFrame) << kShadowFrameBits);

// Values that a return wants from the entry of its call are kept in a block of their own, behind all frames,
// if anybody asks for them. `check` is the frame's sum, with sum = sum * kKeptFactor + word for each of the
// others: what another call wrote into it is noticed.
inline constexpr uint32_t kMaxKept = 14;
struct KeptValues {
  uint64_t check;
  uint64_t faults;  // bit n: values[n] could not be had
  uint64_t values[kMaxKept];
};
static_assert(sizeof(KeptValues) == 128);
inline constexpr uint64_t kKeptPerFrame = sizeof(KeptValues) / sizeof(ShadowFrame);
inline constexpr uint64_t kKeptSize = sizeof(KeptValues) << kShadowFrameBits;
inline constexpr int32_t kKeptFactor = 0x1e3779b1;

// Offset of the first place of a thread.
inline constexpr uint32_t kThreadFactor = 0x9e3779b1;
inline constexpr unsigned kThreadShift = 32 - kShadowThreadBits - 4;
inline constexpr uint32_t kThreadMask = ((1u << kShadowThreadBits) - 1) << 4;
constexpr uint32_t shadow_thread_offset(uint64_t key) {
  return static_cast<uint32_t>(key) * kThreadFactor >> kThreadShift & kThreadMask;
}

// Offset of the first place of a frame, from the first frame. Neighbours in 64 KiB of stack are neighbours
// here, so that a thread touches few pages.
inline constexpr unsigned kFrameWindowShift = 16;
inline constexpr uint32_t kFrameFactor = 0x9e3779b1u << 5;
inline constexpr uint32_t kFrameMask = ((1u << kShadowFrameBits) - 1) << 5;
constexpr uint32_t shadow_frame_offset(uint64_t slot) {
  return (static_cast<uint32_t>(slot >> kFrameWindowShift) * kFrameFactor + static_cast<uint32_t>(slot) * 2) &
         kFrameMask;
}

}  // namespace blip::abi
