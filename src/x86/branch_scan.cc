// SPDX-License-Identifier: MIT
#include "x86/branch_scan.h"

#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/parallel.h"
#include "x86/decode.h"

// A branch with rel32 has one of these byte pairs right before the displacement:
//
//     ?? E8/E9   call, jmp          0F 80..8F   jcc          C7 F8   xbegin
//
// Sixteen places are tested at once (SSE2, part of every x86-64). One in fifteen passes, and for those the
// filter is asked. Only what it wants, a handful per module, is decoded.

namespace blip::x86 {
namespace {

constexpr uint64_t kTrustedDistance = 1 << 16;
constexpr size_t kRel32 = 4;
constexpr size_t kBytesPerPiece = 1 << 20;

using Branches = std::vector<Branch>;

// The place up to which decoding from a known start has come. Questions come in the order of addresses, so
// that no byte is decoded twice.
struct Cursor {
  TargetAddr start, at;
};

class Scan {
 public:
  Scan(std::span<const uint8_t> text, TargetAddr base, std::span<const TargetAddr> starts,
       const BranchFilter& wanted)
      : text_(text), base_(base), starts_(starts), wanted_(wanted) {}

  Branches near(const std::function<void()>& after_piece);
  Branches short_in(AddrRange where) const;

 private:
  void near_in(size_t begin, size_t end, Branches& found) const;
  // rel_at: offset of the displacement.
  void near_candidate(size_t rel_at, Cursor& cursor, Branches& found) const;
  void consider(const Branch& branch, Cursor& cursor, Branches& found) const {
    if (wanted_(branch) && is_real(branch, cursor)) found.push_back(branch);
  }
  bool is_real(const Branch& branch, Cursor& cursor) const;

  std::span<const uint8_t> text_;
  TargetAddr base_;
  std::span<const TargetAddr> starts_;
  const BranchFilter& wanted_;
};

// True if the bytes before `rel` belong to a branch with rel32. `before` is at least 2 bytes into the text.
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

void Scan::near_candidate(size_t rel_at, Cursor& cursor, Branches& found) const {
  int32_t rel;
  std::memcpy(&rel, &text_[rel_at], sizeof rel);
  bool one_byte_opcode = (text_[rel_at - 1] & 0xfe) == 0xe8;
  consider({base_ + rel_at - (one_byte_opcode ? 1 : 2),
            base_ + rel_at + kRel32 + static_cast<uint64_t>(int64_t{rel})},
           cursor, found);
}

// Displacements at [begin, end).
void Scan::near_in(size_t begin, size_t end, Branches& found) const {
  constexpr size_t kBlock = 16;
  Cursor cursor;
  size_t at = begin;
  if (at == 0) at = 2;  // no opcode fits before 1, and only a short one before 2
  if (begin == 0 && (text_[0] & 0xfe) == 0xe8) near_candidate(1, cursor, found);
  for (; at + kBlock <= end; at += kBlock)
    for (uint32_t places = near_opcodes_in_16(&text_[at]); places; places &= places - 1)
      near_candidate(at + static_cast<size_t>(std::countr_zero(places)), cursor, found);
  for (; at < end; ++at)
    if (is_near_opcode(&text_[at])) near_candidate(at, cursor, found);
}

Branches Scan::near(const std::function<void()>& after_piece) {
  Branches all;
  if (text_.size() < 1 + kRel32) return all;
  const size_t places = text_.size() - kRel32 + 1;
  std::vector<Branches> found(places / kBytesPerPiece + 1);
  parallel_pieces(places, kBytesPerPiece, [&](size_t begin, size_t end) {
    near_in(begin, end, found[begin / kBytesPerPiece]);
    if (after_piece) after_piece();
  });
  for (const Branches& branches : found) all.insert(all.end(), branches.begin(), branches.end());
  return all;
}

bool is_short_opcode(uint8_t b) { return b == 0xeb || (b & 0xf0) == 0x70 || (b & 0xfc) == 0xe0; }

Branches Scan::short_in(AddrRange where) const {
  Branches found;
  Cursor cursor;
  const TargetAddr begin = std::max(where.begin, base_);
  const TargetAddr end = std::min(where.end, base_ + text_.size());
  for (TargetAddr at = begin; at + 1 < end; at = at + 1) {
    if (!is_short_opcode(text_[at - base_])) continue;
    const auto rel = static_cast<int8_t>(text_[at - base_ + 1]);
    consider({at, at + 2 + static_cast<uint64_t>(int64_t{rel})}, cursor, found);
  }
  return found;
}

// Decodes from the nearest function start up to the instruction that holds the opcode byte. It may begin
// earlier, with prefixes; that it is a branch to the same target decides.
bool Scan::is_real(const Branch& branch, Cursor& cursor) const {
  auto next = std::upper_bound(starts_.begin(), starts_.end(), branch.opcode);
  if (next == starts_.begin()) return true;
  const TargetAddr start = *(next - 1);
  if (start < base_ || branch.opcode - start > kTrustedDistance) return true;
  if (cursor.start != start || cursor.at > branch.opcode) cursor = {start, start};
  while (true) {
    auto insn = decode(text_.subspan(cursor.at - base_), cursor.at);
    if (!insn) return true;
    if (insn->end() > branch.opcode) return insn->target == branch.target;
    cursor.at = insn->end();
  }
}

}  // namespace

std::vector<Branch> near_branches(std::span<const uint8_t> text, TargetAddr base,
                                  std::span<const TargetAddr> starts, const BranchFilter& wanted,
                                  const std::function<void()>& after_piece) {
  return Scan(text, base, starts, wanted).near(after_piece);
}

std::vector<Branch> short_branches(std::span<const uint8_t> text, TargetAddr base,
                                   std::span<const TargetAddr> starts, AddrRange where,
                                   const BranchFilter& wanted) {
  return Scan(text, base, starts, wanted).short_in(where);
}

}  // namespace blip::x86
