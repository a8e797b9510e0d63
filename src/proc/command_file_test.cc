// SPDX-License-Identifier: MIT
#include "proc/command_file.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "proc/command.h"
#include "proc/test_command.h"

namespace blip::proc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class CommandFileTest : public ::testing::Test {
 protected:
  CommandFileTest() : folder_(fmt::format("/tmp/blip-command-file-{}", ::getpid())) {
    std::filesystem::create_directory(folder_);
  }
  ~CommandFileTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text, mode_t mode = 0755) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }
  static std::string why_not(const std::string& name) {
    const auto found = CommandFile::find(name);
    return found ? "found " + found->path : found.error().message();
  }
  // Status and output of a whole run.
  static std::string run(const std::vector<std::string>& words) {
    test::CapturedOutput output;
    auto command = Command::start(words);
    if (!command) return command.error().message();
    if (!command->go()) return "cannot go";
    const int status = command->wait();
    return fmt::format("{} {}", WEXITSTATUS(status), output.text());
  }

  std::string folder_;
};

TEST_F(CommandFileTest, every_failure_has_its_own_words) {
  EXPECT_EQ(why_not(""), "the command's name is empty");
  EXPECT_EQ(why_not("no-such-command"), "no such command: 'no-such-command' is in no folder of PATH");
  EXPECT_EQ(why_not("/no/such"), "no such command: /no/such");
  EXPECT_EQ(why_not(folder_), fmt::format("cannot run {}: it is a directory", folder_));
  EXPECT_EQ(why_not("/dev/null"), "cannot run /dev/null: it is not a regular file");
  const std::string plain = file("plain", "text", 0644);
  EXPECT_THAT(why_not(plain),
              AllOf(HasSubstr("cannot run " + plain), HasSubstr("not executable"), HasSubstr("chmod")));
  EXPECT_THAT(why_not(file("lost", "#!/no/interpreter\n")),
              AllOf(HasSubstr("script"), HasSubstr("its interpreter"), HasSubstr("/no/interpreter")));
  EXPECT_THAT(why_not(file("empty_line", "#! \n")), HasSubstr("names no interpreter"));
  EXPECT_THAT(why_not(file("data", std::string("\x01\0\x02", 3))), HasSubstr("neither a program"));
  std::string elf(
      "\x7f"
      "ELF\x01",
      5);
  EXPECT_THAT(why_not(file("elf32", elf + std::string(60, '\0'))), HasSubstr("32-bit"));
  elf[4] = 2;
  EXPECT_THAT(why_not(file("arm", elf + std::string(60, '\x07'))), HasSubstr("only x86-64"));
}

TEST_F(CommandFileTest, path_is_searched_in_order) {
  const std::string before = ::getenv("PATH");
  const std::string first =
      file("tool-of-test", "#!/bin/sh\n", 0644);  // not executable: looked for further on
  std::filesystem::create_directory(folder_ + "/b");
  const std::string second = file("b/tool-of-test", "#!/bin/sh\n");
  ::setenv("PATH", fmt::format("/no/such:{0}:{0}/b:{1}", folder_, before).c_str(), 1);
  EXPECT_EQ(why_not("tool-of-test"), "found " + second);
  ::unlink(second.c_str());
  EXPECT_THAT(why_not("tool-of-test"), HasSubstr("not executable"));
  ::unsetenv("PATH");
  EXPECT_EQ(why_not("sh"), "found /bin/sh");
  ::setenv("PATH", before.c_str(), 1);
}

TEST_F(CommandFileTest, the_interpreter_of_a_script_is_told) {
  EXPECT_FALSE(CommandFile::find("true")->interpreter_of_script);
  EXPECT_EQ(CommandFile::find(file("a", "#! /bin/sh -e\nexit 4\n"))->interpreter_of_script, "/bin/sh");
  EXPECT_EQ(CommandFile::find(file("no_line", "exit 4\n"))->interpreter_of_script, "/bin/sh");
  const std::string nested = file("nested", fmt::format("#!{}/a\n", folder_));
  EXPECT_EQ(CommandFile::find(nested)->interpreter_of_script, "/bin/sh");
  EXPECT_THAT(why_not(file("loop", fmt::format("#!{}/loop\n", folder_))), HasSubstr("too deep"));
}

TEST_F(CommandFileTest, scripts_run) {
  EXPECT_EQ(run({file("line", "#!/bin/sh\necho \"$0 $1\"; exit 4\n"), "x y"}),
            fmt::format("4 {}/line x y\n", folder_));
  EXPECT_EQ(run({file("bare", "echo \"$0 $1\"; exit 5\n"), "x y"}), fmt::format("5 {}/bare x y\n", folder_));
  EXPECT_EQ(run({file("nothing", "")}), "0 ");
}

TEST_F(CommandFileTest, a_program_without_its_loader_is_explained) {
  std::string image = test::read_all("/bin/true");
  const size_t at = image.find("/lib64/ld-linux");
  ASSERT_NE(at, std::string::npos);
  image[at + 1] = 'X';
  EXPECT_THAT(run({file("foreign", image)}), AllOf(HasSubstr("cannot run"), HasSubstr("loader")));
}

TEST_F(CommandFileTest, set_uid_files_are_told) {
  const std::string image = test::read_all("/bin/true");
  EXPECT_FALSE(CommandFile::find(file("plain", image))->privileged);
  const auto found = CommandFile::find(file("suid", image, 04755));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->privileged, ::geteuid() != 0);
}

}  // namespace
}  // namespace blip::proc
