// SPDX-License-Identifier: MIT
#include "ctf/packet_delivery.h"

#include <cstring>

namespace blip::ctf {

void PacketDelivery::write(std::span<const uint8_t> packets, std::span<const uint16_t> events) {
  if (error_ || packets.empty()) return;
  PacketSink::Written written = sink_->write(packets);
  packets_ += written.packets;
  for (size_t i = 0; i < events.size(); ++i)
    (i < written.packets ? written_events_ : lost_events_) += events[i];
  if (written.packets != 0)
    std::memcpy(&last_header_, &packets[(written.packets - 1) * kPacketSize], sizeof last_header_);
  if (written.error) fail(*std::move(written.error));
}

void PacketDelivery::check() {
  if (error_) return;
  if (const Status there = sink_->check(); !there) fail(there.error());
}

void PacketDelivery::fail(Error error) {
  if (!sink_->check()) lost_events_ += std::exchange(written_events_, 0);
  error_ = std::move(error);
}

void PacketDelivery::tell_lost(uint64_t discarded, uint32_t header_size) {
  if (!error_ || packets_ < 2) return;
  last_header_.events_discarded = discarded + lost_events_;
  sink_->amend_last({reinterpret_cast<const uint8_t*>(&last_header_), header_size});
}

}  // namespace blip::ctf
