// SPDX-License-Identifier: MIT
#include "probe/code/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "proc/attachment.h"
#include "proc/command.h"
#include "proc/tracer_thread.h"

namespace blip::probe {
namespace {

using proc::Command;

std::string target(const std::string& name) { return std::string(BLIP_TEST_TARGET_DIR) + "/" + name; }

std::vector<Module> modules_of(pid_t pid) {
  const auto process = proc::Process::open(pid);
  const auto memory = proc::Memory::open(pid);
  const auto maps = proc::read_maps(pid);
  auto loaded = load_modules(*process, *memory, *maps);
  EXPECT_TRUE(loaded) << loaded.error().message();
  return std::move(loaded->modules);
}

bool has_module(const std::vector<Module>& modules, const std::string& name) {
  return std::any_of(modules.begin(), modules.end(),
                     [&](const Module& module) { return module.basename().starts_with(name); });
}

// The program at its milestone.
struct AtMilestone {
  explicit AtMilestone(const std::vector<std::string>& words) {
    auto started = Command::start(words);
    EXPECT_TRUE(started) << started.error().message();
    command.emplace(*std::move(started));
    const auto modules = modules_of(command->pid());
    milestone = Milestone::find(modules);
    if (!milestone) return;
    const auto memory = proc::Memory::open(command->pid());
    const auto end = command->run_to(milestone->addr(), [&] { return milestone->reached(*memory); });
    EXPECT_TRUE(end) << end.error().message();
    reached = end && *end == Command::RunEnd::kThere;
  }
  bool rseq_registered() const {
    return proc::on_tracer_thread([&] {
      const auto process = proc::Process::open(command->pid());
      auto attachment = proc::Attachment::stop_all(*process);
      return attachment->threads()[0].rseq()->area.value != 0;
    });
  }
  template <typename T>
  std::optional<T> variable(const std::string& module_name, const char* name) const {
    for (const Module& module : modules_of(command->pid())) {
      if (!module.basename().starts_with(module_name)) continue;
      const auto value = (*module.symbols())->object(name);
      const auto memory = proc::Memory::open(command->pid());
      if (value) return *memory->read_value<T>(module.to_target(FileAddr(*value)));
    }
    return std::nullopt;
  }
  int finish() {
    EXPECT_TRUE(command->go());
    return command->wait();
  }

  std::optional<Command> command;
  std::optional<Milestone> milestone;
  bool reached = false;
};

TEST(Milestone, glibc_has_relocated_all_libraries_and_run_no_constructor) {
  if (::access(target("spawned").c_str(), X_OK) != 0) GTEST_SKIP() << "e2e_targets are not built";
  AtMilestone program({target("spawned"), "5"});
  ASSERT_TRUE(program.reached);
  EXPECT_EQ(program.milestone->kind(), Milestone::Kind::kLibrariesReady);
  const auto modules = modules_of(program.command->pid());
  EXPECT_TRUE(has_module(modules, "libc.so"));
  EXPECT_TRUE(has_module(modules, "libspawned.so"));
  EXPECT_EQ(program.variable<uint64_t>("libspawned.so", "lib_calls"), 0u) << "its constructor would count";
  EXPECT_TRUE(program.rseq_registered());
  EXPECT_EQ(program.finish(), 0);
}

TEST(Milestone, musl_has_all_libraries) {
  if (::access(target("spawned_musl").c_str(), X_OK) != 0) GTEST_SKIP() << "musl-tools are not installed";
  AtMilestone program({target("spawned_musl"), "5"});
  ASSERT_TRUE(program.reached);
  EXPECT_EQ(program.milestone->kind(), Milestone::Kind::kLibrariesReady);
  EXPECT_EQ(program.variable<uint64_t>("spawned_musl", "early"), 0u) << "its constructor would count";
  EXPECT_EQ(program.finish(), 0);
}

TEST(Milestone, static_programs_are_at_main) {
  for (const char* name : {"spawned_static", "spawned_static_pie", "spawned_musl_static"}) {
    if (::access(target(name).c_str(), X_OK) != 0) GTEST_SKIP() << name << " is not built";
    AtMilestone program({target(name), "5"});
    ASSERT_TRUE(program.reached) << name;
    EXPECT_EQ(program.milestone->kind(), Milestone::Kind::kMain);
    EXPECT_EQ(program.rseq_registered(), std::string(name) != "spawned_musl_static") << name;
    const auto modules = modules_of(program.command->pid());
    EXPECT_TRUE(program.milestone->runs_before(modules.front()));
    EXPECT_EQ(program.finish(), 0);
  }
}

TEST(Milestone, an_auditor_s_own_libraries_do_not_count) {
  if (::access(target("libauditor.so").c_str(), F_OK) != 0) GTEST_SKIP() << "e2e_targets are not built";
  ::setenv("LD_AUDIT", target("libauditor.so").c_str(), 1);
  AtMilestone program({target("spawned"), "5"});
  ::unsetenv("LD_AUDIT");
  ASSERT_TRUE(program.reached);
  EXPECT_TRUE(has_module(modules_of(program.command->pid()), "libspawned.so"));
  EXPECT_TRUE(has_module(modules_of(program.command->pid()), "libauditor.so"));
  EXPECT_EQ(program.variable<uint64_t>("libspawned.so", "lib_calls"), 0u);
  EXPECT_EQ(program.finish(), 0);
}

TEST(Milestone, a_missing_library_ends_the_program_before) {
  ::setenv("LD_PRELOAD", "", 1);
  AtMilestone fine({"true"});
  EXPECT_TRUE(fine.reached);
  EXPECT_EQ(fine.finish(), 0);
  ::unsetenv("LD_PRELOAD");
  if (::access(target("spawned").c_str(), X_OK) != 0) GTEST_SKIP() << "e2e_targets are not built";
  // Away from its library, which it looks for beside itself.
  const std::string copy = "/tmp/blip-lonely-" + std::to_string(::getpid());
  ASSERT_EQ(std::system(("cp " + target("spawned") + " " + copy).c_str()), 0);
  AtMilestone program({copy});
  ::unlink(copy.c_str());
  EXPECT_FALSE(program.reached);
  EXPECT_EQ(WEXITSTATUS(program.command->wait()), 127);
}

TEST(Milestone, only_what_the_loader_calls_runs_before) {
  auto command = Command::start({"true"});
  ASSERT_TRUE(command);
  const auto modules = modules_of(command->pid());
  ASSERT_EQ(modules.size(), 2u);
  const auto milestone = Milestone::find(modules);
  ASSERT_TRUE(milestone);
  EXPECT_FALSE(milestone->runs_before(modules[0]));
  EXPECT_TRUE(milestone->runs_before(modules[1]));
}

TEST(Milestone, an_unknown_loader_leaves_the_entry) {
  auto command = Command::start({"true"});
  ASSERT_TRUE(command);
  auto modules = modules_of(command->pid());
  modules.pop_back();
  const auto milestone = Milestone::find(modules);
  ASSERT_TRUE(milestone);
  EXPECT_EQ(milestone->kind(), Milestone::Kind::kEntry);
  EXPECT_EQ(milestone->addr(), modules[0].to_target(modules[0].file().entry()));
}

}  // namespace
}  // namespace blip::probe
