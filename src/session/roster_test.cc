// SPDX-License-Identifier: MIT
#include "session/roster.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

namespace blip::session {
namespace {

// A process that does nothing.
class Idle {
 public:
  Idle() : pid_(::fork()) {
    if (pid_ != 0) return;
    for (;;) ::pause();
  }
  ~Idle() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Idle(const Idle&) = delete;
  Idle& operator=(const Idle&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

constexpr pid_t kPid = 4711, kOther = 4712;

TEST(Roster, leaves_a_process_out_after_so_many_failures) {
  Roster roster(3);
  EXPECT_FALSE(roster.note_failure(kPid));
  EXPECT_FALSE(roster.note_failure(kPid));
  EXPECT_FALSE(roster.is_settled(kPid));
  EXPECT_TRUE(roster.note_failure(kPid));
  EXPECT_TRUE(roster.is_settled(kPid));
  EXPECT_FALSE(roster.is_settled(kOther));
  EXPECT_FALSE(roster.note_failure(kPid)) << "that it is left out is told once";
}

TEST(Roster, leaves_a_process_out_at_once_if_told) {
  Roster roster(3);
  roster.leave_out(kPid);
  EXPECT_TRUE(roster.is_settled(kPid));
}

TEST(Roster, the_first_process_is_one_that_nothing_matches_in_if_there_is_no_other) {
  Roster roster(1);
  EXPECT_TRUE(roster.empty());
  EXPECT_EQ(roster.first(), nullptr);
  const Idle idle;
  auto process = proc::Process::open(idle.pid());
  ASSERT_TRUE(process) << process.error().message();
  roster.unarmed().push_back(*std::move(process));
  EXPECT_EQ(roster.first(), &roster.unarmed().front());
  EXPECT_FALSE(roster.empty());
}

}  // namespace
}  // namespace blip::session
