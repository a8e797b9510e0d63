// SPDX-License-Identifier: MIT
#include "ctf/trace_dir.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "ctf/test_support.h"

namespace blip::ctf::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

void write_file(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string message_of(const std::string& path) {
  const auto result = TraceDir::create(path);
  EXPECT_FALSE(result);
  return result ? "" : result.error().message();
}

TEST(TraceDir, is_made_for_its_owner_alone) {
  const ScratchDir scratch;
  const auto dir = TraceDir::create(scratch / "t");
  ASSERT_TRUE(dir);
  EXPECT_EQ(dir->path(), scratch / "t");
  struct stat info;
  ASSERT_EQ(::fstat(dir->dir_fd(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST(TraceDir, an_empty_directory_is_taken) {
  const ScratchDir scratch;
  fs::create_directory(scratch / "t");
  EXPECT_TRUE(TraceDir::create(scratch / "t"));
}

TEST(TraceDir, errors_say_what_to_do) {
  const ScratchDir scratch;
  write_file(scratch / "file", "x");
  fs::create_directory(scratch / "full");
  write_file(scratch / "full/.hidden", "x");
  fs::create_symlink("nowhere", scratch / "dangling");
  EXPECT_THAT(message_of(scratch / "full"), HasSubstr("not empty"));
  EXPECT_THAT(message_of(scratch / "file"), HasSubstr("is not a directory"));
  EXPECT_THAT(message_of(scratch / "missing/t"), HasSubstr("the directory above it does not exist"));
  EXPECT_THAT(message_of(scratch / "file/t"), HasSubstr("Not a directory"));
  EXPECT_THAT(message_of(scratch / "dangling"), HasSubstr("cannot open"));
  EXPECT_THAT(message_of(""), HasSubstr("-o"));
  EXPECT_THAT(message_of(scratch / std::string(300, 'x')), HasSubstr("File name too long"));
  EXPECT_FALSE(fs::exists(scratch / "missing"));
}

// In a child, as an ordinary user: root may write anywhere.
TEST(TraceDir, a_directory_without_write_permission) {
  const ScratchDir scratch;
  fs::create_directory(scratch / "closed");
  fs::permissions(scratch / "closed", fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read |
                                          fs::perms::others_exec);
  fs::permissions(scratch.path(), fs::perms::all);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
    const auto inside = TraceDir::create(scratch / "closed/t");
    const auto itself = TraceDir::create(scratch / "closed");
    ::_exit(!inside && inside.error().kind() == ErrorKind::kPermission && !itself &&
                    itself.error().kind() == ErrorKind::kPermission
                ? 0
                : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(TraceDir, metadata_is_replaced_as_a_whole) {
  const ScratchDir scratch;
  auto dir = value_of(TraceDir::create(scratch / "t"));
  ASSERT_TRUE(dir.write_metadata("first and long"));
  ASSERT_TRUE(dir.write_metadata("second"));
  EXPECT_EQ(read_file(scratch / "t/metadata"), "second");
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch / "t"), {}), 1);
}

TEST(TraceDir, abandoned_before_the_first_event_leaves_nothing) {
  const ScratchDir scratch;
  TestTrace trace(scratch / "t", {one_word_class()});
  { const StreamWriter writer = trace.stream("s"); }
  trace.dir.abandon();
  EXPECT_FALSE(fs::exists(scratch / "t"));
}

TEST(TraceDir, abandoned_keeps_what_has_content_and_what_was_there) {
  const ScratchDir scratch;
  TestTrace trace(scratch / "t", {one_word_class()});
  write_file(scratch / "t/notes", "x");
  trace.dir.abandon();
  EXPECT_TRUE(fs::exists(scratch / "t/notes"));
  fs::create_directory(scratch / "given");
  TestTrace given(scratch / "given", {one_word_class()});
  given.dir.abandon();
  EXPECT_TRUE(fs::exists(scratch / "given"));
  EXPECT_TRUE(fs::is_empty(scratch / "given"));
}

TEST(DefaultName, names_program_pid_and_time) {
  EXPECT_THAT(default_name("my srv/..\n", 42), MatchesRegex("blip-my_srv_\\.\\._-42-20[0-9]{6}-[0-9]{6}"));
}

TEST(NewestTrace, is_the_one_written_last) {
  const ScratchDir scratch;
  EXPECT_FALSE(newest_trace(scratch.path()));
  EXPECT_FALSE(newest_trace(scratch / "missing"));
  for (const char* name : {"b", "a", "c"}) TestTrace trace(scratch / name, {});
  fs::create_directory(scratch / "not_a_trace");
  write_file(scratch / "not_a_trace/metadata", "something else");
  write_file(scratch / "file", "x");
  fs::last_write_time(scratch / "a/metadata", fs::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_EQ(value_of(newest_trace(scratch.path())), scratch / "a");
  EXPECT_EQ(value_of(newest_trace(scratch / "c")), scratch / "c") << "the directory itself is a trace";
}

}  // namespace
}  // namespace blip::ctf::testing
