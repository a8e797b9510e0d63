// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "ctf/test_support.h"

namespace blip::ctf::testing {

namespace fs = std::filesystem;

ScratchDir::ScratchDir(const std::string& parent) {
  std::string pattern = parent + "/blip-ctf-XXXXXX";
  if (!::mkdtemp(pattern.data())) std::abort();
  path_ = pattern;
}

ScratchDir::~ScratchDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

namespace {

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

ReaderOutput run(const std::string& command) {
  const ScratchDir scratch;
  const auto start = std::chrono::steady_clock::now();
  const int status =
      std::system(fmt::format("{} >'{}' 2>'{}'", command, scratch / "out", scratch / "err").c_str());
  ReaderOutput result;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.errors = contents(scratch / "err");
  std::ifstream in(scratch / "out");
  for (std::string line; std::getline(in, line);) result.lines.push_back(line);
  return result;
}

uint64_t number(const std::string& bytes, size_t offset, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | uint8_t(bytes[offset + i]);
  return value;
}

// The walk over one packet; `bytes` holds exactly it.
FilePacket check_packet(const std::string& bytes, const std::map<uint16_t, uint32_t>& sizes) {
  FilePacket packet{number(bytes, 32, 8), number(bytes, 40, 8), number(bytes, 72, 8), {}};
  EXPECT_EQ(number(bytes, 0, 4), 0xC1FC1FC1u);
  const bool of_several = number(bytes, 20, 4) == 1;
  EXPECT_LE(number(bytes, 20, 4), 1u) << "stream id";
  EXPECT_EQ(number(bytes, 56, 8), 4096u * 8) << "packet size";
  EXPECT_LE(packet.begin, packet.end);
  EXPECT_LT(packet.end - packet.begin, uint64_t{1} << 47);
  const size_t content = number(bytes, 48, 8) / 8;
  size_t at = of_several ? 84 : 88;
  uint64_t time = packet.begin;
  while (at + 8 <= content) {
    const auto id = uint16_t(number(bytes, at, 2));
    time += (number(bytes, at + 2, 6) - time) & ((uint64_t{1} << 48) - 1);
    if (!sizes.contains(id)) {
      ADD_FAILURE() << "unknown class " << id;
      return packet;
    }
    packet.events.push_back({time, id, bytes.substr(at + 8, sizes.at(id))});
    at += 8 + sizes.at(id);
  }
  EXPECT_EQ(at, content) << "the events end where the content does";
  EXPECT_EQ(bytes.find_first_not_of('\0', content), std::string::npos) << "padding is zero";
  EXPECT_LE(time, packet.end);
  if (!packet.events.empty()) {
    EXPECT_EQ(packet.events.front().time, packet.begin);
    EXPECT_EQ(packet.events.back().time, packet.end);
  }
  return packet;
}

}  // namespace

ReaderOutput read_trace(const std::string& reader, const std::string& dir) {
  return run(fmt::format("{} --clock-cycles --no-delta --fields loglevel '{}'", reader, dir));
}

ReaderOutput read_silently(const std::string& reader, const std::string& dir) {
  return run(fmt::format("{} -o dummy '{}'", reader, dir));
}

std::vector<FilePacket> check_stream(const std::string& path, const std::map<uint16_t, uint32_t>& sizes) {
  const std::string bytes = contents(path);
  EXPECT_EQ(bytes.size() % 4096, 0u) << "whole packets only";
  std::vector<FilePacket> packets;
  for (size_t at = 0; at + 4096 <= bytes.size(); at += 4096) {
    const std::string packet = bytes.substr(at, 4096);
    EXPECT_EQ(number(packet, 64, 8), packets.size()) << "sequence number";
    EXPECT_EQ(packet.substr(4, 16), bytes.substr(4, 16)) << "uuid";
    packets.push_back(check_packet(packet, sizes));
    if (packets.size() < 2) continue;
    const FilePacket& before = packets[packets.size() - 2];
    EXPECT_LE(before.end, packets.back().begin);
    EXPECT_LE(before.discarded, packets.back().discarded);
  }
  return packets;
}

std::vector<FileEvent> all_events(const std::vector<FilePacket>& packets) {
  std::vector<FileEvent> events;
  for (const FilePacket& packet : packets)
    events.insert(events.end(), packet.events.begin(), packet.events.end());
  return events;
}

TestTrace::TestTrace(const std::string& path, std::vector<EventClass> wanted)
    : classes(std::move(wanted)), dir(value_of(TraceDir::create(path))) {
  for (EventClass& c : classes) lay_out(c);
  const TraceInfo info{
      "host", "program", 42, "blip record", "2026-01-02T03:04:05Z", 1'700'000'000'123'456'789, true};
  const Status status = dir.write_metadata(metadata_text(info, classes, uuid));
  EXPECT_TRUE(status) << status.error().message();
}

StreamWriter TestTrace::stream(const std::string& name, uint64_t instance, uint32_t cpu) {
  return value_of(StreamWriter::create(dir.dir_fd(), name, uuid, {instance, cpu, kVpid}));
}

StreamWriter TestTrace::stream_of_several(const std::string& name, uint64_t instance, uint32_t cpu) {
  return value_of(StreamWriter::create(dir.dir_fd(), name, uuid, {instance, cpu, {}}));
}

EventClass one_word_class(uint16_t id) { return {id, "work", {{"rdi", FieldType::kHex64}}}; }

void append_word(StreamWriter& writer, uint64_t time, uint64_t word) {
  writer.append(time, 1, reinterpret_cast<const uint8_t*>(&word), sizeof word);
}

std::string word_line(uint64_t time, uint64_t word, uint32_t cpu) {
  return fmt::format("[{:020}] work: {{ cpu_id = {}, vpid = 42 }}, {{ rdi = 0x{:X} }}", time, cpu, word);
}

}  // namespace blip::ctf::testing
