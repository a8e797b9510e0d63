// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "abi/layout.h"
#include "ctf/clock.h"
#include "ctf/event_packer.h"
#include "session/drain/event_sink.h"
#include "session/drain/stack_cache.h"
#include "session/watch/thread_names.h"

namespace blip::session {

// Makes events of records. Most records are events already; the rest lack what pads cannot know (names of
// threads, stacks, ns instead of units of the records' clock) or are to be packed.
class EventMaker {
 public:
  // The name of a thread; empty: records have it already.
  using NameThread = std::function<const ThreadNames::Name&(int32_t tid)>;

  // `stacks` outlives it; null: there are none. `latency_rate`: see TraceContext.
  EventMaker(uint64_t latency_rate, StackCache* stacks)
      : latency_scale_{.rate = latency_rate}, stacks_(stacks) {}

  // Instead of events: records as they are, of scripts' handlers, and the frames of their stacks. Before add_classes().
  void hand_on_records() { hands_on_records_ = true; }

  // The trace has these classes; again when there are more.
  void add_classes(const std::vector<ctf::EventClass>& all);
  void name_threads(NameThread name_of) { name_of_ = std::move(name_of); }

  // Records of the class tell of lives, and no event is made of them.
  bool tells_lives(uint16_t class_id) const { return shapes_[class_id].tells_lives; }
  // Its records hold the key of a thread instead of its name.
  bool has_name(uint16_t class_id) const { return shapes_[class_id].name_offset >= 0; }
  // A record is the event.
  bool is_ready(uint16_t class_id) const { return shapes_[class_id].is_ready; }

  // Puts the fields into an event whose class is known. False: the record is not as its class says. The
  // record is a copy of what the target wrote; the event is good as long as it, and until the next call.
  [[gnu::always_inline]] bool make(Event& event, const uint8_t* untrusted_record, uint32_t size) {
    const Shape& shape = shapes_[event.class_id];
    if (!shape.is_ready) [[unlikely]]
      return make_unready(event, untrusted_record, size);
    event.fields = untrusted_record + abi::kHeaderSize;
    event.size = shape.fields_size;
    return true;
  }

 private:
  // How the records of a class differ from its events. Offsets are those of records.
  struct Shape {
    uint32_t fields_size = 0;     // without the pid
    int32_t name_offset = -1;     // of a thread's name to be filled in
    int32_t latency_offset = -1;  // of a time to be converted to ns
    int32_t stack_offset = -1;    // of a stack's id, whose frames are to be put in
    int32_t stack_info_offset = -1;
    bool has_hit_word = false;  // to be packed
    bool tells_lives = false;
    bool is_ready = true;  // it has none of the above
  };

  bool hand_on(const Shape& shape, Event& event, const uint8_t* record, uint32_t size);
  bool make_unready(Event& event, const uint8_t* record, uint32_t size);
  bool pack(Event& event, std::span<const uint8_t> record);
  void put_name(const Shape& shape);
  void put_latency(const Shape& shape, Event& event);
  std::span<const uint64_t> put_stack(const Shape& shape);
  uint8_t* at(int32_t offset) { return &scratch_[static_cast<size_t>(offset)]; }

  ctf::ClockSegment latency_scale_;
  NameThread name_of_;
  StackCache* stacks_;
  bool hands_on_records_ = false;
  std::vector<Shape> shapes_;                               // by class id
  std::vector<std::unique_ptr<ctf::EventPacker>> packers_;  // of classes with a hit word
  std::vector<uint8_t> scratch_;                            // the record that is made an event
  std::span<const uint64_t> frames_;                        // of its stack
};

}  // namespace blip::session
