// SPDX-License-Identifier: MIT
#include "session/drain/event_drain.h"

#include <cstring>

namespace blip::session {

uint64_t measured_latency_rate(const ctf::TscClock& clock) {
  const double ns_per_unit = clock.clocks().counter_is_monotonic ? 1 : 1e9 / clock.cycles_per_second();
  return static_cast<uint64_t>(ns_per_unit * static_cast<double>(uint64_t{1} << ctf::ClockSegment::kShift));
}

EventDrain::EventDrain(const DrainInput& input)
    : clock_(input.clock), vpid_(input.vpid), limit_(input.limit) {
  EventDrain::add_classes(input.classes);
}

void EventDrain::add_classes(const std::vector<ctf::EventClass>& all) {
  layouts_.resize(all.size() + abi::kFirstClass);
  latencies_.resize(layouts_.size());
  packers_.resize(layouts_.size());
  for (const ctf::EventClass& c : all) {
    // What rings do not hold lies in front of all fields of an event; with a hit word, offsets are those of
    // records already.
    const uint32_t pid_size = c.leads_with_pid ? ctf::kPidSize : 0;
    const uint32_t nearer = c.has_hit_word ? 0 : pid_size;
    Layout& layout = layouts_[c.id];
    layout.leads_with_pid = c.leads_with_pid;
    layout.pid_in_event = {c.leads_with_pid && !c.fields.front().is_implicit, c.leads_with_pid};
    layout.fields_size = ctf::fields_size(c) - pid_size;
    layout.has_hit_word = c.has_hit_word;
    for (const ctf::Field& f : c.fields) {
      if (f.type == ctf::FieldType::kText16) layout.name_offset = static_cast<int32_t>(f.offset - nearer);
      if (f.type == ctf::FieldType::kStackId) layout.stack_offset = static_cast<int32_t>(f.offset - nearer);
      if (f.type == ctf::FieldType::kStackInfo)
        layout.stack_info_offset = static_cast<int32_t>(f.offset - nearer);
      if (f.is_duration) layout.latency_offset = static_cast<int32_t>(f.offset - nearer);
    }
    layout.tells_lives = c.tells_lives;
    layout.is_ready =
        layout.name_offset < 0 && layout.latency_offset < 0 && !layout.has_hit_word && !layout.tells_lives;
    add_packer(c);
  }
}

void EventDrain::add_packer(const ctf::EventClass& c) {
  if (!c.has_hit_word || packers_[c.id] || !ctf::check_outputs(c)) return;
  packers_[c.id] = std::make_unique<ctf::EventPacker>(c);
}

bool EventDrain::put_packed(RingOutput* out, uint64_t time_ns, uint16_t class_id, int32_t pid,
                            std::span<const uint8_t> record, std::span<const uint64_t> frames) {
  const Layout& layout = layouts_[class_id];
  if (!packers_[class_id]) return false;
  const auto fields = packers_[class_id]->pack(
      record, {reinterpret_cast<const uint8_t*>(frames.data()), frames.size_bytes()});
  if (!fields) return false;
  if (out && !limit_.reached()) {
    write(*out, time_ns, class_id, pid, fields->data(), static_cast<uint32_t>(fields->size()));
    if (layout.latency_offset >= 0)
      add_latency(class_id, &record[static_cast<size_t>(layout.latency_offset)]);
  }
  if (live_) {
    std::vector<uint8_t> event(abi::kHeaderSize);
    event.insert(event.end(), fields->begin(), fields->end());
    show(time_ns, class_id, pid, event.data(), static_cast<uint32_t>(event.size()));
  }
  return true;
}

Status EventDrain::write_to(TraceOutput output) {
  trace_ = std::make_unique<const TraceOutput>(std::move(output));
  for (const Stream& stream : streams()) {
    TRY(RingOutput ring,
        RingOutput::create(*trace_, static_cast<uint32_t>(outputs_.size()), stream.name, stream.cpu, vpid_));
    outputs_.push_back(std::move(ring));
  }
  return {};
}

// A live event has all fields where its class says.
void EventDrain::show(uint64_t time_ns, uint16_t class_id, int32_t pid, const uint8_t* record,
                      uint32_t size) {
  if (!layouts_[class_id].leads_with_pid) {
    live_->add(time_ns, class_id, record, size);
    return;
  }
  std::vector<uint8_t> whole(record, record + size);
  const auto* bytes = reinterpret_cast<const uint8_t*>(&pid);
  whole.insert(whole.begin() + abi::kHeaderSize, bytes, bytes + sizeof pid);
  if (!layouts_[class_id].has_hit_word) whole.resize((whole.size() + 7) / 8 * 8);
  live_->add(time_ns, class_id, whole.data(), static_cast<uint32_t>(whole.size()));
}

void EventDrain::add_latency(uint16_t class_id, const uint8_t* ns) {
  uint64_t latency;
  std::memcpy(&latency, ns, sizeof latency);
  latencies_[class_id].add(latency);
}

void EventDrain::flush(bool all) {
  for (RingOutput& output : outputs_) flush_one(output, all);
}

void EventDrain::flush_one(RingOutput& output, bool all) {
  const Status status = output.flush(all);
  if (!status) note_error(status.error());
}

DrainTotals EventDrain::written() const {
  DrainTotals totals{.events = events_};
  uint64_t lost = unwritten_;
  for (const RingOutput& output : outputs_) lost += output.lost_events();
  totals.events -= lost;
  totals.discarded += lost;
  return totals;
}

}  // namespace blip::session
