// SPDX-License-Identifier: MIT
#include "probe/inject/open_calls.h"

#include <vector>

#include "abi/layout.h"
#include "abi/shadow.h"

namespace blip::probe {

std::optional<OpenCalls> OpenCalls::read(const proc::Memory& memory, TargetAddr shadow,
                                         uint32_t class_count) {
  std::vector<abi::ShadowFrame> untrusted_frames(size_t{1} << abi::kShadowFrameBits);
  const std::span<uint8_t> bytes{reinterpret_cast<uint8_t*>(untrusted_frames.data()),
                                 untrusted_frames.size() * sizeof(abi::ShadowFrame)};
  if (!memory.read(shadow + abi::kShadowThreadsSize, bytes)) return {};
  OpenCalls open;
  for (const abi::ShadowFrame& f : untrusted_frames) {
    const uint64_t id = f.sum - f.slot - f.time - f.outer;
    if (f.slot != 0 && id >= abi::kFirstClass && id < class_count)
      ++open.by_class_[static_cast<uint32_t>(id)];
  }
  return open;
}

OpenCalls& OpenCalls::operator+=(const OpenCalls& other) {
  for (const auto& [id, count] : other.by_class_) by_class_[id] += count;
  known_ = known_ && other.known_;
  return *this;
}

std::optional<uint64_t> OpenCalls::of(uint32_t class_id) const {
  if (!known_) return {};
  const auto it = by_class_.find(class_id);
  return it == by_class_.end() ? 0 : it->second;
}

}  // namespace blip::probe
