// SPDX-License-Identifier: MIT
#include "cli/view/view.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "cli/show/captured_values.h"
#include "ctf/event_packer.h"
#include "ctf/metadata.h"
#include "ctf/stream_writer.h"
#include "ctf/test_captured.h"
#include "ctf/trace_dir.h"

namespace blip::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kMetadata = R"(/* CTF 1.8 */
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; uint32_t stream_id; }; };
clock { name = "monotonic"; freq = 1000000000; offset = 0; absolute = TRUE; };
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := ts64_t;
stream { id = 0; event.header := struct { uint16_t id; ts64_t timestamp; };
  packet.context := struct { uint64_t content_size; uint64_t packet_size; }; };
event { name = "work"; id = 1; stream_id = 0; fields := struct { uint64_t _n; }; };
)";

class View : public ::testing::Test {
 protected:
  View() {
    std::string pattern = ::testing::TempDir() + "/blip-view-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    dir_ = root_ + "/trace";
    std::filesystem::create_directory(dir_);
    std::ofstream(dir_ + "/metadata") << kMetadata;
  }
  ~View() override { std::filesystem::remove_all(root_); }

  void write_stream(const std::string& name, uint64_t first, uint64_t events) {
    std::string bytes;
    const auto put = [&](auto value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
    put(uint32_t{0xC1FC1FC1});
    put(uint32_t{0});
    const uint64_t bits = (24 + events * 18) * 8;
    put(bits);
    put(bits);
    for (uint64_t i = 0; i < events; ++i) {
      put(uint16_t{1});
      put(first + i * 10);
      put(i);
    }
    std::ofstream(dir_ + "/" + name) << bytes;
  }

  // In a child with its stdout in a file: the library keeps state for the whole process.
  int in_child(const std::function<void()>& set_up, ViewColor color) {
    std::fflush(stdout);  // or the child would print it too
    const pid_t child = ::fork();
    if (child == 0) {
      const int out = ::open((root_ + "/out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(out, STDOUT_FILENO);
      ::unsetenv("BABELTRACE_TERM_COLOR");
      if (set_up) set_up();
      ::_exit(view_trace(dir_, {.color = color, .json = json_, .selection = selection_}) ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
  }
  std::string output() const {
    std::ifstream in(root_ + "/out");
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::string root_;
  std::string dir_;
  bool json_ = false;
  ViewSelection selection_;
};

TEST_F(View, prints_what_babeltrace2_prints) {
  write_stream("a", 1000, 500);
  write_stream("b", 1005, 500);
  ASSERT_EQ(in_child({}, ViewColor::kAuto), 0);
  const std::string ours = output();
  ASSERT_EQ(std::system(("babeltrace2 '" + dir_ + "' >'" + root_ + "/out'").c_str()), 0);
  EXPECT_EQ(ours, output());
  EXPECT_THAT(ours, HasSubstr("work: { n = 499 }"));
}

TEST_F(View, streams_are_one_trace_for_what_is_chosen) {
  write_stream("a", 1000, 500);
  write_stream("b", 1005, 500);
  selection_.from = *TraceTime::parse("-5ns");
  ASSERT_EQ(in_child({}, ViewColor::kAuto), 0);
  EXPECT_THAT(output(), AllOf(HasSubstr("[00:00:00.000005990]"), HasSubstr("[00:00:00.000005995]")));
  EXPECT_THAT(output(), Not(HasSubstr("5985")));
  selection_ = {};
  selection_.from = *TraceTime::parse("15ns");
  selection_.head = 3;
  ASSERT_EQ(in_child({}, ViewColor::kAuto), 0);
  EXPECT_EQ(output(),
            "[00:00:00.000001015] (+?.????????"
            "?) work: { n = 1 }\n"
            "[00:00:00.000001020] (+0.000000005) work: { n = 2 }\n"
            "[00:00:00.000001025] (+0.000000005) work: { n = 2 }\n");
}

// One of each kind, nested, with names that occur twice.
ctf::EventClass captured() {
  using namespace ctf::testing;
  using ctf::kNoOutput;
  const ctf::Field point = structure("", {integer("x", kNoOutput, 2), integer("y", kNoOutput, 2, true, 2)});
  ctf::Field pointer = integer("p", 0, 8, false);
  pointer.is_hex = true;
  pointer.group = ctf::FieldGroup::kArgument;
  return captured_class(
      {fixed(8, true), string(20), elements(4, 9), fixed(16), fixed(4, true), fixed(1), fixed(1), fixed(4),
       fixed(8)},
      {{"vtid", ctf::FieldType::kInt32, 0, true},
       pointer,
       labelled(integer("color", 4, 4), {{-1, "NEG"}, {2, "RED"}}),
       number("c", ctf::FieldType::kChar, 5, 1, true),
       number("b", ctf::FieldType::kBool, 6, 1),
       number("f", ctf::FieldType::kFloat, 7, 4),
       number("d", ctf::FieldType::kFloat, 8, 8),
       structure("in", {text("s", 1), sequence("v", 2, 4, point), note("gone", "<optimized out>")}),
       array("a", 3, 0, 8, 2, array("", kNoOutput, 0, 4, 2, point)),
       integer("cut", 5, 1)},
      2, "captured");
}

// The payload as `blip trace` would show it.
std::string shown_live(const ctf::EventClass& c, std::span<const uint8_t> fields) {
  CapturedValues values(c, false);
  EXPECT_TRUE(values.render(fields, {}));
  return "{ " + values.text() + " }";
}

// In a stored trace packets tell the process and the CPU.
std::string json_live(const ctf::EventClass& c, std::span<const uint8_t> fields, uint64_t time) {
  CapturedValues values(c, true);
  EXPECT_TRUE(values.render(fields, {}));
  std::string line;
  values.append_json(line, static_cast<int64_t>(time), nullptr);
  line.replace(line.find("\"tid\":7,"), 8, "\"tid\":7,\"pid\":42,\"cpu\":0,");
  return line;
}

TEST_F(View, captured_data_looks_as_in_a_live_trace) {
  using namespace ctf::testing;
  const ctf::EventClass c = captured();
  ASSERT_TRUE(ctf::check_outputs(c));
  std::filesystem::remove_all(dir_);
  auto dir = ctf::TraceDir::create(dir_);
  ASSERT_TRUE(dir);
  const ctf::Uuid uuid = ctf::random_uuid();
  ASSERT_TRUE(dir->write_metadata(ctf::metadata_text({.hostname = "h"}, std::span(&c, 1), uuid)));
  std::vector<std::string> expected;
  std::string expected_json;
  {
    auto writer = ctf::StreamWriter::create(dir->dir_fd(), "s", uuid, {.vpid = 42});
    ASSERT_TRUE(writer);
    ctf::EventPacker packer(c);
    const auto add = [&](const HitRecord& record) {
      const auto event = packer.pack(record.bytes());
      ASSERT_TRUE(event);
      writer->append(1000 + expected.size(), c.id, event->data(), static_cast<uint32_t>(event->size()));
      expected_json += json_live(c, *event, 1000 + expected.size());
      expected.push_back(shown_live(c, *event));
    };
    HitRecord plain(c);
    plain.plain(0, 7).value(0, uint64_t{0x7f00beef}).value(4, int32_t{2}).value(5, 'x').value(6, true);
    plain.value(7, 0.1f).value(8, -0.3);
    add(HitRecord(plain).dynamic(1, "/a \"b\" \x1b[1m").dynamic(2, std::string(8, 'A')));
    add(HitRecord(plain).value(4, int32_t{-1}).dynamic(1, "/etc", true).dynamic(2, "AAAA", true));
    add(HitRecord(plain).value(4, int32_t{1}).dynamic(1, "").fault(0));
    add(HitRecord(plain).value(4, int32_t{97}).dynamic(1, "").fault(0).fault(1).fault(4));
  }
  json_ = true;
  ASSERT_EQ(in_child({}, ViewColor::kAlways), 0);
  EXPECT_EQ(output(), expected_json);
  json_ = false;
  ASSERT_EQ(in_child({}, ViewColor::kNever), 0);
  std::istringstream lines(output());
  std::string line;
  for (const std::string& payload : expected) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_THAT(line, HasSubstr(" h:(0) captured: { cpu_id = 0, vpid = 42 }, { vtid = 7 }, "));
    EXPECT_TRUE(line.ends_with("{ vtid = 7 }, " + payload)) << line << "\n" << payload;
  }
  EXPECT_FALSE(std::getline(lines, line));
  EXPECT_THAT(expected[3], HasSubstr("p = <bad address>, color = <bad address>"));
  EXPECT_THAT(expected[1], HasSubstr("s = \"/etc\"..., v = [ { x = 16705, y = 16705 } ]..."));
}

TEST_F(View, what_was_discarded_is_told) {
  std::filesystem::remove_all(dir_);
  auto dir = ctf::TraceDir::create(dir_);
  ASSERT_TRUE(dir);
  const ctf::Uuid uuid = ctf::random_uuid();
  ASSERT_TRUE(dir->write_metadata(ctf::metadata_text({}, {}, uuid)));
  {
    auto writer = ctf::StreamWriter::create(dir->dir_fd(), "s", uuid, {.vpid = 42});
    ASSERT_TRUE(writer);
    writer->set_discarded(77, 1000);
  }
  const auto to_same_file = [] { ::dup2(STDOUT_FILENO, STDERR_FILENO); };
  ASSERT_EQ(in_child(to_same_file, ViewColor::kNever), 0);
  EXPECT_THAT(output(), HasSubstr("WARNING: Tracer discarded 77 events between ["));
}

TEST_F(View, a_trace_without_events_prints_nothing) {
  ASSERT_EQ(in_child({}, ViewColor::kAuto), 0);
  write_stream("empty", 0, 0);
  ASSERT_EQ(in_child({}, ViewColor::kAuto), 0);
  EXPECT_EQ(output(), "");
}

TEST_F(View, colors_as_told) {
  write_stream("a", 1000, 1);
  ASSERT_EQ(in_child({}, ViewColor::kAlways), 0);
  EXPECT_THAT(output(), HasSubstr("\x1b["));
  ASSERT_EQ(in_child([] { ::setenv("BABELTRACE_TERM_COLOR", "ALWAYS", 1); }, ViewColor::kNever), 0);
  EXPECT_THAT(output(), Not(HasSubstr("\x1b[")));
}

TEST_F(View, a_closed_pipe_ends_it_quietly) {
  write_stream("a", 1000, 100'000);
  const int status = in_child(
      [] {
        int ends[2];
        if (::pipe(ends) != 0) ::_exit(9);
        ::close(ends[0]);
        ::dup2(ends[1], STDOUT_FILENO);
      },
      ViewColor::kNever);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGPIPE);
}

TEST_F(View, ctrl_c_is_a_normal_end) {
  write_stream("a", 1000, 3'000'000);
  const auto interrupt_later = [] {
    const pid_t viewer = ::getpid();
    if (::fork() != 0) return;
    ::usleep(300'000);
    ::kill(viewer, SIGINT);
    ::_exit(0);
  };
  EXPECT_EQ(in_child(interrupt_later, ViewColor::kNever), 0);
  const std::string text = output();
  EXPECT_THAT(text, Not(HasSubstr("n = 2999999 }")));
  EXPECT_TRUE(text.empty() || text.ends_with("}\n")) << "whole lines";
}

TEST_F(View, a_full_disk_is_an_error) {
  write_stream("a", 1000, 10);
  const int status =
      in_child([] { ::dup2(::open("/dev/full", O_WRONLY), STDOUT_FILENO); }, ViewColor::kNever);
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

TEST_F(View, errors_say_what_is_wrong) {
  const auto message = [](const std::string& dir) {
    const Result<ViewTotals> totals = view_trace(dir);
    return totals ? std::string() : totals.error().message();
  };
  EXPECT_THAT(message(root_ + "/missing"), HasSubstr("No such file"));
  EXPECT_THAT(message(root_), HasSubstr("no trace in it"));
  EXPECT_THAT(message(dir_ + "/metadata"), HasSubstr("is not a directory"));
  std::ofstream(dir_ + "/damaged") << "xyz";
  EXPECT_THAT(message(dir_), HasSubstr("cannot read the trace"));
}

}  // namespace
}  // namespace blip::cli
