// SPDX-License-Identifier: MIT
// The bytes in front of every packet of a stream. metadata.cc declares the same in TSDL.
//
//     0   magic, uuid, stream_id, stream_instance_id                          packet header
//    32   timestamp_begin/end, content_size, packet_size, seq, discarded, cpu packet context
//    84   vpid                                                       its end, in streams of one process
//    88   events: 16-bit class id, 48-bit time, fields; back to back, no padding
//  4096   the next packet
#pragma once

#include <array>
#include <cstdint>

namespace blip::ctf {

struct [[gnu::packed]] PacketHeader {
  uint32_t magic;
  std::array<uint8_t, 16> uuid;
  uint32_t stream_id;
  uint64_t stream_instance_id;
  uint64_t timestamp_begin;   // ns, of the first event
  uint64_t timestamp_end;     // ns, of the last event
  uint64_t content_size;      // bits, with this header
  uint64_t packet_size;       // bits
  uint64_t packet_seq_num;    // counts from 0 in each stream
  uint64_t events_discarded;  // since the stream began
  uint32_t cpu_id;
  int32_t vpid;  // not there where each event tells its process
};

inline constexpr uint32_t kNoCpu = UINT32_MAX;  // of streams that no CPU has to itself
inline constexpr uint32_t kPacketMagic = 0xC1FC1FC1;
// One page: a writer killed in the middle of write(2) leaves whole pages, thus whole packets.
inline constexpr uint32_t kPacketSize = 4096;
inline constexpr uint32_t kEventHeaderSize = 8;
// The stream classes of the metadata.
inline constexpr uint32_t kStreamOfOneProcess = 0;  // the packets tell the process
inline constexpr uint32_t kStreamOfSeveral = 1;     // each event does
inline constexpr uint32_t kHeaderOfSeveral = sizeof(PacketHeader) - sizeof(PacketHeader::vpid);
inline constexpr uint32_t kMaxFieldsSize = kPacketSize - sizeof(PacketHeader) - kEventHeaderSize;

static_assert(sizeof(PacketHeader) == 88);

}  // namespace blip::ctf
