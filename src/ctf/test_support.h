// SPDX-License-Identifier: MIT
// For the tests of this folder: a directory that goes away, the two readers from Debian, and a checker of
// stream files that shares no code with the writer.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "ctf/metadata.h"
#include "ctf/schema.h"
#include "ctf/stream_writer.h"
#include "ctf/trace_dir.h"

namespace blip::ctf::testing {

class ScratchDir {
 public:
  explicit ScratchDir(const std::string& parent = ::testing::TempDir());
  ~ScratchDir();
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct ReaderOutput {
  int exit_code = -1;
  std::vector<std::string> lines;  // stdout
  std::string errors;              // stderr
  double seconds = 0;
};

inline const std::vector<std::string> kReaders = {"babeltrace2", "babeltrace"};

// Lines like "[00000000000000001000] name: { cpu_id = 0, vpid = 42 }, { rdi = 0x1 }", the same for both
// readers.
ReaderOutput read_trace(const std::string& reader, const std::string& dir);
// Reads everything and prints nothing but complaints.
ReaderOutput read_silently(const std::string& reader, const std::string& dir);

struct FileEvent {
  uint64_t time = 0;
  uint16_t id = 0;
  std::string fields;
  bool operator==(const FileEvent&) const = default;
};

struct FilePacket {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t discarded = 0;
  std::vector<FileEvent> events;
};

// Walks a stream file and reports every breach of the layout as a test failure. `sizes`: class id -> bytes of
// fields.
std::vector<FilePacket> check_stream(const std::string& path, const std::map<uint16_t, uint32_t>& sizes);
std::vector<FileEvent> all_events(const std::vector<FilePacket>& packets);

inline constexpr int32_t kVpid = 42;

// A trace under construction: classes are laid out, metadata written.
struct TestTrace {
  TestTrace(const std::string& path, std::vector<EventClass> wanted);
  StreamWriter stream(const std::string& name, uint64_t instance = 0, uint32_t cpu = 0);
  StreamWriter stream_of_several(const std::string& name, uint64_t instance = 0, uint32_t cpu = 0);

  std::vector<EventClass> classes;
  Uuid uuid = random_uuid();
  TraceDir dir;
};

EventClass one_word_class(uint16_t id = 1);  // "work" with a field "rdi"
inline const std::map<uint16_t, uint32_t> kOneWord = {{1, 8}};
void append_word(StreamWriter& writer, uint64_t time, uint64_t word);
std::string word_line(uint64_t time, uint64_t word, uint32_t cpu = 0);

template <typename T>
T value_of(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().message();
    std::abort();
  }
  return *std::move(result);
}

}  // namespace blip::ctf::testing
