// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/mapping.h"
#include "base/result.h"
#include "ctf/packet.h"

namespace blip::ctf {

inline constexpr uint32_t kNoCpu = UINT32_MAX;  // of streams that no CPU has to itself

struct StreamInfo {
  uint64_t instance_id = 0;  // unique in the trace
  uint32_t cpu_id = 0;
  // The process all events are of: told once per packet. None: they are of several, and each event of a class
  // with leads_with_pid begins with its pid.
  std::optional<int32_t> vpid;
};

// Writes one data stream file, packet by packet. Only whole packets ever reach the file, so it is readable
// whatever happens to the writer. The first failed write is remembered: the file is cut back to its last
// whole packet, every event that did not get there is counted in lost_events() and, if there is a second
// packet, as discarded in the last one, and flush_*() return the error from then on. A file that was removed
// while it was written has lost everything. The destructor flushes what is left.
class StreamWriter {
 public:
  // Makes the file `name` (which must not exist) in the directory `dir_fd`.
  static Result<StreamWriter> create(int dir_fd, const std::string& name, const std::array<uint8_t, 16>& uuid,
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

  // Writes all complete packets, in one write(2).
  Status flush_full();
  // Also ends the packet being filled: after it a reader sees everything. The end of the trace, or a live
  // reader.
  Status flush_all();

  uint64_t written_events() const { return written_events_; }
  uint64_t lost_events() const { return lost_events_; }
  uint64_t bytes_written() const { return file_size_; }
  bool failed() const { return error_.has_value(); }

 private:
  static constexpr uint32_t kBufferPackets = 256;
  // Readers widen the 48-bit time by the packet's 64-bit begin; half the range leaves no doubt.
  static constexpr uint64_t kMaxSpan = uint64_t{1} << 47;

  StreamWriter(Fd fd, Mapping buffer, const std::array<uint8_t, 16>& uuid, const StreamInfo& info);

  // Where the fields go; nullptr: the event is lost.
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

  uint8_t* slot(uint32_t index) const { return buffer_.data() + size_t{index} * kPacketSize; }
  bool make_room(uint64_t time_ns, uint32_t fields_size);
  void open_packet(uint64_t time_ns);
  void close_packet();
  void seal(uint64_t begin, uint64_t end, uint32_t content_bytes, uint64_t events, uint64_t discarded);
  void tell_discarded(uint64_t end);
  void write_packets();
  void keep_open_packet();
  bool was_removed() const;
  void fail(Error error);
  void tell_lost();
  Status status() const;

  // What append() touches.
  uint8_t* cursor_ = nullptr;
  int64_t room_ =
      -1;  // for the fields of one more event; negative: no packet is open, or not even a header fits
  uint64_t begin_time_ = 0;
  uint64_t last_time_ = 0;
  uint64_t open_events_ = 0;

  Fd fd_;
  Mapping buffer_;  // full packets, then the open one
  PacketHeader header_;
  uint32_t header_size_;
  PacketHeader last_written_{};
  uint32_t full_packets_ = 0;
  bool open_ = false;
  std::unique_ptr<std::array<uint16_t, kBufferPackets>> packet_events_;
  uint64_t sequence_ = 0;
  uint64_t discarded_ = 0;
  uint64_t discarded_time_ = 0;
  uint64_t sealed_discarded_ = 0;  // in the last packet
  uint64_t file_size_ = 0;
  uint64_t written_events_ = 0;
  uint64_t lost_events_ = 0;
  std::optional<Error> error_;
};

}  // namespace blip::ctf
