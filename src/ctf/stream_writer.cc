// SPDX-License-Identifier: MIT
// The buffer is a row of packet slots:
//
//     slot 0 .. full_packets_-1      | slot full_packets_          | the rest
//     sealed: header and tail filled | open: events are appended   | untouched
//
// A write hands all sealed slots to one write(2) and moves the open one to slot 0. The header of a packet is
// composed when it is sealed, because only then its end, size and count of discarded events are known.
#include "ctf/stream_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace blip::ctf {

namespace {

Error removed() { return Error(ErrorKind::kGone, "a file of the trace was removed while it was written"); }

}  // namespace

Result<StreamWriter> StreamWriter::create(int dir_fd, const std::string& name,
                                          const std::array<uint8_t, 16>& uuid, const StreamInfo& info) {
  Fd fd(::openat(dir_fd, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return Error::from_errno(errno, "cannot make the stream file " + name);
  TRY(Mapping buffer, Mapping::create(size_t{kBufferPackets} * kPacketSize, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  return StreamWriter(std::move(fd), std::move(buffer), uuid, info);
}

StreamWriter::StreamWriter(Fd fd, Mapping buffer, const std::array<uint8_t, 16>& uuid, const StreamInfo& info)
    : fd_(std::move(fd)),
      buffer_(std::move(buffer)),
      header_{.magic = kPacketMagic,
              .uuid = uuid,
              .stream_id = info.vpid ? kStreamOfOneProcess : kStreamOfSeveral,
              .stream_instance_id = info.instance_id,
              .packet_size = uint64_t{kPacketSize} * 8,
              .cpu_id = info.cpu_id,
              .vpid = info.vpid.value_or(0)},
      header_size_(info.vpid ? uint32_t{sizeof(PacketHeader)} : kHeaderOfSeveral),
      packet_events_(std::make_unique<std::array<uint16_t, kBufferPackets>>()) {}

StreamWriter& StreamWriter::operator=(StreamWriter&& other) noexcept {
  if (this != &other) {
    std::destroy_at(this);
    std::construct_at(this, std::move(other));
  }
  return *this;
}

StreamWriter::~StreamWriter() {
  if (fd_) (void)flush_all();
}

void StreamWriter::set_discarded(uint64_t cumulative, uint64_t time_ns) {
  if (cumulative <= discarded_) return;
  if (!error_) close_packet();
  discarded_ = cumulative;
  discarded_time_ = time_ns;
}

bool StreamWriter::make_room(uint64_t time_ns, uint32_t fields_size) {
  if (error_ || fields_size > kMaxFieldsSize) {
    ++lost_events_;
    return false;
  }
  close_packet();
  tell_discarded(std::min(time_ns, std::max(last_time_, discarded_time_)));
  if (full_packets_ == kBufferPackets) write_packets();
  if (error_) {
    ++lost_events_;
    return false;
  }
  open_packet(time_ns);
  return true;
}

void StreamWriter::open_packet(uint64_t time_ns) {
  open_ = true;
  open_events_ = 0;
  begin_time_ = time_ns;
  cursor_ = slot(full_packets_) + header_size_;
  room_ = kMaxFieldsSize;
}

void StreamWriter::close_packet() {
  if (!open_) return;
  seal(begin_time_, last_time_, static_cast<uint32_t>(cursor_ - slot(full_packets_)), open_events_,
       sealed_discarded_);
  open_ = false;
  room_ = -1;
}

void StreamWriter::seal(uint64_t begin, uint64_t end, uint32_t content_bytes, uint64_t events,
                        uint64_t discarded) {
  header_.timestamp_begin = begin;
  header_.timestamp_end = end;
  header_.content_size = uint64_t{content_bytes} * 8;
  header_.packet_seq_num = sequence_++;
  header_.events_discarded = discarded;
  (*packet_events_)[full_packets_] = static_cast<uint16_t>(events);
  uint8_t* packet = slot(full_packets_++);
  std::memcpy(packet, &header_, header_size_);
  std::memset(packet + content_bytes, 0, kPacketSize - content_bytes);
  sealed_discarded_ = discarded;
}

// Events discarded after the last packet: an empty one, up to `end`, carries the count. In front of all
// others there is one more, since readers take differences.
void StreamWriter::tell_discarded(uint64_t end) {
  if (discarded_ == sealed_discarded_) return;
  if (full_packets_ + 2 > kBufferPackets) write_packets();
  if (error_) return;
  const uint64_t begin = last_time_ != 0 ? last_time_ : end;
  if (sequence_ == 0) seal(begin, begin, header_size_, 0, 0);
  seal(begin, end, header_size_, 0, discarded_);
  last_time_ = end;
}

Status StreamWriter::flush_full() {
  write_packets();
  return status();
}

Status StreamWriter::flush_all() {
  if (!error_) close_packet();
  if (!error_) tell_discarded(std::max(last_time_, discarded_time_));
  write_packets();
  if (!error_ && was_removed()) fail(removed());
  if (error_) tell_lost();
  return status();
}

void StreamWriter::write_packets() {
  if (error_ || full_packets_ == 0) return;
  const size_t size = size_t{full_packets_} * kPacketSize;
  size_t done = 0;
  int failure = 0;
  while (done < size && failure == 0) {
    const ssize_t n = ::write(fd_.get(), slot(0) + done, size - done);
    if (n > 0) {
      done += static_cast<size_t>(n);
    } else if (n == 0 || errno != EINTR) {
      failure = n == 0 ? EIO : errno;
    }
  }
  const size_t packets = done / kPacketSize;
  file_size_ += packets * kPacketSize;
  for (size_t i = 0; i < full_packets_; ++i) {
    (i < packets ? written_events_ : lost_events_) += (*packet_events_)[i];
  }
  if (packets != 0) std::memcpy(&last_written_, slot(static_cast<uint32_t>(packets - 1)), header_size_);
  if (failure != 0) {
    fail(Error::from_errno(failure, "cannot write the trace (events from here on are lost)"));
  } else if (was_removed()) {
    fail(removed());
  }
  keep_open_packet();
}

void StreamWriter::keep_open_packet() {
  const size_t moved = size_t{full_packets_} * kPacketSize;
  if (open_) {
    cursor_ -= moved;
    std::memcpy(slot(0), slot(full_packets_), static_cast<size_t>(cursor_ - slot(0)));
  }
  full_packets_ = 0;
}

bool StreamWriter::was_removed() const {
  struct stat info;
  return ::fstat(fd_.get(), &info) == 0 && info.st_nlink == 0;
}

void StreamWriter::fail(Error error) {
  if (was_removed()) lost_events_ += std::exchange(written_events_, 0);
  error_ = std::move(error);
  // Half a packet at the end would make the readers refuse the whole trace. Nothing more can be done if this
  // fails too.
  [[maybe_unused]] const int cut = ::ftruncate(fd_.get(), static_cast<off_t>(file_size_));
  if (open_) lost_events_ += open_events_;
  open_ = false;
  room_ = -1;
}

// Into the header of the last packet on disk: to write again what is there needs no room. Readers take
// differences between packets, so there must be one before it.
void StreamWriter::tell_lost() {
  if (file_size_ < 2 * uint64_t{kPacketSize}) return;
  last_written_.events_discarded = discarded_ + lost_events_;
  [[maybe_unused]] const ssize_t put =
      ::pwrite(fd_.get(), &last_written_, header_size_, static_cast<off_t>(file_size_ - kPacketSize));
}

Status StreamWriter::status() const {
  if (error_) return *error_;
  return {};
}

}  // namespace blip::ctf
