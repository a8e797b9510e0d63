// SPDX-License-Identifier: MIT
#include "proc/files/find_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace blip::proc {
namespace {

using testing::Contains;
using testing::Not;

// A child with a name of its own that waits to be ended.
class NamedChild {
 public:
  explicit NamedChild(const char* name) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_NAME, name);
      (void)!::write(ready[1], "x", 1);
      for (;;) ::pause();
    }
    char byte;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~NamedChild() { end(); }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(FindProcesses, by_command_name_also_a_long_one) {
  NamedChild child("a name with blanks that is cut");
  EXPECT_THAT(*find_processes("a name with blanks that is cut"), Contains(child.pid()));
  EXPECT_THAT(*find_processes("a name with bla"), Contains(child.pid()));
  EXPECT_THAT(*find_processes("a name with bl"), Not(Contains(child.pid())));
}

TEST(FindProcesses, by_executable_but_never_itself) {
  NamedChild child("other");
  const auto found = *find_processes("proc_test");
  EXPECT_THAT(found, Contains(child.pid()));
  EXPECT_THAT(found, Not(Contains(::getpid())));
}

TEST(FindProcesses, not_one_that_has_ended) {
  NamedChild child("soon a zombie");
  const pid_t pid = child.pid();
  ::kill(pid, SIGKILL);
  siginfo_t info;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
  EXPECT_THAT(*list_processes(), Contains(pid));
  EXPECT_THAT(*find_processes("soon a zombie"), Not(Contains(pid)));
}

}  // namespace
}  // namespace blip::proc
