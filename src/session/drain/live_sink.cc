// SPDX-License-Identifier: MIT
#include "session/drain/live_sink.h"

#include "abi/layout.h"

namespace blip::session {

void LiveSink::add_classes(const std::vector<ctf::EventClass>& all) {
  shapes_.resize(all.size() + abi::kFirstClass);
  for (const ctf::EventClass& c : all)
    shapes_[c.id] = {.leads_with_pid = c.leads_with_pid, .is_padded = !c.has_hit_word};
}

void LiveSink::put(const Event& event) {
  const Shape shape = shapes_[event.class_id];
  whole_.assign(abi::kHeaderSize, 0);  // nobody looks at the header
  if (shape.leads_with_pid) {
    const auto* pid = reinterpret_cast<const uint8_t*>(&event.pid);
    whole_.insert(whole_.end(), pid, pid + sizeof event.pid);
  }
  whole_.insert(whole_.end(), event.fields, event.fields + event.size);
  if (shape.is_padded) whole_.resize(abi::Geometry::align_up(whole_.size(), abi::kRecordAlign));
  source_.add(event.time_ns, event.class_id, whole_.data(), static_cast<uint32_t>(whole_.size()));
}

}  // namespace blip::session
