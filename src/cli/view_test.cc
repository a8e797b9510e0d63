// SPDX-License-Identifier: MIT
#include "cli/view.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

namespace blip::cli {
namespace {

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
    const pid_t child = ::fork();
    if (child == 0) {
      const int out = ::open((root_ + "/out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(out, STDOUT_FILENO);
      ::unsetenv("BABELTRACE_TERM_COLOR");
      if (set_up) set_up();
      const Result<int> code = view_trace(dir_, color);
      ::_exit(code ? *code : 1);
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
    const Result<int> code = view_trace(dir);
    return code ? std::string() : code.error().message();
  };
  EXPECT_THAT(message(root_ + "/missing"), HasSubstr("No such file"));
  EXPECT_THAT(message(root_), HasSubstr("no trace in it"));
  EXPECT_THAT(message(dir_ + "/metadata"), HasSubstr("is not a directory"));
  std::ofstream(dir_ + "/damaged") << "xyz";
  EXPECT_THAT(message(dir_), HasSubstr("cannot read the trace"));
}

}  // namespace
}  // namespace blip::cli
