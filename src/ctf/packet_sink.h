// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/result.h"

namespace blip::ctf {

// Takes the packets of one stream: into a file, or through a socket. They come whole and in order. A sink that
// has failed once is given no more packets.
class PacketSink {
 public:
  struct Written {
    size_t packets = 0;          // the first ones, which have arrived
    std::optional<Error> error;  // why the others have not
  };

  virtual ~PacketSink() = default;

  // `packets` has a multiple of kPacketSize bytes. A packet that fails halfway must not reach a reader.
  virtual Written write(std::span<const uint8_t> packets) = 0;
  // Fails if the packets that were written are lost as well.
  virtual Status check() const { return {}; }
  // Replaces the header of the last packet that has arrived, if the sink can still reach it. Called after a
  // failure, with the number of events that were lost.
  virtual void amend_last(std::span<const uint8_t> /*header*/) {}
};

}  // namespace blip::ctf
