// SPDX-License-Identifier: MIT
#include "session/drain/event_maker.h"

#include <cstring>

namespace blip::session {

void EventMaker::add_classes(const std::vector<ctf::EventClass>& all) {
  shapes_.resize(all.size() + abi::kFirstClass);
  packers_.resize(shapes_.size());
  for (const ctf::EventClass& c : all) {
    // The pid lies in front of all fields of an event, and no ring holds it; with a hit word, offsets are
    // those of records already.
    const uint32_t pid_size = c.leads_with_pid ? ctf::kPidSize : 0;
    const uint32_t nearer = c.has_hit_word ? 0 : pid_size;
    Shape shape{.fields_size = ctf::fields_size(c) - pid_size,
                .has_hit_word = c.has_hit_word,
                .tells_lives = c.tells_lives};
    for (const ctf::Field& f : c.fields) {
      const auto offset = static_cast<int32_t>(f.offset - nearer);
      if (f.type == ctf::FieldType::kText16) shape.name_offset = offset;
      if (f.type == ctf::FieldType::kStackId) shape.stack_offset = offset;
      if (f.type == ctf::FieldType::kStackInfo) shape.stack_info_offset = offset;
      if (f.is_duration) shape.latency_offset = offset;
    }
    shape.is_ready = shape.name_offset < 0 && shape.latency_offset < 0 && !shape.has_hit_word &&
                     !shape.tells_lives && !(hands_on_records_ && !c.of_blip);
    shapes_[c.id] = shape;
    if (c.has_hit_word && !packers_[c.id] && ctf::check_outputs(c))
      packers_[c.id] = std::make_unique<ctf::EventPacker>(c);
  }
}

bool EventMaker::hand_on(const Shape& shape, Event& event, const uint8_t* record, uint32_t size) {
  event.fields = record;
  event.size = size;
  if (shape.stack_offset < 0 || !stacks_) return true;
  uint32_t id;
  std::memcpy(&id, record + shape.stack_offset, sizeof id);
  event.frames = stacks_->of(id).frames;
  return true;
}

[[gnu::noinline]] bool EventMaker::make_unready(Event& event, const uint8_t* record, uint32_t size) {
  const Shape& shape = shapes_[event.class_id];
  if (hands_on_records_) return hand_on(shape, event, record, size);
  const bool has_name = shape.name_offset >= 0 && name_of_;
  const bool has_stack = shape.stack_offset >= 0 && stacks_;
  frames_ = {};
  if (has_name || has_stack || shape.latency_offset >= 0) {
    scratch_.assign(record, record + size);
    record = scratch_.data();
    if (has_name) put_name(shape);
    if (shape.latency_offset >= 0) put_latency(shape, event);
    if (has_stack) frames_ = put_stack(shape);
  }
  if (shape.has_hit_word) return pack(event, {record, size});
  event.fields = record + abi::kHeaderSize;
  event.size = shape.fields_size;
  return true;
}

bool EventMaker::pack(Event& event, std::span<const uint8_t> record) {
  ctf::EventPacker* packer = packers_[event.class_id].get();
  if (!packer) return false;
  const auto fields =
      packer->pack(record, {reinterpret_cast<const uint8_t*>(frames_.data()), frames_.size_bytes()});
  if (!fields) return false;
  event.fields = fields->data();
  event.size = static_cast<uint32_t>(fields->size());
  return true;
}

void EventMaker::put_name(const Shape& shape) {
  int32_t tid;
  std::memcpy(&tid, at(shape.name_offset), sizeof tid);
  const ThreadNames::Name& name = name_of_(tid);
  std::memcpy(at(shape.name_offset), name.data(), name.size());
}

void EventMaker::put_latency(const Shape& shape, Event& event) {
  std::memcpy(&event.latency_ns, at(shape.latency_offset), sizeof event.latency_ns);
  event.latency_ns = latency_scale_.scaled(event.latency_ns);
  std::memcpy(at(shape.latency_offset), &event.latency_ns, sizeof event.latency_ns);
}

std::span<const uint64_t> EventMaker::put_stack(const Shape& shape) {
  uint32_t id;
  std::memcpy(&id, at(shape.stack_offset), sizeof id);
  const StackCache::Entry& stack = stacks_->of(id);
  if (shape.stack_info_offset >= 0) std::memcpy(at(shape.stack_info_offset), &stack.info, sizeof stack.info);
  return stack.frames;
}

}  // namespace blip::session
