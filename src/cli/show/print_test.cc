// SPDX-License-Identifier: MIT
#include "cli/show/print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/fd.h"
#include "ctf/event_packer.h"
#include "ctf/test_captured.h"

namespace blip::cli {
namespace {

using ctf::EventClass;
using ctf::FieldType;

constexpr int64_t kOffset = 1'700'000'000'000'000'000;  // 2023-11-14 22:13:20 UTC

// Where printed text lands, as a file.
class Page {
 public:
  Page() : file_(std::tmpfile()) {}
  ~Page() { std::fclose(file_); }
  int fd() const { return fileno(file_); }
  std::string text() const {
    std::string out(static_cast<size_t>(lseek(fd(), 0, SEEK_END)), '\0');
    EXPECT_EQ(pread(fd(), out.data(), out.size(), 0), static_cast<ssize_t>(out.size()));
    return out;
  }

 private:
  FILE* file_;
};

class PrintTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
    signal(SIGPIPE, SIG_IGN);
  }
};

// A class with fields at the offsets the contract gives them: back to back after the 8-byte header.
struct Record {
  EventClass event_class;
  std::vector<uint8_t> bytes = std::vector<uint8_t>(8);

  Record(uint16_t id, const char* name) { event_class.id = id, event_class.name = name, finish(); }
  template <typename T>
  Record& add(const char* name, FieldType type, T value) {
    event_class.fields.push_back({name, type, static_cast<uint32_t>(bytes.size()), false});
    const auto* raw = reinterpret_cast<const uint8_t*>(&value);
    bytes.insert(bytes.end(), raw, raw + sizeof(value));
    finish();
    return *this;
  }
  void finish() { event_class.record_size = static_cast<uint32_t>(bytes.size()); }
  session::EventView at(uint64_t ns) const { return {event_class, ns, bytes}; }
};

struct Text16 {
  char bytes[16] = {};
  explicit Text16(const char* text) { std::memcpy(bytes, text, strnlen(text, sizeof(bytes))); }
};

std::string printed(const PrintStyle& style, const std::vector<session::EventView>& views) {
  Page page;
  Output output(page.fd());
  Printer printer(output, style);
  for (const auto& view : views) printer.event(view);
  EXPECT_TRUE(printer.flush());
  return page.text();
}

TEST_F(PrintTest, text_of_all_types) {
  Record r(1, "work");
  r.add("vtid", FieldType::kInt32, int32_t{4711})
      .add("rdi", FieldType::kHex64, uint64_t{7})
      .add("r8", FieldType::kHex64, ~uint64_t{0})
      .add("cpu_id", FieldType::kUint32, ~uint32_t{0})
      .add("vpid", FieldType::kInt32, int32_t{-1})
      .add("n", FieldType::kUint64, ~uint64_t{0})
      .add("procname", FieldType::kText16, Text16("a \"b\" \x1b[1m"));
  EXPECT_EQ(printed({.realtime_offset = kOffset}, {r.at(1'000'000'001)}),
            "[22:13:21.000000001] (+?.????????"
            "?) 4711 work: { rdi = 0x7, r8 = 0xffffffffffffffff, cpu_id = "
            "4294967295, "
            "vpid = -1, n = 18446744073709551615, procname = \"a \\\"b\\\" \\x1b[1m\" }\n");
}

TEST_F(PrintTest, json_of_all_types) {
  Record r(1, "ns::f(int)");
  r.add("rdi", FieldType::kHex64, uint64_t{255})
      .add("vtid", FieldType::kInt32, int32_t{4711})
      .add("procname", FieldType::kText16,
           Text16("sixteen\xff"
                  "bytes\n!!"));
  EXPECT_EQ(printed({.json = true, .realtime_offset = kOffset}, {r.at(5)}),
            "{\"v\":1,\"kind\":\"event\",\"time\":1700000000000000005,\"name\":\"ns::f(int)\",\"fields\":{"
            "\"rdi\":255,\"vtid\":4711,\"procname\":\"sixteen\\ufffdbytes\\n!!\"}}\n");
}

TEST_F(PrintTest, lines_with_captured_data) {
  using namespace ctf::testing;
  const EventClass c = captured_class(
      {string(9)}, {{"vtid", FieldType::kInt32, 0, true}, {"cpu", FieldType::kUint32}, text("s", 0)}, 1, "f");
  ctf::EventPacker packer(c);
  const auto event = packer.pack(HitRecord(c).plain(0, 4711).plain(1, 2).dynamic(0, "abc", true).bytes());
  ASSERT_TRUE(event);
  std::vector<uint8_t> record(8);
  record.insert(record.end(), event->begin(), event->end());
  EXPECT_THAT(printed({}, {{c, 5, record}}), testing::EndsWith(") 4711 f: { cpu = 2, s = \"abc\"... }\n"));
  EXPECT_EQ(printed({.json = true}, {{c, 5, record}}),
            "{\"v\":1,\"kind\":\"event\",\"time\":5,\"name\":\"f\",\"tid\":4711,"
            "\"fields\":{\"cpu\":2,\"s\":\"abc\"},\"cut\":[\"/fields/s\"]}\n");
  const EventClass bare = captured_class({fixed(1)}, {{"vtid", FieldType::kInt32, 0, true}}, 2, "g");
  const std::vector<uint8_t> only_tid = {0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0};
  EXPECT_THAT(printed({}, {{bare, 5, only_tid}}), testing::EndsWith(") 9 g\n"));
  EXPECT_EQ(printed({}, {{c, 5, std::span(record).first(20)}}), "");
}

TEST_F(PrintTest, the_place_of_an_address_that_many_share) {
  Record r(1, "f*");
  r.add("ip", FieldType::kHex64, uint64_t{0x1234}).add("rdi", FieldType::kHex64, uint64_t{7});
  r.event_class.many_places = true;
  int asked = 0;
  const session::PlaceNamer place_of = [&](uint64_t ip) {
    ++asked;
    return ip == 0x1234 ? "work+0x4" : "";
  };
  session::EventView view = r.at(5);
  view.place_of = &place_of;
  EXPECT_THAT(printed({}, {view, view}), testing::HasSubstr("f*: { ip = 0x1234 <work+0x4>, rdi = 0x7 }\n"));
  EXPECT_EQ(asked, 1);
  EXPECT_THAT(printed({.json = true}, {view}),
              testing::HasSubstr("\"place\":\"work+0x4\",\"fields\":{\"ip\":4660,\"rdi\":7}}"));
  const session::EventNamer name_of = [](const ctf::EventClass& c, uint64_t) { return c.name + "ork"; };
  view.name_of = &name_of;
  EXPECT_THAT(printed({}, {view}), testing::HasSubstr(") f*ork: { ip = 0x1234 <work+0x4>, rdi = 0x7 }\n"));
  EXPECT_THAT(printed({.json = true}, {view}),
              testing::HasSubstr("\"name\":\"f*ork\",\"place\":\"work+0x4\""));
  Record unknown(2, "f*");
  unknown.add("ip", FieldType::kHex64, uint64_t{1});
  unknown.event_class.many_places = true;
  EXPECT_THAT(printed({}, {unknown.at(6)}), testing::HasSubstr("{ ip = 0x1 }\n"));
}

TEST_F(PrintTest, time_since_the_event_before) {
  Record a(1, "a"), b(2, "b");
  a.add("vtid", FieldType::kInt32, int32_t{1});
  b.add("vtid", FieldType::kInt32, int32_t{2});
  EXPECT_EQ(printed({.realtime_offset = kOffset}, {a.at(10), b.at(2'000'000'015), a.at(2'000'000'014)}),
            "[22:13:20.000000010] (+?.????????"
            "?) 1 a\n"
            "[22:13:22.000000015] (+2.000000005) 2 b\n"
            "[22:13:22.000000014] (-0.000000001) 1 a\n");
}

TEST_F(PrintTest, colour_never_reaches_json) {
  Record r(1, "f");
  EXPECT_THAT(printed({.color = true}, {r.at(0)}), testing::HasSubstr("\x1b[1;36mf\x1b[0m\n"));
  EXPECT_EQ(printed({.json = true, .color = true}, {r.at(0)}),
            "{\"v\":1,\"kind\":\"event\",\"time\":0,\"name\":\"f\"}\n");
}

TEST_F(PrintTest, a_name_of_the_target_cannot_steer_the_terminal) {
  Record r(1, "evil\x1b[2J\n\u202e");
  EXPECT_EQ(printed({}, {r.at(0)}),
            "[00:00:00.000000000] (+?.????????"
            "?) evil\\x1b[2J\\n\\u202e\n");
}

TEST_F(PrintTest, an_event_that_is_shorter_than_its_class_is_none) {
  Record r(1, "f");
  r.event_class.fields.push_back({"rdi", FieldType::kHex64, 8, false});
  EXPECT_THAT(printed({}, {r.at(0)}), testing::EndsWith(") f\n")) << "the field has no place in it";
  r.event_class.record_size = 16;
  EXPECT_EQ(printed({.json = true}, {r.at(0)}), "");
  EXPECT_EQ(printed({}, {r.at(0)}), "");
}

TEST_F(PrintTest, batches_without_flush) {
  Page page;
  Output output(page.fd());
  Printer printer(output, {.json = true});
  Record r(1, "f");
  printer.event(r.at(1));
  EXPECT_EQ(page.text(), "");
  for (int i = 0; i < 10'000; ++i) printer.event(r.at(1));
  EXPECT_GE(page.text().size(), 65536U);
  printer.flush();
  const std::string text = page.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10'001);
}

struct Pipe {
  Fd read_end, write_end;
  Pipe() {
    int fds[2];
    EXPECT_EQ(pipe(fds), 0);
    read_end = Fd(fds[0]);
    write_end = Fd(fds[1]);
  }
};

TEST_F(PrintTest, a_reader_that_leaves_is_noticed_with_and_without_text) {
  for (const bool with_text : {true, false}) {
    Pipe pipe;
    Output output(pipe.write_end.get());
    Printer printer(output, {});
    EXPECT_TRUE(printer.flush());
    pipe.read_end = Fd();
    Record r(1, "f");
    if (with_text) printer.event(r.at(0));
    EXPECT_FALSE(printer.flush());
    EXPECT_EQ(output.error(), 0);
  }
}

TEST_F(PrintTest, a_sleeping_reader_makes_it_full_and_loses_nothing) {
  Pipe pipe;
  Output output(pipe.write_end.get());
  Printer printer(output, {});
  Record r(1, "f");
  size_t events = 0;
  for (; !printer.is_full(); ++events) printer.event(r.at(events));
  size_t lines = 0;
  for (char c; lines < events && read(pipe.read_end.get(), &c, 1) == 1;) {
    lines += c == '\n';
    if (lines % 1000 == 0) printer.flush();
  }
  EXPECT_EQ(lines, events);
}

TEST_F(PrintTest, a_full_disk_is_an_error) {
  FILE* full = std::fopen("/dev/full", "w");
  ASSERT_TRUE(full);
  Output output(fileno(full));
  EXPECT_FALSE(output.write("x"));
  EXPECT_EQ(output.error(), ENOSPC);
  std::fclose(full);
}

TEST_F(PrintTest, realtime_offset_is_right_to_a_millisecond) {
  timespec mono, real;
  clock_gettime(CLOCK_MONOTONIC, &mono);
  clock_gettime(CLOCK_REALTIME, &real);
  const int64_t seen = (real.tv_sec - mono.tv_sec) * 1'000'000'000 + real.tv_nsec - mono.tv_nsec;
  EXPECT_LT(std::abs(measure_realtime_offset() - seen), 1'000'000);
}

}  // namespace
}  // namespace blip::cli
