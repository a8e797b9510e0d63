// SPDX-License-Identifier: MIT
// The memory blip shares with a target. Plain structs, no pointers except target addresses named *_addr,
// fixed widths, so that pads, runtime blob, consumer and a later blip that finds a dead one's leftovers agree
// on every byte.
//
//   gate page (private to each process, wiped on fork)   control - kGatePageSize, below it what forks copy:
//                                                        traps.h, then shadow.h
//   header | areas, which the header lists
//   control
//
// `control` is the target address of a region. A process has one home region, with the gate page right below it and all that
// its pads share; the hits of a trace go to a channel region, whose header says where the home is. Both have the same header,
// and differ by the areas that they have (AreaId). The first channel of a process lies in its home region: one file, one
// header, the areas of both.
//
// Everything in a region can be scribbled on by a hostile target: blip reads it as untrusted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "abi/latency.h"
#include "abi/ranges.h"
#include "abi/unwind.h"

namespace blip::abi {

inline constexpr uint64_t kMagic = 0x3130617461646c62;  // "bldata01", little endian
inline constexpr uint32_t kVersion = 15;
inline constexpr uint64_t kPageSize = 4096;
inline constexpr uint64_t kCacheLine = 64;
inline constexpr char kDataMemfdName[] = "blip-data";
inline constexpr char kPadsMemfdName[] = "blip-pads";

// ---- gate page
// ------------------------------------------------------------------------------------------------

inline constexpr uint64_t kGatePageSize = kPageSize;
// Values of GatePage::gate. A fork's child finds kGateClosed and opens it itself (the clone pad does), or
// stores kGateIgnored where children are not followed. Each child that shares a thread's TLS (vfork,
// posix_spawn) adds kGateChild while it lives. Only kGateOpen lets a hit into an rseq section; hits at a
// closed gate that stays closed (DataHeader::unannounced_gate) are counted as skipped, at an ignored one not
// at all.
inline constexpr uint32_t kGateClosed = 0;
inline constexpr uint32_t kGateOpen = 1;
inline constexpr uint32_t kGateChild = 2;
inline constexpr uint32_t kGateIgnored = 0x8000'0000;

struct GatePage {
  uint32_t gate;
  int32_t pid;           // as the target sees itself
  int32_t tid_offset;    // of the thread's tid from the thread pointer; kNoTidOffset: ask the kernel
  uint32_t no_syscalls;  // 1: pads must make none; stored by pads too: ring/system_calls.h
  uint32_t calls;        // system calls of pads that are under way
  uint32_t own_ranges;   // 1: the ranges in the data region are of this process's memory; never of a child's
};
static_assert(sizeof(GatePage) <= kRangeHintsOffset &&
              kRangeHintsOffset + kRangeHints * sizeof(uint64_t) <= kGatePageSize);
inline constexpr int32_t kNoTidOffset = INT32_MIN;

// ---- events
// ---------------------------------------------------------------------------------------------------

// The first word of a record: class id in the low 16 bits, 48 bits of the TSC above. Records are multiples of
// 8 bytes.
inline constexpr unsigned kClassBits = 16;
inline constexpr uint64_t kTimeMask = (uint64_t{1} << 48) - 1;
inline constexpr uint16_t kPaddingClass = 0;  // the rest of the sub-buffer is empty
inline constexpr uint16_t kProcessClass = 1;  // a ProcessRecord
inline constexpr uint16_t kFirstClass = 2;
inline constexpr uint32_t kMaxClasses = 65000;
// Where nothing is recorded, a class is no more than a counter, and ids may be larger than a record could
// hold.
inline constexpr uint32_t kMaxCounted = 1 << 23;
inline constexpr uint64_t kMaxCounterBytes = uint64_t{1} << 30;  // all rows: pads address them from control
inline constexpr uint32_t kRecordAlign = 8;
inline constexpr uint32_t kHeaderSize = 8;
// A record fits a 4096-byte CTF packet with its header.
inline constexpr uint32_t kMaxRecordSize = 3072;

constexpr uint64_t make_header(uint16_t class_id, uint64_t tsc) { return tsc << kClassBits | class_id; }
constexpr uint16_t header_class(uint64_t header) { return static_cast<uint16_t>(header); }
constexpr uint64_t header_time(uint64_t header) { return header >> kClassBits; }

// Where a program reads memory (ctf::EventClass::has_hit_word), the second word of a record says how long it
// is and what could not be read: its size in the low 16 bits, a multiple of 8, then a bit for each output
// that is a fault. Values follow at fixed offsets; of text and sequences a 16-bit length in bytes, of which
// the highest bit says that there was more. Their bytes come last, back to back, in the order of outputs.
inline constexpr uint32_t kHitWordOffset = kHeaderSize;
inline constexpr uint32_t kHitWordSize = 8;
inline constexpr unsigned kHitFaultShift = 16;
inline constexpr uint16_t kLengthCut = 0x8000;

// In an rseq ring: the records after it are of process `pid`. Written whenever another process than the one
// before (RingControl::pid) writes into the ring, so that events need not carry the pid.
struct ProcessRecord {
  uint64_t header;
  int32_t pid;
  uint32_t unused;
};
static_assert(sizeof(ProcessRecord) == 16);

// ---- rseq rings
// -----------------------------------------------------------------------------------------------

// One per possible CPU. `pos` counts bytes since the start and is stored only by an rseq section on that CPU;
// a record never touches the last 8 bytes of a sub-buffer, so pos % subbuf_size == 0 means "just switched".
//
// Whoever finds a dead blip's ring needs to know what of it is in that blip's trace already. A release is
// noted in the slot that the last one did not use, then counted, then `consumed` is raised: a blip that dies
// in between leaves the note before whole.
struct ReleaseNote {
  uint64_t pos;              // what is before it is in the files
  uint32_t own_packets;      // in the stream of the traced process
  uint32_t several_packets;  // in the stream that its children share
  int32_t pid;               // whose records come next
  uint32_t unused;
};

struct RingControl {
  uint64_t pos;
  uint64_t data_addr;  // of the ring's first byte, in the target
  int32_t pid;         // of the last ProcessRecord; 0 while one is being written
  uint8_t pad0[kCacheLine - 20];
  uint64_t consumed;  // stored only by the consumer, like all that follows
  uint64_t release_count;
  ReleaseNote releases[2];  // [release_count % 2] is the last
};
static_assert(sizeof(RingControl) == 2 * kCacheLine);
inline constexpr unsigned kRingControlShift = 7;

// ---- shared ring
// ----------------------------------------------------------------------------------------------

// Fixed-size slots, each led by a state word that says which ticket it is good for and who may touch it:
//   free(t)  --writer, locked cmpxchg-->  busy(t, class)  --writer, plain store-->  full(t, class)
//            --consumer, plain store-->  free(t + slot_count)
// A busy slot is never taken away from its writer; see docs/design/ring.md. The last 8 bytes of a slot hold
// the writer's pid.
enum SlotPhase : uint64_t { kSlotFree = 0, kSlotBusy = 1, kSlotFull = 2 };
inline constexpr unsigned kSlotClassShift = 2;
inline constexpr unsigned kSlotTicketShift = kSlotClassShift + kClassBits;

constexpr uint64_t slot_state(uint64_t ticket, uint16_t class_id, SlotPhase phase) {
  return ticket << kSlotTicketShift | uint64_t{class_id} << kSlotClassShift | phase;
}
constexpr uint16_t slot_class(uint64_t state) { return static_cast<uint16_t>(state >> kSlotClassShift); }
constexpr SlotPhase slot_phase(uint64_t state) { return static_cast<SlotPhase>(state & 3); }

// As for the other rings. Slots are freed when their records are taken, but their bytes stay until the slot
// is used again.
struct SharedReleaseNote {
  uint64_t ticket;  // what is below is in the files
  uint64_t time;    // and so is what is not later than this; 64 bits
  uint32_t own_packets;
  uint32_t several_packets;
};

struct SharedRing {
  uint64_t tail_hint;  // a ticket near the first free one; plain stores, may be behind
  uint8_t pad0[kCacheLine - 8];
  uint64_t consumed;  // tickets below are done with; stored only by the consumer, like what follows
  uint64_t release_count;
  SharedReleaseNote releases[2];  // [release_count % 2] is the last
  uint64_t slots_offset;          // from control
  uint32_t slot_shift;            // log2 of the slot's size, state word included
  uint32_t slot_mask;             // number of slots - 1
  uint8_t pad2[kCacheLine - 16];
};
static_assert(sizeof(SharedRing) == 3 * kCacheLine);

// ---- counters
// -------------------------------------------------------------------------------------------------

// uint64_t counters[kCounterKinds][ring_count + 1][class_count]; the last row of a kind belongs to the shared
// ring.
// kAbandoned: calls that were left by longjmp, an exception or the end of their thread, as far as they were
// noticed.
// kUnpaired: calls that were not remembered, or whose entry was not found again though it was seen: skipped
// by each probe of the function's returns, which share the frame of the call.
enum CounterKind : uint32_t { kDiscarded = 0, kSkipped = 1, kHits = 2, kAbandoned = 3, kUnpaired = 4 };
inline constexpr uint32_t kCounterKinds = 5;

// ---- latencies
// ------------------------------------------------------------------------------------------------

// A row for each CPU and one for all hits elsewhere, like counters. A row is
//   LatencyTotals totals[class_count];  uint64_t buckets[class_count][kLatencyBuckets];
inline constexpr uint64_t kMaxLatencyBytes = uint64_t{1} << 30;  // all rows: pads address them from control

// ---- sites
// ----------------------------------------------------------------------------------------------------

inline constexpr uint32_t kJumpSize = 5;

// The most bytes of text that one entry changes.
inline constexpr uint32_t kMaxEdit = 8;

// One run of bytes that was changed, and all that a later blip needs to restore it.
struct SiteEntry {
  uint64_t addr;
  uint64_t pad_addr;  // that the jump leads to, maybe through a trampoline
  uint16_t order;     // written after all of a lower order, to be restored before them
  uint8_t size;       // of the change; 0: the entry is free
  uint8_t length;     // of the jump, whose bytes from `size` on are those of others
  uint8_t window;     // bytes from addr on that run in the pad; 0: a springboard
  uint8_t pad0[3];
  uint8_t original[kMaxEdit];
  uint8_t changed[kMaxEdit];  // all of the jump
};
static_assert(sizeof(SiteEntry) == 40);

// ---- switches
// -------------------------------------------------------------------------------------------------

// One byte per probe, stored only by blip, whenever it likes: no thread needs to stop. A hit that finds its
// probe off is none: it is counted nowhere.
inline constexpr uint8_t kSwitchOff = 0;
inline constexpr uint8_t kSwitchOn = 1;

// ---- header
// ---------------------------------------------------------------------------------------------------

// Memfds with pads: one, and one more whenever there is no room for further ones.
inline constexpr uint32_t kMaxPadFiles = 8192;

// Through this word the pad at the loader's hook for debuggers (_dl_debug_state) and blip talk to each other.
// It counts the target's changes: `seen` and `looked` follow `changes`.
struct LibraryWord {
  int32_t pid;         // of the traced process, as it sees itself
  uint32_t hold;       // 1: it waits after each change until blip has looked; cleared by who waited in vain
  uint32_t changes;    // of its list of libraries; blip waits for it (a futex)
  uint32_t seen;       // blip lives, and will look
  uint32_t looked;     // blip has looked (a futex)
  uint32_t elsewhere;  // changes in other processes that have the pad: children
};
// How long the target waits to be seen, and then for the look: half a second, two seconds.
inline constexpr int64_t kLibrarySliceNs = 10'000'000;
inline constexpr uint32_t kUnseenSlices = 50;
inline constexpr uint32_t kLookSlices = 200;

// ---- areas
// -------------------------------------------------------------------------------------------------

// The kinds of areas that may be in a region. A number is never given to another kind of area. So a new area
// does not raise the version: a reader that does not know its number leaves it alone, and finds the others
// where the list says.
enum class AreaId : uint32_t {
  kNone = 0,
  // of a channel
  kRingControls = 1,  // RingControl[ring_count], always at kRingControlsOffset
  kCounters = 2,
  kSharedRing = 6,
  kSlots = 7,     // of the shared ring
  kRingData = 8,  // sub-buffers, ring after ring
  kSchema = 9,    // text that tells what the records are: session::RegionSchema
  kLatencies = 10,
  // of the home
  kSites = 3,       // SiteEntry[site_count]
  kSwitches = 4,    // a byte for each probe
  kRanges = 5,      // a RangeControl
  kStacks = 11,     // a StackTable
  kRuleCache = 12,  // of stacks
  kPadFiles = 13,   // uint64_t[kMaxPadFiles], inode numbers: whatever maps one of these files is blip's
};
inline constexpr uint32_t kMaxAreas = 32;

struct Area {
  AreaId id;  // kNone: there is no such area
  uint32_t unused;
  uint64_t offset;  // from control
  uint64_t size;

  constexpr uint64_t end() const { return offset + size; }
  bool operator==(const Area&) const = default;
};
static_assert(sizeof(Area) == 24);

struct DataHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t header_size;
  uint64_t region_size;
  uint64_t control_addr;         // of this header in the target
  int32_t owner_pid;             // the blip that made it, in its own pid namespace
  uint32_t owner_pid_namespace;  // low half of that namespace's inode number
  uint64_t owner_start_time;     // field 22 of /proc/PID/stat: tells a reused pid
  uint32_t ring_count;
  uint32_t class_count;
  uint32_t subbuf_count;
  uint32_t subbuf_size;
  uint32_t site_count;  // entries, free ones among them
  uint32_t probe_count;
  uint32_t pad_file_count;  // entries of its area that are valid
  // A fork's child that finds its gate closed stores this in its gate at its first hit, because no pad stood
  // in for the system call that made it; kGateClosed: its hits are skipped.
  uint32_t unannounced_gate;
  uint32_t parking;   // whether the program switches stacks by itself: probe::Parking
  uint32_t filtered;  // 1: a process of the trace has come under a seccomp filter, which children inherit
  LibraryWord libraries;
  uint64_t stub_addr;  // bytes of text lent for remote system calls; 0: none
  uint64_t stub_size;
  uint64_t schema_size;  // of the text in its area; 0: nothing is recorded
  uint64_t trap_size;    // bytes below the gate page that begin with a TrapTable; 0: no traps
  uint64_t shadow_size;  // bytes below those: the open calls of return probes; 0: there are none
  // How a thread is known at its calls: by its thread pointer (1), or by where its stack is (0).
  uint64_t shadow_by_thread;
  uint32_t stack_slots;  // of the StackTable (unwind.h); 0: there is none
  uint32_t stack_frames;
  uint32_t stack_depth;
  uint32_t semaphore_size;  // bytes below the shadow: SemaphoreEntry (semaphores.h); 0: no static marks
  uint64_t home_addr;       // of the home region's header, which may be this one
  Area areas[kMaxAreas];    // by their ids

  constexpr const Area& area(AreaId id) const { return areas[static_cast<uint32_t>(id)]; }
};
static_assert(sizeof(DataHeader) <= kPageSize);

// Where the list has the area, from the header on.
constexpr uint64_t area_entry_offset(AreaId id) {
  return offsetof(DataHeader, areas) + static_cast<uint64_t>(id) * sizeof(Area);
}

// An area of a header that somebody else wrote, found in a mapping of `region_size` bytes. kNone: there is
// none, or it does not lie in the mapping.
constexpr Area checked_area(const DataHeader& untrusted, AreaId id, uint64_t region_size) {
  const Area& area = untrusted.area(id);
  const bool fits = area.id == id && area.offset <= region_size && area.size <= region_size - area.offset;
  return fits ? area : Area{};
}
inline constexpr uint64_t kRingControlsOffset = kPageSize;

// ---- geometry
// -------------------------------------------------------------------------------------------------

// Computes where everything lies, in one place for both sides.
struct Geometry {
  uint32_t ring_count = 0;
  uint32_t class_count = 0;  // including the padding class 0
  uint32_t subbuf_count = 0;
  uint32_t subbuf_size = 0;  // power of two; 0: no rings (counting only)
  uint32_t site_count = 0;   // room for entries
  uint32_t probe_count = 0;  // each has a switch
  uint32_t slot_size = 0;    // power of two; 0: no shared ring
  uint32_t slot_count = 0;   // power of two
  uint32_t schema_size = 0;  // bytes
  bool latencies = false;    // each class has histograms
  bool ranges = false;       // pads read memory
  uint32_t stack_slots = 0;  // power of two; 0: nobody asks for stacks
  uint32_t stack_frames = 0;
  uint32_t stack_depth = 0;

  static constexpr uint64_t align_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

  constexpr uint64_t ring_size() const { return uint64_t{subbuf_count} * subbuf_size; }
  // In the order of their places. Pads and hints address ranges from control: they lie in front of all that
  // may be large.
  static constexpr AreaId kOrder[] = {
      AreaId::kRingControls, AreaId::kCounters,  AreaId::kSites,    AreaId::kSwitches, AreaId::kRanges,
      AreaId::kSharedRing,   AreaId::kSlots,     AreaId::kRingData, AreaId::kSchema,   AreaId::kLatencies,
      AreaId::kStacks,       AreaId::kRuleCache, AreaId::kPadFiles};

  static constexpr uint64_t alignment_of(AreaId id) {
    return id == AreaId::kSwitches ? 2 * kCacheLine : kPageSize;
  }
  constexpr uint64_t size_of(AreaId id) const {
    switch (id) {
      case AreaId::kNone:
        return 0;
      case AreaId::kRingControls:
        return uint64_t{ring_count} * sizeof(RingControl);
      case AreaId::kCounters:
        return kCounterKinds * counter_rows() * counter_row_size();
      case AreaId::kSites:
        return uint64_t{site_count} * sizeof(SiteEntry);
      case AreaId::kSwitches:
        return probe_count;
      case AreaId::kRanges:
        return ranges ? sizeof(RangeControl) : 0;
      case AreaId::kSharedRing:
        return sizeof(SharedRing);
      case AreaId::kSlots:
        return uint64_t{slot_size} * slot_count;
      case AreaId::kRingData:
        return ring_size() * ring_count;
      case AreaId::kSchema:
        return schema_size;
      case AreaId::kLatencies:
        return counter_rows() * latency_row_size();
      case AreaId::kStacks:
        return stack_slots == 0 ? 0 : stack_table_size(stack_slots, stack_frames);
      case AreaId::kRuleCache:
        return stack_slots == 0 ? 0 : sizeof(RuleCache);
      case AreaId::kPadFiles:
        return uint64_t{kMaxPadFiles} * sizeof(uint64_t);
    }
    return 0;
  }
  // Where the area lies, or would if it were not empty.
  constexpr Area area(AreaId wanted) const {
    uint64_t end = kRingControlsOffset;
    for (const AreaId id : kOrder) {
      const Area area{.id = id, .unused = 0, .offset = align_up(end, alignment_of(id)), .size = size_of(id)};
      if (id == wanted) return area;
      end = area.end();
    }
    return {.id = AreaId::kNone, .unused = 0, .offset = align_up(end, kPageSize), .size = 0};
  }
  constexpr uint64_t region_size() const { return area(AreaId::kNone).offset; }

  constexpr uint64_t counter_rows() const { return uint64_t{ring_count} + 1; }  // of each kind
  // Bytes from one row of counters to the next: whole cache lines, so that CPUs do not share one.
  constexpr uint64_t counter_row_size() const { return align_up(uint64_t{class_count} * 8, 2 * kCacheLine); }
  constexpr uint64_t counter_offset(CounterKind kind, uint32_t row, uint32_t class_id) const {
    return counters_offset() + (kind * counter_rows() + row) * counter_row_size() + uint64_t{class_id} * 8;
  }
  constexpr uint64_t latency_totals_size() const {
    return align_up(uint64_t{class_count} * sizeof(LatencyTotals), kCacheLine);
  }
  constexpr uint64_t latency_row_size() const {
    if (!latencies) return 0;
    return align_up(latency_totals_size() + uint64_t{class_count} * kLatencyBuckets * 8, kPageSize);
  }
  constexpr uint64_t latency_totals_offset(uint32_t row, uint32_t class_id) const {
    return latencies_offset() + row * latency_row_size() + class_id * sizeof(LatencyTotals);
  }
  constexpr uint64_t latency_buckets_offset(uint32_t row, uint32_t class_id) const {
    return latencies_offset() + row * latency_row_size() + latency_totals_size() +
           uint64_t{class_id} * kLatencyBuckets * 8;
  }

  constexpr uint64_t counters_offset() const { return area(AreaId::kCounters).offset; }
  constexpr uint64_t sites_offset() const { return area(AreaId::kSites).offset; }
  constexpr uint64_t switches_offset() const { return area(AreaId::kSwitches).offset; }
  constexpr uint64_t ranges_offset() const { return area(AreaId::kRanges).offset; }
  constexpr uint64_t shared_ring_offset() const { return area(AreaId::kSharedRing).offset; }
  constexpr uint64_t slots_offset() const { return area(AreaId::kSlots).offset; }
  constexpr uint64_t ring_data_offset() const { return area(AreaId::kRingData).offset; }
  constexpr uint64_t schema_offset() const { return area(AreaId::kSchema).offset; }
  constexpr uint64_t latencies_offset() const { return area(AreaId::kLatencies).offset; }
  constexpr uint64_t stacks_offset() const { return area(AreaId::kStacks).offset; }
  constexpr uint64_t rule_cache_offset() const { return area(AreaId::kRuleCache).offset; }
  constexpr uint64_t pad_files_offset() const { return area(AreaId::kPadFiles).offset; }
};

}  // namespace blip::abi
