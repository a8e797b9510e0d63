// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "base/fd.h"
#include "ctf/packet_sink.h"

namespace blip::ctf {

// A stream file. It holds whole packets only, so it is readable whatever happens to the writer: a failed write
// cuts it back to its last whole packet. A file that was removed while it was written has lost everything.
class PacketFile final : public PacketSink {
 public:
  // Makes the file `name` (which must not exist) in the directory `dir_fd`.
  static Result<std::unique_ptr<PacketFile>> create(int dir_fd, const std::string& name);

  Written write(std::span<const uint8_t> packets) override;
  Status check() const override;
  void amend_last(std::span<const uint8_t> header) override;

 private:
  explicit PacketFile(Fd fd) : fd_(std::move(fd)) {}

  Fd fd_;
  uint64_t size_ = 0;
};

}  // namespace blip::ctf
