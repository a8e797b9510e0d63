// SPDX-License-Identifier: MIT
#include "ctf/packet_row.h"

#include <cstring>
#include <utility>

namespace blip::ctf {

Result<PacketRow> PacketRow::create(const std::array<uint8_t, 16>& uuid, const StreamInfo& info) {
  TRY(Mapping buffer, Mapping::create(size_t{kSlots} * kPacketSize, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  return PacketRow(std::move(buffer), uuid, info);
}

PacketRow::PacketRow(Mapping buffer, const std::array<uint8_t, 16>& uuid, const StreamInfo& info)
    : buffer_(std::move(buffer)),
      events_(std::make_unique<std::array<uint16_t, kSlots>>()),
      header_{.magic = kPacketMagic,
              .uuid = uuid,
              .stream_id = info.vpid ? kStreamOfOneProcess : kStreamOfSeveral,
              .stream_instance_id = info.instance_id,
              .packet_size = uint64_t{kPacketSize} * 8,
              .cpu_id = info.cpu_id,
              .vpid = info.vpid.value_or(0)},
      header_size_(info.vpid ? uint32_t{sizeof(PacketHeader)} : kHeaderOfSeveral) {}

void PacketRow::seal(const Contents& contents) {
  header_.timestamp_begin = contents.begin_ns;
  header_.timestamp_end = contents.end_ns;
  header_.content_size = uint64_t{contents.bytes} * 8;
  header_.events_discarded = contents.discarded;
  (*events_)[sealed_] = static_cast<uint16_t>(contents.events);
  uint8_t* packet = slot(sealed_++);
  std::memcpy(packet, &header_, header_size_);
  std::memset(packet + contents.bytes, 0, kPacketSize - contents.bytes);
  header_.packet_seq_num = header_.packet_seq_num + 1;
}

size_t PacketRow::remove_sealed(size_t open_bytes) {
  const size_t moved = size_t{sealed_} * kPacketSize;
  std::memmove(slot(0), open(), open_bytes);
  sealed_ = 0;
  return moved;
}

}  // namespace blip::ctf
