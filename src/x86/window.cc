// SPDX-License-Identifier: MIT
#include "x86/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "x86/go_stack_check.h"
#include "x86/liveness.h"
#include "x86/relocate.h"

namespace blip::x86 {
namespace {

constexpr uint64_t kPageSize = 4096;
// Any place near does for the trial; the real pad is allocated later.
constexpr uint64_t kNominalPadDistance = 1 << 20;
constexpr uint8_t kInt3 = 0xcc;

Error refuse(std::string reason) { return Error(ErrorKind::kUnsupported, std::move(reason)); }

TargetAddr entry_of(const FunctionBytes& f) {
  constexpr std::array<uint8_t, 4> kEndbr64 = {0xf3, 0x0f, 0x1e, 0xfa};
  bool marked =
      f.bytes.size() >= kEndbr64.size() && std::equal(kEndbr64.begin(), kEndbr64.end(), f.bytes.begin());
  return marked ? f.addr + kEndbr64.size() : f.addr;
}

std::span<const uint8_t> bytes_from(const FunctionBytes& f, TargetAddr a) {
  return f.bytes.subspan(std::min<uint64_t>(a - f.addr, f.bytes.size()));
}

// Whether the bytes begin with `count` bytes of padding. A nop that reaches beyond them must itself be whole.
bool is_padding(std::span<const uint8_t> bytes, size_t count) {
  size_t at = 0;
  while (at < count && at < bytes.size()) {
    auto insn = decode(bytes.subspan(at), TargetAddr(at));
    if (!insn || !(insn->is_nop || bytes[at] == kInt3)) return false;
    at += insn->length;
  }
  return at >= count;
}

// A window that ends the function before it is long enough for the jump.
Status add_padding(const FunctionBytes& f, const Insn& last, Window& window) {
  size_t missing = kJumpLength - window.length;
  if (!bytes_from(f, last.end()).empty())
    return refuse(fmt::format("{} before there is room for the jump", last.mnemonic));
  if (!is_padding(f.after, missing)) return refuse("the function is shorter than the jump");
  window.padding = static_cast<uint8_t>(missing);
  return {};
}

// Takes whole instructions until the jump has room.
Status extend(const FunctionBytes& f, Window& window) {
  int count = 0;
  while (window.length < kJumpLength) {
    TargetAddr at = window.start + window.length;
    if (bytes_from(f, at).empty()) return refuse("the function is shorter than the jump");
    auto insn = decode(bytes_from(f, at), at);
    if (!insn) return refuse(fmt::format("bytes at {:#x} are no instruction", at.value));
    window.length += insn->length;
    if (++count == 1) window.step = insn->is_nop ? Step::kNop : Step::kSingle;
    if (insn->ends_flow() && window.length < kJumpLength) {
      TRY_OK(add_padding(f, *insn, window));
      break;
    }
  }
  window.needs_proof = count > 1 || window.padding > 0;
  if (window.needs_proof) window.step = Step::kWindow;
  return {};
}

Status check_page(const Window& window) {
  uint64_t offset = window.start.value % kPageSize;
  if (offset + kJumpLength > kPageSize) return refuse("the jump would cross a page boundary");
  return {};
}

// A direct branch, not a call, from `insn` to the entry; the endbr64 before it leads there too.
bool leads_to_entry(const Insn& insn, TargetAddr function, TargetAddr entry) {
  if (insn.flow != Flow::kJump && insn.flow != Flow::kCondJump) return false;
  return *insn.target >= function && *insn.target <= entry;
}

// Whether the bytes at `at`, read as if an instruction began there, could be such a branch. Prefixes do not
// matter.
bool may_lead_to_entry(std::span<const uint8_t> bytes, size_t at, size_t entry) {
  auto back_by = [&](int64_t end, int64_t rel) {
    return end + rel >= 0 && end + rel <= static_cast<int64_t>(entry);
  };
  auto end = static_cast<int64_t>(at);
  if (at + 2 <= bytes.size() && back_by(end + 2, static_cast<int8_t>(bytes[at + 1]))) return true;
  if (at + 5 > bytes.size()) return false;
  uint32_t rel =
      bytes[at + 1] | bytes[at + 2] << 8 | bytes[at + 3] << 16 | static_cast<uint32_t>(bytes[at + 4]) << 24;
  return back_by(end + 5, static_cast<int32_t>(rel));
}

bool is_branch_opcode(uint8_t b) {
  return b == 0xeb || b == 0xe9 || (b & 0xf0) == 0x70 || (b & 0xf0) == 0x80 || (b >= 0xe0 && b <= 0xe3);
}

// A look at every byte offset is much cheaper than decoding and nearly always says no.
bool may_have_self_branch(const FunctionBytes& f, TargetAddr entry) {
  for (size_t at = 0; at + 1 < f.bytes.size(); ++at)
    if (is_branch_opcode(f.bytes[at]) && may_lead_to_entry(f.bytes, at, entry - f.addr)) return true;
  return false;
}

// Where decoding fails the answer is yes: skipping the red zone is always safe.
bool has_self_branch(const FunctionBytes& f, TargetAddr entry) {
  if (!may_have_self_branch(f, entry)) return false;
  for (TargetAddr at = f.addr; !bytes_from(f, at).empty();) {
    auto insn = decode(bytes_from(f, at), at);
    if (!insn || leads_to_entry(*insn, f.addr, entry)) return true;
    at = insn->end();
  }
  return false;
}

// A window over the stack check, or over one instruction of a function without one.
Status extend_go(const FunctionBytes& f, Window& window) {
  if (const auto check = go_stack_check(bytes_from(f, window.start))) {
    window.length = check->replaceable;
    window.lead = check->length;
    window.needs_proof = check->replaceable == check->length;
    window.step = window.needs_proof ? Step::kWindow : Step::kSingle;
    return {};
  }
  TRY_OK(extend(f, window));
  if (window.needs_proof)
    return refuse("no single instruction has room for the jump, and a goroutine may be parked at any");
  return {};
}

}  // namespace

Result<Window> entry_window(const FunctionBytes& function, const WindowOptions& options) {
  Window window;
  window.start = entry_of(function);
  TRY_OK(options.go ? extend_go(function, window) : extend(function, window));
  TRY_OK(check_page(window));
  auto bytes = bytes_from(function, window.start).first(std::max(window.length, window.lead));
  TargetAddr pad(window.start.value + kNominalPadDistance);
  TRY_OK(relocate(bytes, window.start, pad, {.shadow_stack = options.shadow_stack}));
  if (options.verdict_only) return window;
  window.flags_live = window.lead == 0 && flags_live(function.bytes, function.addr, window.start);
  window.self_branch = !options.go && has_self_branch(function, window.start);  // Go has no red zone
  return window;
}

}  // namespace blip::x86
