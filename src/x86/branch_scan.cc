// SPDX-License-Identifier: MIT
#include "x86/branch_scan.h"

#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "base/parallel.h"
#include "x86/decode.h"

// A branch with rel32 has one of these byte pairs right before the displacement:
//
//     ?? E8/E9   call, jmp          0F 80..8F   jcc          C7 F8   xbegin
//
// Sixteen places are tested at once (SSE2, part of every x86-64). One in fifteen passes, and for those the
// target is looked up in the bitmap of interior bytes. Only what leads into a window, a handful per module,
// is decoded.

namespace blip::x86 {
namespace {

constexpr uint64_t kTrustedDistance = 64 * 1024;
constexpr size_t kRel32 = 4;
constexpr size_t kBytesPerPiece = 1 << 20;
constexpr size_t kWindowsPerPiece = 1024;
constexpr uint64_t kShortReach = 128;  // of a rel8, from its end, either way

class Scan {
 public:
  Scan(std::span<const uint8_t> text, TargetAddr base, std::span<const TargetAddr> starts, InteriorSet& set)
      : text_(text), base_(base), starts_(starts), set_(set) {}

  void near_branches();
  void short_branches();

 private:
  struct Branch {
    TargetAddr opcode;
    TargetAddr target;
  };
  using Branches = std::vector<Branch>;

  // Runs find(begin, end, found) for pieces of [0, count) on all CPUs, and reports what was found in order.
  template <typename Find>
  void in_pieces(size_t count, size_t piece, Find find);
  void near_branches_in(size_t begin, size_t end, Branches& found) const;
  // rel_at: offset of the displacement.
  void near_candidate(size_t rel_at, Branches& found) const;
  void short_candidates(const InteriorSet::Interior& window, Branches& found) const;
  void add_if_real(TargetAddr opcode, TargetAddr target, Branches& found) const {
    if (is_real(opcode, target)) found.push_back({opcode, target});
  }
  bool is_real(TargetAddr opcode, TargetAddr target) const;

  std::span<const uint8_t> text_;
  TargetAddr base_;
  std::span<const TargetAddr> starts_;
  InteriorSet& set_;
};

// Whether the bytes before `rel` belong to a branch with rel32. `before` is at least 2 bytes into the text.
bool is_near_opcode(const uint8_t* rel) {
  uint8_t last = rel[-1];
  if ((last & 0xfe) == 0xe8) return true;
  return (rel[-2] == 0x0f && (last & 0xf0) == 0x80) || (rel[-2] == 0xc7 && last == 0xf8);
}

// Bit i: a branch opcode ends right before p + i.
uint32_t near_opcodes_in_16(const uint8_t* p) {
  auto load = [](const uint8_t* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); };
  auto all = [](int byte) { return _mm_set1_epi8(static_cast<char>(byte)); };
  __m128i last = load(p - 1);
  __m128i before = load(p - 2);
  __m128i call_or_jmp = _mm_cmpeq_epi8(_mm_and_si128(last, all(0xfe)), all(0xe8));
  __m128i jcc = _mm_and_si128(_mm_cmpeq_epi8(_mm_and_si128(last, all(0xf0)), all(0x80)),
                              _mm_cmpeq_epi8(before, all(0x0f)));
  __m128i xbegin = _mm_and_si128(_mm_cmpeq_epi8(last, all(0xf8)), _mm_cmpeq_epi8(before, all(0xc7)));
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_or_si128(call_or_jmp, _mm_or_si128(jcc, xbegin))));
}

template <typename Find>
void Scan::in_pieces(size_t count, size_t piece, Find find) {
  std::vector<Branches> found(count / piece + 1);
  parallel_pieces(count, piece, [&](size_t begin, size_t end) { find(begin, end, found[begin / piece]); });
  for (const Branches& branches : found)
    for (const Branch& branch : branches) set_.hit(branch.target, branch.opcode, "a branch");
}

void Scan::near_candidate(size_t rel_at, Branches& found) const {
  int32_t rel;
  std::memcpy(&rel, &text_[rel_at], sizeof rel);
  TargetAddr target = base_ + rel_at + kRel32 + static_cast<uint64_t>(int64_t{rel});
  if (!set_.contains(target)) return;
  bool one_byte_opcode = (text_[rel_at - 1] & 0xfe) == 0xe8;
  add_if_real(base_ + rel_at - (one_byte_opcode ? 1 : 2), target, found);
}

// Displacements at [begin, end).
void Scan::near_branches_in(size_t begin, size_t end, Branches& found) const {
  constexpr size_t kBlock = 16;
  size_t at = begin;
  if (at == 0) at = 2;  // no opcode fits before 1, and only a short one before 2
  if (begin == 0 && (text_[0] & 0xfe) == 0xe8) near_candidate(1, found);
  for (; at + kBlock <= end; at += kBlock)
    for (uint32_t places = near_opcodes_in_16(&text_[at]); places; places &= places - 1)
      near_candidate(at + static_cast<size_t>(std::countr_zero(places)), found);
  for (; at < end; ++at)
    if (is_near_opcode(&text_[at])) near_candidate(at, found);
}

void Scan::near_branches() {
  if (text_.size() < 1 + kRel32 || set_.range().empty()) return;
  size_t places = text_.size() - kRel32 + 1;
  in_pieces(places, kBytesPerPiece,
            [&](size_t begin, size_t end, Branches& found) { near_branches_in(begin, end, found); });
}

bool is_short_opcode(uint8_t b) { return b == 0xeb || (b & 0xf0) == 0x70 || (b & 0xfc) == 0xe0; }

void Scan::short_candidates(const InteriorSet::Interior& window, Branches& found) const {
  uint64_t begin = window.start - base_;
  uint64_t end = window.end - base_;
  if (begin >= text_.size()) return;
  size_t at = begin > kShortReach ? begin - kShortReach : 0;
  size_t limit = std::min<uint64_t>(text_.size() - 1, end + kShortReach);
  for (; at < limit; ++at) {
    if (!is_short_opcode(text_[at])) continue;
    TargetAddr target = base_ + at + 2 + static_cast<uint64_t>(int64_t{static_cast<int8_t>(text_[at + 1])});
    if (target > window.start && target < window.end) add_if_real(base_ + at, target, found);
  }
}

void Scan::short_branches() {
  auto windows = set_.sorted();
  in_pieces(windows.size(), kWindowsPerPiece, [&](size_t begin, size_t end, Branches& found) {
    for (const InteriorSet::Interior& window : windows.subspan(begin, end - begin))
      if (!set_.refused(window.index)) short_candidates(window, found);
  });
}

// Decodes from the nearest function start up to the instruction that holds the opcode byte. It may begin
// earlier, with prefixes; that it is a branch to the same target decides.
bool Scan::is_real(TargetAddr opcode, TargetAddr target) const {
  auto next = std::upper_bound(starts_.begin(), starts_.end(), opcode);
  if (next == starts_.begin()) return true;
  TargetAddr at = *(next - 1);
  if (at < base_ || opcode - at > kTrustedDistance) return true;
  while (true) {
    auto insn = decode(text_.subspan(at - base_), at);
    if (!insn) return true;
    if (insn->end() > opcode) return insn->target == target;
    at = insn->end();
  }
}

}  // namespace

void scan_branches(std::span<const uint8_t> text, TargetAddr base,
                   std::span<const TargetAddr> function_starts, InteriorSet& set) {
  Scan(text, base, function_starts, set).near_branches();
}

void scan_short_branches(std::span<const uint8_t> text, TargetAddr base,
                         std::span<const TargetAddr> function_starts, InteriorSet& set) {
  Scan(text, base, function_starts, set).short_branches();
}

}  // namespace blip::x86
