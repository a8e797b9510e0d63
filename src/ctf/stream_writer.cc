// SPDX-License-Identifier: MIT
#include "ctf/stream_writer.h"

#include <algorithm>
#include <utility>

#include "ctf/packet_file.h"

namespace blip::ctf {

Result<StreamWriter> StreamWriter::create(int dir_fd, const std::string& name,
                                          const std::array<uint8_t, 16>& uuid, const StreamInfo& info) {
  TRY(std::unique_ptr<PacketSink> file, PacketFile::create(dir_fd, name));
  return create(std::move(file), uuid, info);
}

Result<StreamWriter> StreamWriter::create(std::unique_ptr<PacketSink> sink,
                                          const std::array<uint8_t, 16>& uuid, const StreamInfo& info) {
  TRY(PacketRow row, PacketRow::create(uuid, info));
  return StreamWriter(std::move(row), std::move(sink));
}

StreamWriter& StreamWriter::operator=(StreamWriter&& other) noexcept {
  if (this != &other) {
    std::destroy_at(this);
    std::construct_at(this, std::move(other));
  }
  return *this;
}

StreamWriter::~StreamWriter() {
  if (delivery_.has_sink()) (void)flush_all();
}

void StreamWriter::set_discarded(uint64_t cumulative, uint64_t time_ns) {
  if (cumulative <= discarded_) return;
  close_packet();
  discarded_ = cumulative;
  discarded_time_ = time_ns;
}

bool StreamWriter::make_room(uint64_t time_ns, uint32_t fields_size) {
  if (!failed() && fields_size <= kMaxFieldsSize) {
    close_packet();
    tell_discarded(std::min(time_ns, std::max(last_time_, discarded_time_)));
    if (row_.free_slots() == 0) write_packets();
    if (!failed()) {
      open_packet(time_ns);
      return true;
    }
  }
  delivery_.lose(1);
  return false;
}

void StreamWriter::open_packet(uint64_t time_ns) {
  open_ = true;
  open_events_ = 0;
  begin_time_ = time_ns;
  cursor_ = row_.open() + row_.header_size();
  room_ = kMaxFieldsSize;
}

void StreamWriter::close_packet() {
  if (!open_) return;
  row_.seal({.begin_ns = begin_time_,
             .end_ns = last_time_,
             .bytes = static_cast<uint32_t>(cursor_ - row_.open()),
             .events = open_events_,
             .discarded = sealed_discarded_});
  open_ = false;
  room_ = -1;
}

// An empty packet up to `end` tells of the events that were discarded after the last packet. Readers take
// differences, so the first packet of a stream cannot tell of any: then one more comes before it.
void StreamWriter::tell_discarded(uint64_t end) {
  if (discarded_ == sealed_discarded_) return;
  if (row_.free_slots() < 2) write_packets();
  if (failed()) return;
  const uint64_t begin = last_time_ != 0 ? last_time_ : end;
  if (row_.count() == 0) seal_empty(begin, begin, 0);
  seal_empty(begin, end, discarded_);
  last_time_ = end;
}

void StreamWriter::seal_empty(uint64_t begin, uint64_t end, uint64_t discarded) {
  row_.seal(
      {.begin_ns = begin, .end_ns = end, .bytes = row_.header_size(), .events = 0, .discarded = discarded});
  sealed_discarded_ = discarded;
}

Status StreamWriter::flush_full() {
  write_packets();
  return delivery_.status();
}

Status StreamWriter::flush_all() {
  close_packet();
  if (!failed()) tell_discarded(std::max(last_time_, discarded_time_));
  write_packets();
  delivery_.check();
  delivery_.tell_lost(discarded_, row_.header_size());
  return delivery_.status();
}

void StreamWriter::write_packets() {
  if (failed() || row_.sealed().empty()) return;
  delivery_.write(row_.sealed(), row_.sealed_events());
  if (failed() && open_) {
    delivery_.lose(open_events_);
    open_ = false;
    room_ = -1;
  }
  const size_t moved = row_.remove_sealed(open_ ? static_cast<size_t>(cursor_ - row_.open()) : 0);
  if (open_) cursor_ -= moved;
}

}  // namespace blip::ctf
