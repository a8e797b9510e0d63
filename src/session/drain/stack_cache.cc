// SPDX-License-Identifier: MIT
#include "session/drain/stack_cache.h"

#include "ctf/schema.h"

namespace blip::session {

namespace {

unwind::StackTableSize size_of(const abi::Geometry& g) {
  return {.slots = g.stack_slots, .frames = g.stack_frames, .depth = g.stack_depth};
}

StackCache::Entry entry_of(const unwind::Stack& stack) {
  StackCache::Entry entry{.frames = {}, .info = static_cast<uint8_t>(stack.end)};
  unsigned bit = ctf::StackInfo::kFirstBit;
  for (const unwind::StackFrame& frame : stack.frames) {
    entry.frames.push_back(frame.address.value);
    if (!frame.is_return && bit < 64) entry.info |= uint64_t{1} << bit;
    ++bit;
  }
  return entry;
}

}  // namespace

StackCache::StackCache(const abi::Geometry& g, const uint8_t* region)
    : table_(unwind::StackTableReader::open({region + g.stacks_offset(), size_of(g).bytes()}, size_of(g))),
      none_{.frames = {}, .info = ctf::StackInfo::kNoRoom} {}

const StackCache::Entry& StackCache::of(uint32_t id) {
  if (const auto known = known_.find(id); known != known_.end()) return known->second;
  const auto stack = table_.find(id);
  if (!stack) return none_;
  return known_.emplace(id, entry_of(*stack)).first->second;
}

}  // namespace blip::session
