// SPDX-License-Identifier: MIT
#include "x86/code_map.h"

#include <algorithm>
#include <array>

#include "base/parallel.h"
#include "x86/branch_scan.h"
#include "x86/relocate.h"

namespace blip::x86 {

namespace {

constexpr size_t kFunctionsPerPiece = 256;
constexpr uint64_t kShortReach = 129;  // of a rel8, from its opcode, either way
constexpr uint8_t kInt3 = 0xcc;

// mov $rt_sigreturn, %eax or %rax; syscall. Signal frames are recognised by it: by blip, which must find what
// handlers have interrupted while it is probed, and by unwinders where no table tells (musl).
bool returns_from_signal(std::span<const uint8_t> code) {
  constexpr std::array<uint8_t, 9> kLong = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
  constexpr std::array<uint8_t, 7> kShort = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
  const auto begins_with = [&](std::span<const uint8_t> bytes) {
    return code.size() >= bytes.size() && std::equal(bytes.begin(), bytes.end(), code.begin());
  };
  return begins_with(kLong) || begins_with(kShort);
}

// Nothing may follow it in a moved run: a thread can be parked behind it, or what follows is not its
// successor.
bool ends_run(const Insn& insn) {
  switch (insn.flow) {
    case Flow::kNext:
    case Flow::kCondJump:
      return false;
    default:
      return true;
  }
}

}  // namespace

CodeMap::CodeMap(std::span<const uint8_t> text, TargetAddr base, std::function<void()> after_piece)
    : text_(text),
      base_(base),
      after_piece_(std::move(after_piece)),
      cells_(static_cast<uint16_t*>(std::calloc(text.size() + 1, sizeof(uint16_t)))) {}

unsigned CodeMap::cell_of(const Insn& insn) const {
  unsigned bits = insn.length;
  if (ends_run(insn)) bits |= kLast;
  if (insn.ends_flow()) bits |= kEnds;
  if (immovable(insn) || insn.flow == Flow::kSyscall) bits |= kPinned;  // carrier_of() says why
  if (returns_from_signal(bytes_from(insn.addr))) bits |= kPinned;
  if (insn.may_fault) bits |= kMayFault;
  if (insn.may_have_no_result) bits |= kMayOverflow;
  if (insn.is_nop || byte(insn.addr) == kInt3) bits |= kNop;
  if (insn.is_endbr64) bits |= kEntry | kPinned;  // indirect jumps lead there, and find it
  if (insn.flow == Flow::kCall || insn.flow == Flow::kIndirectCall) bits |= kCall;
  return bits;
}

void CodeMap::decode_function(AddrRange function, TargetAddr next_start, Findings& findings) {
  const TargetAddr limit = std::min(function.end, next_start);
  LabelUser user{{function.begin, limit}, {}, {}};
  bool jumps_anywhere = false;
  for (TargetAddr at = function.begin; at < limit;) {
    const auto insn = x86::decode(text_.subspan(at - base_, limit - at), at);
    if (!insn) {
      set(at, kKnown);
      at = at + 1;
      continue;
    }
    set(at, cell_of(*insn));
    for (TargetAddr b = at; b < insn->end(); b = b + 1) set(b, kKnown);
    if (insn->target) findings.targets.push_back(*insn->target);
    if (insn->flow == Flow::kIndirectJump && !insn->rip_relative) jumps_anywhere = true;
    if (insn->lea_width && insn->rip_relative) {
      const bool is_label = insn->rip_target > function.begin && insn->rip_target < limit;
      if (is_label) user.labels.push_back(insn->rip_target), findings.labels.push_back(insn->rip_target);
      if (!contains(insn->rip_target)) user.tables.push_back(insn->rip_target);
    }
    at = insn->end();
  }
  if (jumps_anywhere) findings.indirect_jumpers.push_back(function.begin);
  if (jumps_anywhere && !user.labels.empty()) findings.label_users.push_back(std::move(user));
  if (limit < next_start) decode_padding(limit, next_start);
}

// Nops and int3 behind a function, as far as they go.
void CodeMap::decode_padding(TargetAddr from, TargetAddr to) {
  while (from < to) {
    const auto insn = x86::decode(text_.subspan(from - base_, to - from), from);
    if (!insn || !(insn->is_nop || byte(from) == kInt3)) return;
    for (TargetAddr b = from; b < insn->end(); b = b + 1) set(b, kKnown | kPadding);
    from = insn->end();
  }
}

void CodeMap::decode(std::span<const AddrRange> functions, std::span<const TargetAddr> starts) {
  constexpr uint64_t kMostPadding = 64;
  const TargetAddr end = base_ + text_.size();
  for (const AddrRange& f : functions) {
    if (!contains(f.begin)) continue;
    functions_.push_back({f.begin, std::min(f.end, end)});
    decoded_.begin = std::min(decoded_.begin, f.begin);
    decoded_.end = std::max(decoded_.end, f.end + kMostPadding);
  }
  std::vector<Findings> findings(functions_.size() / kFunctionsPerPiece + 1);
  parallel_pieces(functions_.size(), kFunctionsPerPiece, [&](size_t begin, size_t last) {
    for (size_t i = begin; i < last; ++i) {
      AddrRange& f = functions_[i];
      auto next = std::upper_bound(starts.begin(), starts.end(), f.begin);
      const TargetAddr next_start = next != starts.end() ? std::min(*next, end) : end;
      decode_function(f, std::min(next_start, f.end + kMostPadding), findings[begin / kFunctionsPerPiece]);
      f.end = std::min(f.end, next_start);
    }
    if (after_piece_) after_piece_();
  });
  for (TargetAddr a : starts) enter(a);
  for (Findings& piece : findings) {
    for (TargetAddr a : piece.targets) enter(a, true);
    for (TargetAddr a : piece.labels) enter(a);
    indirect_jumpers_.insert(indirect_jumpers_.end(), piece.indirect_jumpers.begin(),
                             piece.indirect_jumpers.end());
    std::move(piece.label_users.begin(), piece.label_users.end(), std::back_inserter(label_users_));
  }
}

void CodeMap::enter(TargetAddr a, bool certain) {
  if (!contains(a) || a < decoded_.begin || a > decoded_.end) return;  // most, where few were asked for
  const uint16_t cell = cells_[a - base_];
  // A guess that would lead into an instruction was wrong.
  if (!certain && (cell & kKnown) && !(cell & (kPadding | kLengthMask))) return;
  cells_[a - base_] |= kEntry;
}

void CodeMap::scan(std::span<const uint8_t> text, TargetAddr base, std::span<const TargetAddr> starts) {
  const BranchFilter wanted = [&](const Branch& b) {
    return has(b.target, kKnown) && !has(b.target, kEntry) && !has(b.opcode, kKnown);
  };
  for (const Branch& b : near_branches(text, base, starts, wanted, after_piece_)) enter(b.target, true);
  if (base != base_) return;
  // Short ones come from the edges of what has been decoded.
  std::vector<std::vector<Branch>> found(functions_.size() / kFunctionsPerPiece + 1);
  parallel_pieces(functions_.size(), kFunctionsPerPiece, [&](size_t begin, size_t end) {
    std::vector<Branch>& mine = found[begin / kFunctionsPerPiece];
    for (size_t i = begin; i < end; ++i) {
      const AddrRange& f = functions_[i];
      for (const AddrRange& edge :
           {AddrRange{TargetAddr(f.begin.value - std::min(f.begin.value, kShortReach)), f.begin},
            AddrRange{f.end, f.end + kShortReach}}) {
        const auto branches = short_branches(text, base, starts, edge, wanted);
        mine.insert(mine.end(), branches.begin(), branches.end());
      }
    }
  });
  for (const auto& branches : found)
    for (const Branch& b : branches) enter(b.target, true);
}

bool CodeMap::finish_function(AddrRange function) {
  bool all_reached = true;
  bool running = false;  // control may run on from the instruction before
  TargetAddr at = function.begin;
  while (at < function.end) {
    const uint8_t size = length(at);
    if (size == 0) {
      running = false;
      at = at + 1;
      continue;
    }
    for (TargetAddr inner = at + 1; inner < at + size; inner = inner + 1)
      if (has(inner, kEntry)) set(at, kPinned);  // another instruction overlaps it
    if (running || has(at, kEntry)) set(at, kReached);
    const bool reached = has(at, kReached);
    if (!reached && has(at, kNop) && !has(at, kPinned)) {
      for (TargetAddr b = at; b < at + size; b = b + 1) set(b, kDead);
    } else if (!reached) {
      all_reached = false;
    }
    if (has(at, kLast) && !has(at, kEnds)) set(at + size, kEntry);  // of a call: the return address
    running = reached && !has(at, kEnds);
    at = at + size;
  }
  if (!running)
    for (; has(at, kPadding) && !has(at, kEntry); at = at + 1) set(at, kDead);
  return all_reached;
}

void CodeMap::open(AddrRange function) {
  for (TargetAddr at = function.begin; at < function.end; at = at + 1)
    if (has(at, kReached)) set(at, kEntry);
}

void CodeMap::finish() {
  for (const AddrRange& f : functions_) {
    const bool all_reached = finish_function(f);
    // Code that no path leads to, and a jump that may lead anywhere: then it may lead into a run as well.
    if (!all_reached && std::binary_search(indirect_jumpers_.begin(), indirect_jumpers_.end(), f.begin))
      open(f);
  }
  for (const LabelUser& user : label_users_) open(user.function);
}

bool CodeMap::release(TargetAddr at, bool faults, bool overflows) {
  unsigned bits = 0;
  if (faults) bits |= kMayFault;
  if (overflows) bits |= kMayOverflow;
  if (!has(at, bits)) return false;
  cells_[at - base_] &= static_cast<uint16_t>(~bits);
  return true;
}

TargetAddr CodeMap::carrier_of(TargetAddr a) const {
  if (!is_system_call(a) || is_entry(a)) return a;
  const TargetAddr before = previous(a);
  return has(before, kLast | kPinned) ? a : before;
}

TargetAddr CodeMap::head_of(TargetAddr a) const {
  for (uint64_t back = 0; back < kMaxInsnLength && back <= a - base_; ++back)
    if (const uint8_t size = length(a - back)) return size > back ? a - back : TargetAddr();
  return TargetAddr();
}

TargetAddr CodeMap::previous(TargetAddr a) const {
  if (a <= base_) return a;
  const TargetAddr before = head_of(a - 1);
  if (before == TargetAddr() || before + length(before) != a) return a;
  return before;
}

}  // namespace blip::x86
