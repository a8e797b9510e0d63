// SPDX-License-Identifier: MIT
#include "ctf/packet_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "ctf/packet.h"

namespace blip::ctf {

Result<std::unique_ptr<PacketFile>> PacketFile::create(int dir_fd, const std::string& name) {
  Fd fd(::openat(dir_fd, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return Error::from_errno(errno, "cannot make the stream file " + name);
  return std::unique_ptr<PacketFile>(new PacketFile(std::move(fd)));
}

PacketSink::Written PacketFile::write(std::span<const uint8_t> packets) {
  size_t done = 0;
  int failure = 0;
  while (done < packets.size() && failure == 0) {
    const ssize_t n = ::write(fd_.get(), packets.data() + done, packets.size() - done);
    if (n > 0) {
      done += static_cast<size_t>(n);
    } else if (n == 0 || errno != EINTR) {
      failure = n == 0 ? EIO : errno;
    }
  }
  Written written{.packets = done / kPacketSize, .error = {}};
  size_ += written.packets * kPacketSize;
  if (failure != 0) {
    written.error = Error::from_errno(failure, "cannot write the trace (events from here on are lost)");
    // Readers refuse a whole trace that ends with half a packet. Nothing more can be done if this fails too.
    [[maybe_unused]] const int cut = ::ftruncate(fd_.get(), static_cast<off_t>(size_));
  } else if (Status there = check(); !there) {
    written.error = there.error();
  }
  return written;
}

Status PacketFile::check() const {
  struct stat info;
  if (::fstat(fd_.get(), &info) == 0 && info.st_nlink == 0)
    return Error(ErrorKind::kGone, "a file of the trace was removed while it was written");
  return {};
}

// To write again what is there needs no room on a full disk.
void PacketFile::amend_last(std::span<const uint8_t> header) {
  if (size_ < kPacketSize) return;
  [[maybe_unused]] const ssize_t put =
      ::pwrite(fd_.get(), header.data(), header.size(), static_cast<off_t>(size_ - kPacketSize));
}

}  // namespace blip::ctf
