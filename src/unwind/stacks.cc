// SPDX-License-Identifier: MIT
#include "unwind/stacks.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace blip::unwind {

const char* why_cut(abi::UnwindEnd end) {
  switch (end) {
    case abi::UnwindEnd::kOutermost:
      return "";
    case abi::UnwindEnd::kDepth:
      return "the depth asked for";
    case abi::UnwindEnd::kNoModule:
      return "code of no file";
    case abi::UnwindEnd::kNoRule:
      return "no unwind information";
    case abi::UnwindEnd::kUnsupported:
      return "unwind information that blip cannot follow";
    case abi::UnwindEnd::kUnreadable:
      return "memory that is not known to be a stack";
    case abi::UnwindEnd::kNotGrowing:
      return "a frame below its caller's";
    case abi::UnwindEnd::kPads:
      return "a signal in the middle of a probe";
  }
  return "an unknown reason";
}

StackTableReader StackTableReader::create(std::span<uint8_t> memory, const StackTableSize& size) {
  CHECK(std::has_single_bit(size.slots) && memory.size() >= size.bytes());
  CHECK(size.depth > 0 && size.depth <= abi::kMaxStackDepth);
  std::fill_n(memory.begin(), size.bytes(), uint8_t{0});
  auto* table = reinterpret_cast<abi::StackTable*>(memory.data());
  table->slot_mask = size.slots - 1;
  table->frame_capacity = size.frames;
  table->depth = size.depth;
  return {memory, size};
}

std::optional<Stack> StackTableReader::find(uint32_t id) const {
  if (id >= size_.slots) return std::nullopt;
  const auto* slots = reinterpret_cast<const abi::StackSlot*>(memory_.data() + sizeof(abi::StackTable));
  const uint64_t place = __atomic_load_n(&slots[id].place, __ATOMIC_ACQUIRE);
  const uint64_t first = abi::stack_first(place), count = abi::stack_count(place);
  if (place == 0 || count > size_.depth || first + count > size_.frames) return std::nullopt;
  if (abi::stack_end(place) >= abi::kUnwindEnds) return std::nullopt;
  Stack stack{.frames = {}, .end = static_cast<abi::UnwindEnd>(abi::stack_end(place))};
  const auto* frames = reinterpret_cast<const uint64_t*>(slots + size_.slots) + first;
  const std::vector<uint64_t> copy(frames, frames + count);
  for (const uint64_t frame : copy)
    stack.frames.push_back(
        {TargetAddr(frame & ~abi::kInterrupted), !stack.frames.empty() && (frame & abi::kInterrupted) == 0});
  return stack;
}

uint64_t StackTableReader::refused() const {
  const auto* table = reinterpret_cast<const abi::StackTable*>(memory_.data());
  return __atomic_load_n(&table->refused, __ATOMIC_RELAXED);
}

}  // namespace blip::unwind
