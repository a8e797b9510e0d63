// SPDX-License-Identifier: MIT
#include "probe/inject/signal_frames.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace blip::probe {

namespace {

// struct rt_sigframe (arch/x86/include/asm/sigframe.h): the restorer's address, then struct ucontext whose
// mcontext begins after uc_flags, uc_link and uc_stack; rsp and rip are its 16th and 17th word, cs the low
// part of the 19th.
constexpr uint64_t kFrameStack = 8 + 16;  // uc_stack: the alternate stack's address, flags and size
constexpr uint64_t kFrameStackFlags = kFrameStack + 8;
constexpr uint32_t kAutoDisarm = 1U << 31;  // SS_AUTODISARM
constexpr uint64_t kFrameRsp = 8 + 40 + uint64_t{15} * 8;
constexpr uint64_t kFrameRip = kFrameRsp + 8;
constexpr uint64_t kFrameCs = kFrameRip + 16;
constexpr uint16_t kUserCs = 0x33;
constexpr std::array<uint8_t, 9> kRestorer = {0x48, 0xc7, 0xc0, 0x0f, 0,
                                              0,    0,    0x0f, 0x05};                // mov $15,%rax; syscall
constexpr std::array<uint8_t, 7> kShortRestorer = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};  // mov $15,%eax; syscall
constexpr uint64_t kRedZone = 128;
constexpr uint64_t kMaxStack = 8 << 20;
constexpr size_t kMaxStacks = 16;           // alternate stacks on top of each other
constexpr uint64_t kReadAhead = 512 << 10;  // stays in the CPU's cache

uint64_t word_at(std::span<const uint8_t> bytes, uint64_t offset) {
  uint64_t word;
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

bool is_restorer(const proc::Memory& memory, TargetAddr at) {
  std::array<uint8_t, kShortRestorer.size()> start;
  if (!memory.read(at, start)) return false;
  if (start == kShortRestorer) return true;
  std::array<uint8_t, kRestorer.size()> code;
  return memory.read(at, code) && code == kRestorer;
}

// What may have been pushed on the stack with this pointer; empty if there is no memory.
AddrRange used_part(std::span<const proc::Map> maps, uint64_t rsp) {
  const proc::Map* map = proc::find_map(maps, TargetAddr(rsp));
  if (!map) return {};
  const TargetAddr begin = std::max(TargetAddr((rsp - kRedZone) & ~uint64_t{7}), map->range.begin);
  return {begin, begin + std::min(map->range.end - begin, kMaxStack)};
}

// The alternate stack that a frame lies on; empty: on none, or nobody can tell. A handler with SS_AUTODISARM
// may leave its stack and come back to it, so its frames always count.
AddrRange alternate_stack(std::span<const uint8_t> stack, uint64_t at, TargetAddr begin) {
  if (static_cast<uint32_t>(word_at(stack, at + kFrameStackFlags)) & kAutoDisarm) return {};
  const TargetAddr low(word_at(stack, at + kFrameStack));
  const AddrRange alternate{low, low + word_at(stack, at + kFrameStack + 16)};
  return alternate.contains(begin + at) ? alternate : AddrRange{};
}

}  // namespace

SignalFrames::SignalFrames(std::span<const proc::Thread> threads, const proc::Memory& memory,
                           std::span<const proc::Map> maps)
    : threads_(threads),
      memory_(memory),
      maps_(maps),
      buffer_(std::make_unique_for_overwrite<uint8_t[]>(kReadAhead)) {}

Result<std::vector<InterruptedCode>> SignalFrames::interrupted(size_t i) {
  if (i < first_ahead_ || i >= first_ahead_ + ahead_.size()) read_ahead(i);
  found_.clear();
  searched_.clear();
  stacks_.clear();
  doubtful_.clear();
  TRY_OK(search(ahead_[i - first_ahead_]));
  size_t k = 0;
  do {
    for (; k < stacks_.size() && k < kMaxStacks; ++k) TRY_OK(search({used_part(maps_, stacks_[k]), {}}));
  } while (take_doubtful());
  return std::move(found_);
}

// The stacks of as many threads as fit; a deep one is left for search().
void SignalFrames::read_ahead(size_t first) {
  first_ahead_ = first;
  ahead_.clear();
  std::vector<proc::ReadRequest> requests;
  uint64_t used = 0;
  for (size_t i = first; i < threads_.size(); ++i) {
    Stack stack{used_part(maps_, threads_[i].registers.sp()), {}};
    const uint64_t size = stack.range.size();
    const bool shallow = size != 0 && size <= kReadAhead;
    if (shallow && used + size > kReadAhead) break;
    if (shallow) {
      const std::span<uint8_t> into(buffer_.get() + used, size);
      requests.push_back({stack.range.begin, into});
      stack.bytes = into;
      used += size;
    }
    ahead_.push_back(stack);
  }
  if (memory_.read_all(requests)) return;
  for (Stack& stack : ahead_) stack.bytes = {};  // one by one, then: the error belongs to one of them
}

Status SignalFrames::search(const Stack& stack) {
  if (stack.range.size() == 0) return {};  // nothing can have been pushed there
  searched_.push_back(stack.range);
  if (!stack.bytes.empty()) {
    scan(stack.bytes, stack.range.begin);
    return {};
  }
  std::vector<uint8_t> bytes(stack.range.size());
  TRY_OK(memory_.read(stack.range.begin, bytes));
  scan(bytes, stack.range.begin);
  return {};
}

// A frame on an alternate stack is alive only while its thread, too, is on that stack, or a handler that
// interrupted it there. Other stacks may lie in the same mapping, each with frames of handlers long finished:
// goroutines' stacks are pieces of Go's heap.
void SignalFrames::scan(std::span<const uint8_t> stack, TargetAddr begin) {
  const TargetAddr stack_pointer = begin + kRedZone;
  for (uint64_t at = 0; at + kFrameCs + 8 <= stack.size(); at += 8) {
    if (static_cast<uint16_t>(word_at(stack, at + kFrameCs)) != kUserCs) continue;
    if (!is_return_to_restorer(TargetAddr(word_at(stack, at)))) continue;
    const InterruptedCode code{TargetAddr(word_at(stack, at + kFrameRip)),
                               TargetAddr(word_at(stack, at + kFrameRsp))};
    const AddrRange alternate = alternate_stack(stack, at, begin);
    if (alternate.size() == 0 || alternate.contains(stack_pointer)) {
      take(code);
    } else {
      doubtful_.push_back({alternate, code});
    }
  }
}

void SignalFrames::take(InterruptedCode code) {
  found_.push_back(code);
  add_stack(code.sp.value);
}

// Frames on a stack that one of the handlers found so far will go back to; true if there was any.
bool SignalFrames::take_doubtful() {
  for (size_t i = 0; i < doubtful_.size(); ++i) {
    const AddrRange stack = doubtful_[i].stack;
    const bool alive = std::any_of(found_.begin(), found_.end(),
                                   [&](const InterruptedCode& code) { return stack.contains(code.sp); });
    if (!alive) continue;
    take(doubtful_[i].code);
    doubtful_.erase(doubtful_.begin() + static_cast<ptrdiff_t>(i));
    return true;
  }
  return false;
}

bool SignalFrames::is_return_to_restorer(TargetAddr restorer) {
  if (restorer == known_restorer_) return true;
  const proc::Map* map = proc::find_map(maps_, restorer);
  if (!map || !map->exec || !is_restorer(memory_, restorer)) return false;
  known_restorer_ = restorer;
  return true;
}

// The interrupted code ran on a stack of its own: more frames may be there.
void SignalFrames::add_stack(uint64_t rsp) {
  for (const AddrRange& r : searched_)
    if (r.contains(TargetAddr(rsp))) return;
  stacks_.push_back(rsp);
}

}  // namespace blip::probe
