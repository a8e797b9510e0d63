// SPDX-License-Identifier: MIT
// The packets of a stream in memory are a row of slots:
//
//     slot 0 .. sealed_-1            | slot sealed_               | the rest
//     sealed: header and tail filled | open: events are appended  | untouched
//
// The sealed ones go out together, and the open one moves to slot 0. The header of a packet is composed when it
// is sealed, because only then its end, size and count of discarded events are known.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/mapping.h"
#include "base/result.h"
#include "ctf/packet.h"

namespace blip::ctf {

struct StreamInfo {
  uint64_t instance_id = 0;  // unique in the trace
  uint32_t cpu_id = 0;
  // The process of all events, which each packet names once. If the events are of several processes there is
  // none, and each event of a class with leads_with_pid begins with its pid.
  std::optional<int32_t> vpid;
};

class PacketRow {
 public:
  static constexpr uint32_t kSlots = 256;

  // The facts of a packet that are known when it is complete.
  struct Contents {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t bytes;  // with the header
    uint64_t events;
    uint64_t discarded;  // since the stream began
  };

  static Result<PacketRow> create(const std::array<uint8_t, 16>& uuid, const StreamInfo& info);

  uint32_t header_size() const { return header_size_; }
  // The slot that is filled next.
  uint8_t* open() const { return slot(sealed_); }
  uint32_t free_slots() const { return kSlots - sealed_; }
  // Packets sealed since the stream began.
  uint64_t count() const { return header_.packet_seq_num; }

  // Completes the open slot, whose events are in place behind the room for the header.
  void seal(const Contents& contents);
  // Complete packets, and how many events each of them has.
  std::span<const uint8_t> sealed() const { return {slot(0), size_t{sealed_} * kPacketSize}; }
  std::span<const uint16_t> sealed_events() const { return {events_->data(), sealed_}; }
  // Removes the sealed packets; the first `open_bytes` of the open one are kept. Returns by how much it moved.
  size_t remove_sealed(size_t open_bytes);

 private:
  PacketRow(Mapping buffer, const std::array<uint8_t, 16>& uuid, const StreamInfo& info);

  uint8_t* slot(uint32_t index) const { return buffer_.data() + size_t{index} * kPacketSize; }

  Mapping buffer_;
  std::unique_ptr<std::array<uint16_t, kSlots>> events_;
  PacketHeader header_;
  uint32_t header_size_;
  uint32_t sealed_ = 0;
};

}  // namespace blip::ctf
