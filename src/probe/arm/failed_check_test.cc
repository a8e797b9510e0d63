// SPDX-License-Identifier: MIT
// A blip in which a CHECK fails while its probes are in a target: it ends, and the target goes on as it was.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/check.h"
#include "probe/patch/test_tactics.h"
#include "proc/attachment.h"
#include "proc/remote_call.h"
#include "proc/tracer_thread.h"

namespace blip::probe {
namespace {

class FailedCheck : public TracedWorker {
 protected:
  FailedCheck() : TracedWorker({tac_plain, tac_run, tac_neighbour}) {}

  // Another blip arms the worker and does `work` with it, in which a CHECK fails.
  template <typename Work>
  void expect_restored_after(Work&& work) {
    const pid_t blip = ::fork();
    if (blip == 0) {
      const rlimit no_core{};
      ::setrlimit(RLIMIT_CORE, &no_core);
      auto armed = traced_.arm(run());
      if (!armed || traced_.text() == text_) ::_exit(1);
      work(**armed);
      ::_exit(2);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(blip, &status, 0), blip);
    ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
    EXPECT_EQ(WTERMSIG(status), SIGABRT);
    EXPECT_EQ(traced_.text(), text_) << "restored before that blip ended";
    worker_.wait_rounds(1000);
    expect_clean();
  }
};

TEST_F(FailedCheck, while_the_target_runs) {
  expect_restored_after([](Instrumentation&) { CHECK(false); });
}

TEST_F(FailedCheck, in_another_thread) {
  expect_restored_after([](Instrumentation&) { std::thread([] { CHECK(false); }).join(); });
}

TEST_F(FailedCheck, while_all_threads_of_the_target_are_stopped) {
  expect_restored_after([&](Instrumentation&) {
    (void)proc::on_tracer_thread([&] {
      const auto attachment = proc::Attachment::stop_all(traced_.process_);
      CHECK(!attachment);
      return 0;
    });
  });
}

TEST_F(FailedCheck, while_the_target_makes_calls_for_blip) {
  expect_restored_after([&](Instrumentation&) {
    (void)proc::on_tracer_thread([&] {
      auto stub = proc::find_stub_site(traced_.memory_, *proc::read_maps(worker_.pid()));
      auto attachment = proc::Attachment::stop_one(traced_.process_);
      auto caller = proc::RemoteCaller::create(*attachment, traced_.memory_, std::move(*stub));
      CHECK(!caller);
      return 0;
    });
  });
}

TEST_F(FailedCheck, while_the_instrumentation_is_taken_out) {
  expect_restored_after([&](Instrumentation& armed) {
    EXPECT_TRUE(armed.disarm());
    CHECK(false);
  });
}

}  // namespace
}  // namespace blip::probe
