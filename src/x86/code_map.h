// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/addr.h"
#include "x86/decode.h"

namespace blip::x86 {

// Knows a segment of code byte by byte: where instructions begin, which of them are arrived at from
// elsewhere, which bytes nobody executes. Made once per module and trace, then only read.
//
//   decode() the functions of interest; enter() whatever else may lead into them; finish().
//
// Direct branches are found here: in decoded functions by decoding, elsewhere at every byte offset, so that
// no branch is missed (what only looks like one costs a little room for jumps, never the target's health).
class CodeMap {
 public:
  // `after_piece` is called whenever some megabytes have been read, from several threads at once: their pages
  // may be given back.
  CodeMap(std::span<const uint8_t> text, TargetAddr base, std::function<void()> after_piece = {});

  // Decodes functions of this segment; `starts` are all known starts, sorted, of this or any segment. A
  // function reaches to its end or the next start. The bytes between two functions are looked at as padding.
  void decode(std::span<const AddrRange> functions, std::span<const TargetAddr> starts);
  // Direct branches of `text` (this segment's or another's) into what has been decoded.
  void scan(std::span<const uint8_t> text, TargetAddr base, std::span<const TargetAddr> starts);
  // Code may arrive at `a` from elsewhere. `certain`: even if that is inside an instruction.
  void enter(TargetAddr a, bool certain = false);
  // A jump of somebody else comes to stand on the instruction at `at`, which may be moved only as the last
  // one of a run; the one behind it stays.
  void watch(TargetAddr at) {
    set(at, kLast);
    set(at + kJumpLength, kPinned);
    watched_.push_back(at);
  }
  // The instruction at `at` stays where it is.
  void pin(TargetAddr at) { set(at, kPinned); }
  // The instruction at `at` may be moved although it may fault. False: it may not fault.
  bool release(TargetAddr at, bool faults, bool overflows);
  const std::vector<TargetAddr>& watched() const { return watched_; }
  void finish();

  // A function that jumps to addresses it computes from labels of its own (computed goto): anything in it may
  // be a label. Known after decode(); its tables may tell more labels, to be given to enter().
  struct LabelUser {
    AddrRange function;
    std::vector<TargetAddr> labels;
    std::vector<TargetAddr> tables;  // addresses outside the code that it takes
  };
  const std::vector<LabelUser>& label_users() const { return label_users_; }

  bool contains(TargetAddr a) const { return a >= base_ && a - base_ < text_.size(); }
  std::span<const uint8_t> bytes_from(TargetAddr a) const { return text_.subspan(a - base_); }
  uint8_t byte(TargetAddr a) const { return text_[a - base_]; }
  TargetAddr base() const { return base_; }
  size_t size() const { return text_.size(); }

  // The length of the instruction that begins at a; 0 if none is known to begin there.
  uint8_t length(TargetAddr a) const { return contains(a) ? cells_[a - base_] & kLengthMask : 0; }
  bool is_entry(TargetAddr a) const { return has(a, kEntry); }
  // Some path seen leads to it; otherwise it may as well be data.
  bool is_reached(TargetAddr a) const { return has(a, kReached); }
  bool is_pinned(TargetAddr a) const { return has(a, kPinned); }
  bool is_nop(TargetAddr a) const { return has(a, kNop); }
  // Touches memory that may not be there (SIGSEGV, SIGBUS); may have no result (SIGFPE).
  bool may_fault(TargetAddr a) const { return has(a, kMayFault); }
  bool may_overflow(TargetAddr a) const { return has(a, kMayOverflow); }
  bool is_call(TargetAddr a) const { return has(a, kCall); }
  bool is_system_call(TargetAddr a) const { return length(a) == 2 && byte(a) == 0x0f && byte(a + 1) == 0x05; }
  // The instruction whose move brings a probe on the one at `a` about: itself. A system call stays where it
  // is: threads wait in it, and where they wait is seen by others. Cancellation unwinds from there (glibc) or
  // compares it with labels around the call (musl, newer glibc), and a pad has no unwind table and no label.
  // Its probe runs at the end of the run before it, if that is the only way to it.
  TargetAddr carrier_of(TargetAddr a) const;
  // Control never runs on behind it.
  bool ends_flow(TargetAddr a) const { return has(a, kEnds); }
  // True if the instruction at b = a + length(a) may be moved in one run with the one at a.
  bool joins(TargetAddr a, TargetAddr b) const {
    return length(b) != 0 && !has(a, kLast | kPinned) && !has(b, kEntry | kPinned);
  }
  // A byte of padding that nobody executes.
  bool is_dead(TargetAddr a) const { return has(a, kDead); }
  // The instruction before a, if a is reached by running on from it; a itself if there is none.
  TargetAddr previous(TargetAddr a) const;
  // The instruction that holds the byte at a; nothing if none is known to.
  TargetAddr head_of(TargetAddr a) const;

 private:
  enum : uint16_t {
    kLengthMask = 0xf,
    kEntry = 1 << 4,
    kLast = 1 << 5,
    kEnds = 1 << 6,
    kPinned = 1 << 7,
    kMayFault = 1 << 8,
    kNop = 1 << 9,
    kReached = 1 << 10,
    kDead = 1 << 11,
    kKnown = 1 << 12,    // decoded as code, or padding
    kPadding = 1 << 13,  // nops and int3 between functions
    kCall = 1 << 14,
    kMayOverflow = 1 << 15,
  };

  bool has(TargetAddr a, unsigned bits) const { return contains(a) && (cells_[a - base_] & bits) != 0; }
  void set(TargetAddr a, unsigned bits) {
    if (contains(a)) cells_[a - base_] |= static_cast<uint16_t>(bits);
  }
  // Results of decoding beside the instructions themselves.
  struct Findings {
    std::vector<TargetAddr> targets;
    std::vector<TargetAddr> labels;  // another function may jump there (__builtin_setjmp)
    std::vector<LabelUser> label_users;
    std::vector<TargetAddr> indirect_jumpers;  // starts of functions
  };

  unsigned cell_of(const Insn& insn) const;
  void decode_function(AddrRange function, TargetAddr next_start, Findings& findings);
  void decode_padding(TargetAddr from, TargetAddr to);
  // True: all of its code is reached.
  bool finish_function(AddrRange function);
  // Anything in it that is reached may be arrived at from elsewhere.
  void open(AddrRange function);

  struct Free {
    void operator()(uint16_t* p) const { std::free(p); }
  };

  std::span<const uint8_t> text_;
  TargetAddr base_;
  std::function<void()> after_piece_;
  std::unique_ptr<uint16_t[], Free> cells_;  // from calloc: pages nobody asks about cost nothing
  std::vector<AddrRange> functions_;
  AddrRange decoded_{TargetAddr(UINT64_MAX), TargetAddr(0)};  // from the first function to behind the last
  std::vector<TargetAddr> watched_;
  std::vector<TargetAddr> indirect_jumpers_;  // sorted
  std::vector<LabelUser> label_users_;
};

}  // namespace blip::x86
