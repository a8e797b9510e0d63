// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "ctf/packet.h"
#include "ctf/packet_sink.h"

namespace blip::ctf {

// Hands packets to a sink and counts the events that arrived and those that did not. After the first failure
// nothing more is handed over.
class PacketDelivery {
 public:
  explicit PacketDelivery(std::unique_ptr<PacketSink> sink) : sink_(std::move(sink)) {}

  // False after a move.
  bool has_sink() const { return sink_ != nullptr; }
  // `events`: how many each packet has.
  void write(std::span<const uint8_t> packets, std::span<const uint16_t> events);
  // Notices that the packets written before are lost.
  void check();
  // Events that did not get into a packet.
  void lose(uint64_t events) { lost_events_ += events; }
  // After a failure: the last packet tells of all lost events, besides those `discarded` before. Readers take
  // differences between packets, so this needs a packet before the last one.
  void tell_lost(uint64_t discarded, uint32_t header_size);

  bool failed() const { return error_.has_value(); }
  Status status() const { return error_ ? Status(*error_) : Status(); }
  uint64_t packets() const { return packets_; }
  uint64_t written_events() const { return written_events_; }
  uint64_t lost_events() const { return lost_events_; }

 private:
  void fail(Error error);

  std::unique_ptr<PacketSink> sink_;
  PacketHeader last_header_{};  // of the packets that arrived
  uint64_t packets_ = 0;
  uint64_t written_events_ = 0;
  uint64_t lost_events_ = 0;
  std::optional<Error> error_;
};

}  // namespace blip::ctf
