// SPDX-License-Identifier: MIT
// The requests that blip_fetch (blob.h) understands: reads of the target's memory that never raise a signal.
#pragma once

#include <cstdint>

namespace blip::runtime {

enum class Fetch : uint32_t {
  kLoad,           // `size` bytes, 1 to 8, as a number
  kThreadPointer,  // no memory, but not safe to ask for everywhere either
  kBytes,          // `size` bytes into the buffer: all of them, or zeros
  kText,  // up to NUL, at most `size` bytes, into the buffer: their number, with abi::kLengthCut if there was
          // no NUL, or what can be read ends before it
  kTextIs,    // whether the bytes there are the `size` ones of the buffer; reads no further than the first
              // difference
  kBytesAre,  // the same; reads all
};

// A kLoad has its size in bits 8 to 15.
constexpr uint32_t fetch_load(uint32_t size) { return static_cast<uint32_t>(Fetch::kLoad) | size << 8; }

// No process has memory outside of these limits.
inline constexpr uint64_t kLowestAddress = 4096;
inline constexpr unsigned kAddressBits = 47;

}  // namespace blip::runtime
