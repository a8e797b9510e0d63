// SPDX-License-Identifier: MIT
// Packets that do not go to a file.
#include "ctf/packet_sink.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <thread>

#include "ctf/stream_writer.h"
#include "ctf/test_support.h"

namespace blip::ctf::testing {
namespace {

constexpr uint64_t kStart = 7'000'000'000'000;

// Sends packets to whoever has the other end.
class PacketSocket final : public PacketSink {
 public:
  explicit PacketSocket(Fd fd) : fd_(std::move(fd)) {}

  Written write(std::span<const uint8_t> packets) override {
    size_t done = 0;
    while (done < packets.size()) {
      const ssize_t n = ::send(fd_.get(), &packets[done], packets.size() - done, MSG_NOSIGNAL);
      if (n < 0) return {done / kPacketSize, Error::from_errno(errno, "cannot send the trace")};
      done += static_cast<size_t>(n);
    }
    return {packets.size() / kPacketSize, std::nullopt};
  }

 private:
  Fd fd_;
};

struct Sockets {
  Sockets() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    sender = std::make_unique<PacketSocket>(Fd(ends[0]));
    receiver.reset(ends[1]);
  }
  // Everything until the other end is closed.
  std::string receive() const {
    std::string all;
    std::array<char, 1000> part;
    ssize_t n;
    while ((n = ::read(receiver.get(), part.data(), part.size())) > 0)
      all.append(part.data(), static_cast<size_t>(n));
    return all;
  }

  std::unique_ptr<PacketSink> sender;
  Fd receiver;
};

std::string file_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void append_all(StreamWriter& writer, size_t events) {
  for (size_t i = 0; i < events; ++i) {
    append_word(writer, kStart + i, i);
    if (i == events / 2) writer.set_discarded(5, kStart + i);
    if (i % 1000 == 999) {
      ASSERT_TRUE(writer.flush_full());
    }
  }
  ASSERT_TRUE(writer.flush_all());
}

TEST(PacketSink, a_socket_gets_the_bytes_that_a_file_gets) {
  constexpr size_t kEvents = 100'000;
  const ScratchDir scratch;
  TestTrace trace{scratch / "trace", {one_word_class()}};
  Sockets sockets;
  std::string received;
  uint64_t packets = 0;
  std::thread reader([&] { received = sockets.receive(); });
  {
    StreamWriter to_socket =
        value_of(StreamWriter::create(std::move(sockets.sender), trace.uuid, {.vpid = kVpid}));
    append_all(to_socket, kEvents);
    EXPECT_EQ(to_socket.written_events(), kEvents);
    packets = to_socket.packets_written();
  }
  reader.join();
  EXPECT_EQ(received.size(), packets * kPacketSize);
  {
    StreamWriter to_file = trace.stream("s");
    append_all(to_file, kEvents);
  }
  EXPECT_EQ(received, file_bytes(scratch / "trace/s"));
  EXPECT_EQ(all_events(check_stream(scratch / "trace/s", kOneWord)).size(), kEvents);
}

TEST(PacketSink, events_that_nobody_receives_are_lost_and_counted) {
  Sockets sockets;
  StreamWriter writer =
      value_of(StreamWriter::create(std::move(sockets.sender), random_uuid(), {.vpid = kVpid}));
  append_word(writer, kStart, 1);
  ASSERT_TRUE(writer.flush_all());
  sockets.receiver.reset();
  append_word(writer, kStart + 1, 2);
  const Status status = writer.flush_all();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message().find("cannot send the trace"), 0u);
  append_word(writer, kStart + 2, 3);
  EXPECT_EQ(writer.written_events(), 1u);
  EXPECT_EQ(writer.lost_events(), 2u);
}

}  // namespace
}  // namespace blip::ctf::testing
