// SPDX-License-Identifier: MIT
// Which memory of the traced process pads may read without asking the kernel: docs/design/safe_reads.md.
#pragma once

#include <cstddef>
#include <cstdint>

namespace blip::abi {

// Readable memory [start, end). While its table is published, `end` only falls, and `start` stays.
struct ValidRange {
  uint64_t start;
  uint64_t end;  // not above start: gone
};

inline constexpr uint32_t kMaxRanges = 2047;
inline constexpr uint32_t kRangeTables = 2;

struct RangeTable {
  uint32_t count;  // of ranges, ascending, apart from each other
  uint32_t unused;
  uint64_t heap_end;  // of the memory that brk moves the end of
  ValidRange ranges[kMaxRanges];
};

// The word: in its low half how often blip has published, whose last bit is the table that is good; 0:
// nothing yet. In its high half how many calls that take memory away have begun.
inline constexpr uint64_t kRangeGeneration = uint64_t{1} << 32;
constexpr uint32_t range_publication(uint64_t word) { return static_cast<uint32_t>(word); }
constexpr uint32_t range_table(uint64_t word) { return static_cast<uint32_t>(word) % kRangeTables; }

// Threads that read without asking the kernel, each known by where its rseq_cs is, at the first free place
// from reader_index() on. A thread that has no place asks the kernel.
inline constexpr uint32_t kMaxReaders = 1024;
// For distances that thread pointers have from each other.
inline constexpr uint32_t kReaderFactor = 0x45d9f3b;
constexpr uint32_t reader_index(uint64_t thread) {
  return static_cast<uint32_t>(thread * kReaderFactor >> 32) % kMaxReaders;
}

// The address that the thread's section reads, or that its last section read. Each thread has a cache line of
// its own.
struct Reading {
  uint64_t address;
  uint64_t sections;  // how many the thread has begun
  uint8_t pad[48];
};
inline constexpr unsigned kReadingShift = 6;
static_assert(sizeof(Reading) == 1 << kReadingShift);
inline constexpr uint64_t kMaxReadingSize = 65536;  // no read goes further

struct RangeControl {
  uint64_t word;
  uint64_t pending;  // calls that have begun and not come to their end
  uint32_t closed;   // 1: nothing is published any more, and no call needs to be announced
  uint32_t settled;  // the last publication after which all sections were restarted
  uint8_t pad0[104];
  uint64_t misses;  // reads outside of all ranges
  uint8_t pad1[120];
  RangeTable tables[kRangeTables];
  uint64_t readers[kMaxReaders];  // 0: a free place
  Reading readings[kMaxReaders];
};
static_assert(offsetof(RangeControl, misses) % 64 == 0 && offsetof(RangeControl, tables) % 64 == 0 &&
              offsetof(RangeControl, readings) % 64 == 0);

// In front of the descriptor of every restartable sequence that blip makes: the control address.
inline constexpr uint64_t kSectionOwner = 8;

// Each hint says where a read found its range the last time: the publication in the low half, the offset of
// the ValidRange from the control address in the high one. They lie in the gate page, so that a fork's child,
// whose memory is another, has none.
inline constexpr uint32_t kRangeHints = 256;
inline constexpr uint64_t kRangeHintsOffset = 1024;  // in the gate page

}  // namespace blip::abi
