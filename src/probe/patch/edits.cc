// SPDX-License-Identifier: MIT
#include "probe/patch/edits.h"

#include <algorithm>

#include "x86/jump.h"

namespace blip::probe {

namespace {

constexpr x86::JumpBytes kTrapBytes{.bytes = {0xcc}, .size = 1};  // int3: the handler knows the pad

Error unreachable() { return Error(ErrorKind::kUnsupported, "the pad is out of a jump's reach"); }

// The bytes of `room` that lie in the first page: what is behind it stays, or the edit would be two writes.
std::span<const uint8_t> in_one_page(TargetAddr at, std::span<const uint8_t> room) {
  return room.first(std::min<size_t>(room.size(), abi::kPageSize - at.value % abi::kPageSize));
}

// `least`: bytes of the jump that must be the edit's own.
Result<Edit> make_edit(TargetAddr at, std::span<const uint8_t> room, const x86::JumpBytes& jump,
                       uint64_t least) {
  room = in_one_page(at, room);
  Edit edit{.addr = at,
            .size = static_cast<uint8_t>(std::min<size_t>(jump.size, room.size())),
            .length = jump.size};
  if (edit.size < least) return Error(ErrorKind::kUnsupported, "there is no room for a jump");
  std::copy_n(room.begin(), edit.size, edit.original.begin());
  std::copy_n(jump.bytes.begin(), jump.size, edit.changed.begin());
  return edit;
}

// An edit's place among all: a site's springboard is there before its short jump, and everything of a lower
// rank before both.
uint16_t order_of(unsigned rank, bool springboard) {
  return static_cast<uint16_t>(2 * rank + (springboard ? 0 : 1));
}

// The bytes from the springboard on that may be overwritten.
std::span<const uint8_t> springboard_room(const Site& site, const Site* host) {
  if (!site.springboard_bytes.empty()) return site.springboard_bytes;
  if (!host || site.rewrite.springboard < host->rewrite.start) return {};
  const uint64_t offset = site.rewrite.springboard - host->rewrite.start;
  return offset < host->bytes.size() ? std::span(host->bytes).subspan(offset) : std::span<const uint8_t>();
}

}  // namespace

Result<Edit> jump_edit(TargetAddr at, std::span<const uint8_t> room, TargetAddr target, uint8_t prefixes) {
  const auto jump = x86::near_jump(at, target, prefixes);
  if (!jump) return unreachable();
  return make_edit(at, room, *jump, prefixes + 1);
}

Result<std::vector<Edit>> site_edits(const Site& site, TargetAddr pad, const Site* host) {
  const x86::Rewrite& rewrite = site.rewrite;
  const TargetAddr target = rewrite.entry != TargetAddr() ? rewrite.entry : pad;
  unsigned rank = rewrite.rank;
  std::vector<Edit> edits;
  if (rewrite.step == x86::Step::kTrap) {
    TRY(Edit trap, make_edit(rewrite.start, site.bytes, kTrapBytes, kTrapBytes.size));
    edits.push_back(trap);
  } else if (rewrite.springboard == TargetAddr()) {
    TRY(Edit jump, jump_edit(rewrite.start, site.bytes, target, rewrite.prefixes));
    edits.push_back(jump);
  } else {
    if (site.springboard_bytes.empty() && !host)
      return Error(ErrorKind::kUnsupported, "the bytes for its jump are not free");
    if (site.springboard_bytes.empty()) rank = std::max(rank, host->rewrite.rank + 1U);
    TRY(Edit board, jump_edit(rewrite.springboard, springboard_room(site, host), target, rewrite.prefixes));
    board.order = order_of(rank, true);
    const auto hop = x86::short_jump(rewrite.start, rewrite.springboard);
    if (!hop) return unreachable();
    TRY(Edit jump, make_edit(rewrite.start, site.bytes, *hop, 1));
    edits = {board, jump};
  }
  edits.back().order = order_of(rank, false);
  edits.back().window = static_cast<uint8_t>(site.bytes.size());
  for (Edit& edit : edits) edit.pad = pad;
  return edits;
}

Result<std::array<uint8_t, abi::kJumpSize>> trampoline(TargetAddr entry, TargetAddr pad) {
  const auto jump = x86::near_jump(entry, pad);
  if (!jump) return unreachable();
  std::array<uint8_t, abi::kJumpSize> bytes;
  std::copy_n(jump->bytes.begin(), bytes.size(), bytes.begin());
  return bytes;
}

}  // namespace blip::probe
