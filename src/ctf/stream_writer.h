// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "base/result.h"
#include "ctf/packet.h"
#include "ctf/packet_delivery.h"
#include "ctf/packet_row.h"
#include "ctf/packet_sink.h"

namespace blip::ctf {

// Writes one data stream, packet by packet. Only whole packets reach the sink. Its first failure is
// remembered: every event that did not get there is counted in lost_events() and, if there is a second packet
// and the sink can do it, as discarded in the last one, and flush_*() return the error from then on. The
// destructor flushes the rest.
class StreamWriter {
 public:
  // Makes the file `name` (which must not exist) in the directory `dir_fd`, and writes to it.
  static Result<StreamWriter> create(int dir_fd, const std::string& name, const std::array<uint8_t, 16>& uuid,
                                     const StreamInfo& info);
  static Result<StreamWriter> create(std::unique_ptr<PacketSink> sink, const std::array<uint8_t, 16>& uuid,
                                     const StreamInfo& info);
  StreamWriter(StreamWriter&& other) noexcept = default;
  StreamWriter& operator=(StreamWriter&& other) noexcept;
  ~StreamWriter();

  // One event: CLOCK_MONOTONIC time, class, and the fields without record header and tail padding. A time
  // before the last one is raised to it. Fields over kMaxFieldsSize are not written and count as lost.
  void append(uint64_t time_ns, uint16_t class_id, const uint8_t* fields, uint32_t fields_size) {
    if (uint8_t* to = begin_event(time_ns, class_id, fields_size)) copy_fields(to, fields, fields_size);
  }

  // The same with a pid in front of the fields (EventClass::leads_with_pid), which `fields_size` leaves out.
  void append_with_pid(uint64_t time_ns, uint16_t class_id, int32_t pid, const uint8_t* fields,
                       uint32_t fields_size) {
    uint8_t* to = begin_event(time_ns, class_id, fields_size + uint32_t{sizeof pid});
    if (!to) [[unlikely]]
      return;
    std::memcpy(to, &pid, sizeof pid);
    copy_fields(to + sizeof pid, fields, fields_size);
  }

  // How many events were discarded before they came here, since the beginning of the stream. Those that are
  // new were discarded between the last event and `time_ns`: the packet being filled ends, and an empty one
  // that covers this time tells of them. Readers take the difference to the packet before.
  void set_discarded(uint64_t cumulative, uint64_t time_ns = 0);

  // Hands all complete packets to the sink, in one call.
  Status flush_full();
  // Also ends the packet being filled: after it a reader sees everything. For the end of the trace, or a live
  // reader.
  Status flush_all();

  uint64_t written_events() const { return delivery_.written_events(); }
  uint64_t lost_events() const { return delivery_.lost_events(); }
  uint64_t packets_written() const { return delivery_.packets(); }
  bool failed() const { return delivery_.failed(); }

 private:
  // Readers widen the 48-bit time by the packet's 64-bit begin; half the range leaves no doubt.
  static constexpr uint64_t kMaxSpan = uint64_t{1} << 47;

  StreamWriter(PacketRow row, std::unique_ptr<PacketSink> sink)
      : row_(std::move(row)), delivery_(std::move(sink)) {}

  // Returns the place for the fields; nullptr if the event is lost.
  uint8_t* begin_event(uint64_t time_ns, uint16_t class_id, uint32_t fields_size) {
    if (time_ns < last_time_) [[unlikely]]
      time_ns = last_time_;
    if (fields_size > room_ || time_ns - begin_time_ >= kMaxSpan) [[unlikely]] {
      if (!make_room(time_ns, fields_size)) return nullptr;
    }
    const uint64_t header = time_ns << 16 | class_id;
    std::memcpy(cursor_, &header, sizeof header);
    uint8_t* fields = cursor_ + kEventHeaderSize;
    cursor_ += kEventHeaderSize + fields_size;
    room_ -= int64_t{kEventHeaderSize} + fields_size;
    last_time_ = time_ns;
    ++open_events_;
    return fields;
  }

  static void copy_fields(uint8_t* to, const uint8_t* fields, uint32_t size) {
    if (size == 8) {
      std::memcpy(to, fields, 8);
    } else if (size != 0) {
      std::memcpy(to, fields, size);
    }
  }

  bool make_room(uint64_t time_ns, uint32_t fields_size);
  void open_packet(uint64_t time_ns);
  void close_packet();
  void tell_discarded(uint64_t end);
  void seal_empty(uint64_t begin, uint64_t end, uint64_t discarded);
  void write_packets();

  // append() touches these.
  uint8_t* cursor_ = nullptr;
  int64_t room_ =
      -1;  // for the fields of one more event; negative: no packet is open, or not even a header fits
  uint64_t begin_time_ = 0;
  uint64_t last_time_ = 0;
  uint64_t open_events_ = 0;

  bool open_ = false;
  PacketRow row_;
  PacketDelivery delivery_;
  uint64_t discarded_ = 0;
  uint64_t discarded_time_ = 0;
  uint64_t sealed_discarded_ = 0;  // in the last packet
};

}  // namespace blip::ctf
