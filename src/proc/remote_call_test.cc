// SPDX-License-Identifier: MIT
#include "proc/remote_call.h"
#include "machine/stub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>

#include "proc/test_caller.h"
#include "proc/test_child.h"

// guard_loop(flag, out): sets every register it may, the flags and the red zone to known values, waits for
// the flag and writes what it finds to out: 13 registers, rflags, 16 words of red zone, xmm7.
asm(R"(
    .pushsection .text
    .globl guard_loop
guard_loop:
    push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15
    push %rsi
    mov %rdi, %rcx
    mov $0x1111111111111111, %rax; mov $0x2222222222222222, %rbx
    mov $0x3333333333333333, %rdx; mov $0x4444444444444444, %rsi
    mov $0x5555555555555555, %rdi; mov $0x6666666666666666, %rbp
    mov $0x8888888888888888, %r8;  mov $0x9999999999999999, %r9
    mov $0xaaaaaaaaaaaaaaaa, %r10; mov $0xbbbbbbbbbbbbbbbb, %r11
    mov $0xcccccccccccccccc, %r12; mov $0xdddddddddddddddd, %r13
    mov $0xeeeeeeeeeeeeeeee, %r14
    movq %r14, %xmm7
    mov %rcx, %r15
    mov $16, %ecx
1:  lea 0x7700(%rcx), %rax
    mov %rax, -136(%rsp,%rcx,8)
    loop 1b
    mov $0x1111111111111111, %rax
    push $0x8d5; popf                      # CF PF AF ZF SF OF
    mov $0x7710, %ecx
    mov %rcx, -8(%rsp)                     # push has used this word of the red zone
2:  mov (%r15), %rcx                       # neither mov nor jrcxz touches the flags
    jrcxz 2b
    mov %rax, 8+guard_saved(%rip)
    mov -8(%rsp), %rax
    mov %rax, guard_saved(%rip)
    pushf
    pop %rcx
    mov guard_saved(%rip), %rax
    mov %rax, -8(%rsp)
    mov (%rsp), %rax
    xchg %rax, %r15
    mov 8+guard_saved(%rip), %rax
    mov %rax, (%r15);     mov %rbx, 8(%r15);   mov %rdx, 16(%r15);  mov %rsi, 24(%r15)
    mov %rdi, 32(%r15);   mov %rbp, 40(%r15);  mov %r8, 48(%r15);   mov %r9, 56(%r15)
    mov %r10, 64(%r15);   mov %r11, 72(%r15);  mov %r12, 80(%r15);  mov %r13, 88(%r15)
    mov %r14, 96(%r15);   mov %rcx, 104(%r15); movq %xmm7, 240(%r15)
    mov $16, %ecx
3:  mov -136(%rsp,%rcx,8), %rax
    mov %rax, 104(%r15,%rcx,8)
    loop 3b
    pop %rsi
    pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx
    ret
    .popsection
    .pushsection .bss
guard_saved: .space 16
    .popsection
)");

extern "C" void guard_loop(volatile uint64_t* flag, uint64_t* out);

namespace blip::proc {
namespace {

using test::Child;
using test::map_and_unmap;
using test::with_caller;
using testing::HasSubstr;

volatile uint64_t guard_flag = 0;

void run_guard_loop(Child& self) {
  uint64_t seen[31] = {};
  self.tell(1);
  guard_loop(&guard_flag, seen);
  for (const uint64_t value : seen) self.tell(static_cast<int64_t>(value));
}

void sleep_forever(Child& self) {
  self.tell(1);
  for (;;) ::pause();
}

std::set<std::string> descriptors_of(pid_t pid) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd"))
    names.insert(entry.path().filename().string() + std::filesystem::read_symlink(entry.path()).string());
  return names;
}

std::string maps_of(pid_t pid) {
  return read_proc_file("/proc/" + std::to_string(pid) + "/maps").value_or("");
}

Status make_and_remove_memfd(RemoteCaller& caller, pid_t pid) {
  TRY(const int fd, remote_memfd_create(caller, "blip-test", MFD_CLOEXEC));
  TRY_OK(remote_ftruncate(caller, fd, 2 * kPageSize));
  TRY(const TargetAddr addr, remote_mmap(caller, TargetAddr(0), 2 * kPageSize, PROT_READ, MAP_SHARED, fd, 0));
  TRY(const Fd mine, open_target_fd(pid, fd));
  TRY_OK(remote_close(caller, fd));
  TRY(Memory memory, Memory::open(pid));
  if (::pwrite(mine.get(), "blip", 4, 5000) != 4) return Error::from_errno(errno, "pwrite");
  TRY(const uint32_t seen, memory.read_value<uint32_t>(addr + 5000));
  EXPECT_EQ(seen, 0x70696c62u);
  EXPECT_THAT(maps_of(pid), HasSubstr("/memfd:blip-test"));
  TRY_OK(remote_madvise(caller, addr, 2 * kPageSize, MADV_DONTFORK));
  return remote_munmap(caller, addr, 2 * kPageSize);
}

Status die_after_a_call(RemoteCaller& caller) {
  TRY_OK(map_and_unmap(caller));
  ::raise(SIGKILL);
  return {};
}

// Lets the guard loop end and looks at what it found.
void expect_guarded_values(Child& child) {
  auto memory = Memory::open(child.pid());
  ASSERT_TRUE(memory->write(TargetAddr(reinterpret_cast<uint64_t>(&guard_flag)), std::vector<uint8_t>{1}));
  for (const uint64_t digit : {1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14})
    EXPECT_EQ(static_cast<uint64_t>(*child.hear()), digit * 0x1111111111111111);
  EXPECT_EQ(*child.hear() & 0x8d5, 0x8d5);
  for (int64_t word = 1; word <= 16; ++word) EXPECT_EQ(*child.hear(), 0x7700 + word);
  EXPECT_EQ(static_cast<uint64_t>(*child.hear()), 0xeeeeeeeeeeeeeeee);
}

TEST(RemoteCall, registers_flags_and_red_zone_stay) {
  Child child(run_guard_loop);
  ASSERT_TRUE(child.hear());
  test::nap(5);
  for (int i = 0; i < 50; ++i) {
    const Status status = with_caller(child.pid(), map_and_unmap);
    ASSERT_TRUE(status) << status.error().message();
  }
  expect_guarded_values(child);
}

TEST(RemoteCall, restores_itself_when_the_tracer_dies) {
  Child child(run_guard_loop);
  ASSERT_TRUE(child.hear());
  test::nap(5);
  for (int i = 0; i < 20; ++i) {
    Child tracer([&](Child&) { (void)with_caller(child.pid(), die_after_a_call); });
    EXPECT_EQ(WTERMSIG(tracer.wait()), SIGKILL);
  }
  expect_guarded_values(child);
}

// The target is stopped by SIGSTOP, so that the thread is still in the dead tracer's stub when the next one
// comes.
TEST(RemoteCall, thread_still_in_the_stub_of_a_dead_tracer) {
  Child child(run_guard_loop);
  ASSERT_TRUE(child.hear());
  test::nap(5);
  child.kill(SIGSTOP);
  ASSERT_TRUE(child.wait_for_state('T'));
  Child tracer([&](Child&) { (void)with_caller(child.pid(), die_after_a_call); });
  EXPECT_EQ(WTERMSIG(tracer.wait()), SIGKILL);
  ASSERT_TRUE(child.wait_for_state('T'));
  const Status status = with_caller(child.pid(), map_and_unmap);
  ASSERT_TRUE(status) << status.error().message();
  child.kill(SIGCONT);
  expect_guarded_values(child);
}

TEST(RemoteCall, maps_descriptors_and_text_stay) {
  Child child(sleep_forever);
  ASSERT_TRUE(child.hear());
  auto memory = Memory::open(child.pid());
  const auto site = find_stub_site(*memory, *read_maps(child.pid()));
  ASSERT_TRUE(site) << site.error().message();
  const std::string maps = maps_of(child.pid());
  const auto descriptors = descriptors_of(child.pid());
  for (int i = 0; i < 20; ++i) {
    const Status status = with_caller(
        child.pid(), [&](RemoteCaller& caller) { return make_and_remove_memfd(caller, child.pid()); });
    ASSERT_TRUE(status) << status.error().message();
  }
  EXPECT_EQ(maps_of(child.pid()), maps);
  EXPECT_EQ(descriptors_of(child.pid()), descriptors);
  std::vector<uint8_t> now(site->original.size());
  ASSERT_TRUE(memory->read(site->addr, now));
  EXPECT_EQ(now, site->original);
}

TEST(RemoteCall, errors_of_the_call_are_errors) {
  Child child(sleep_forever);
  ASSERT_TRUE(child.hear());
  const Status status = with_caller(child.pid(), [](RemoteCaller& caller) -> Status {
    EXPECT_EQ(remote_close(caller, 12345).error().errno_value(), EBADF);
    EXPECT_THAT(remote_close(caller, 12345).error().message(), HasSubstr("close"));
    EXPECT_EQ(caller.call(SYS_nanosleep, 0, 0).error().kind(), ErrorKind::kUnsupported);
    EXPECT_EQ(*caller.call(SYS_gettid), static_cast<uint64_t>(caller.tid()));
    TRY(const TargetAddr page,
        remote_mmap(caller, TargetAddr(0), kPageSize, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    const auto taken = remote_mmap(caller, page, kPageSize, PROT_READ,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    EXPECT_EQ(taken.error().errno_value(), EEXIST);
    return remote_munmap(caller, page, kPageSize);
  });
  EXPECT_TRUE(status) << status.error().message();
}

TEST(RemoteCall, a_left_over_stub_is_not_taken_for_the_original) {
  Child child(sleep_forever);
  ASSERT_TRUE(child.hear());
  auto memory = Memory::open(child.pid());
  const auto maps = read_maps(child.pid());
  const auto clean = find_stub_site(*memory, *maps);
  ASSERT_TRUE(clean);
  ASSERT_TRUE(memory->write(clean->addr, machine::make_stub(0x1234)));
  const auto again = find_stub_site(*memory, *maps);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->addr, clean->addr);
  EXPECT_EQ(again->original, clean->original);
}

TEST(RemoteCall, group_stopped_process_stays_stopped) {
  Child child(sleep_forever);
  ASSERT_TRUE(child.hear());
  child.kill(SIGSTOP);
  ASSERT_TRUE(child.wait_for_state('T'));
  for (int i = 0; i < 10; ++i) {
    const Status status = with_caller(child.pid(), map_and_unmap);
    ASSERT_TRUE(status) << status.error().message();
    ASSERT_TRUE(child.wait_for_state('T'));
  }
  child.kill(SIGCONT);
  EXPECT_TRUE(child.wait_for_state('S'));
}

TEST(RemoteCall, blocked_or_ignored_sigtrap_stays_so) {
  for (const bool block : {false, true}) {
    Child child([block](Child& self) {
      sigset_t all;
      ::sigfillset(&all);
      if (block) ::sigprocmask(SIG_SETMASK, &all, nullptr);
      ::signal(SIGTRAP, SIG_IGN);
      sleep_forever(self);
    });
    ASSERT_TRUE(child.hear());
    const auto before = read_status(child.pid(), child.pid());
    ASSERT_TRUE(with_caller(child.pid(), map_and_unmap));
    const auto after = read_status(child.pid(), child.pid());
    EXPECT_EQ(before->blocked, after->blocked);
    EXPECT_EQ(before->ignored, after->ignored);
    EXPECT_EQ(before->caught, after->caught);
    EXPECT_EQ(after->pending | after->shared_pending, 0u);
  }
}

// The results of a list that is longer than what fits on a stack; in between, one call that fails.
Status run_list(RemoteCaller& caller) {
  constexpr size_t kCalls = 21;
  CallList list;
  for (size_t i = 0; i < kCalls; ++i) {
    if (i == 7)
      list.add(SYS_close, 12345);
    else if (i % 2 == 0)
      list.add(SYS_gettid);
    else
      list.add_with_text(SYS_access, "/proc/self", 0);
  }
  TRY_OK(caller.run(list));
  for (size_t i = 0; i < kCalls; ++i) {
    if (i == 7)
      EXPECT_EQ(list.result(i).error().errno_value(), EBADF);
    else
      EXPECT_EQ(list.result(i).value_or(4711), i % 2 == 0 ? static_cast<uint64_t>(caller.tid()) : 0) << i;
  }
  return {};
}

void tell_that_it_sleeps(Child& self) {
  self.tell(1);
  sleep_forever(self);
}

TEST(RemoteCall, lists_are_run_in_order_and_give_their_results) {
  Child child(tell_that_it_sleeps);
  ASSERT_TRUE(child.hear());
  const Status status = with_caller(child.pid(), run_list);
  EXPECT_TRUE(status) << status.error().message();
  EXPECT_TRUE(child.wait_for_state('S'));
}

TEST(RemoteCall, lists_in_a_thread_that_blocks_all_signals) {
  Child child([](Child& self) {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    tell_that_it_sleeps(self);
  });
  ASSERT_TRUE(child.hear());
  const Status status = with_caller(child.pid(), run_list);
  EXPECT_TRUE(status) << status.error().message();
  EXPECT_TRUE(child.wait_for_state('S'));
  EXPECT_EQ(read_status(child.pid(), child.pid())->pending, 0u);
}

Status run_list_in_lent_memory(RemoteCaller& caller) {
  constexpr uint64_t kSize = 16 * kPageSize;
  TRY(const int fd, remote_memfd_create(caller, "blip-test", MFD_CLOEXEC));
  TRY_OK(remote_ftruncate(caller, fd, kSize));
  TRY(const TargetAddr there,
      remote_mmap(caller, TargetAddr(0), kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  TRY(const Fd mine, open_target_fd(caller.pid(), fd));
  TRY_OK(remote_close(caller, fd));
  auto* const here =
      static_cast<uint8_t*>(::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, mine.get(), 0));
  const std::span<uint8_t> page(here + kSize - kPageSize, kPageSize);
  caller.lend(there + (kSize - kPageSize), page);
  TRY_OK(run_list(caller));
  caller.lend({}, {});
  EXPECT_EQ(std::count(page.begin(), page.end(), 0), static_cast<ssize_t>(page.size()));
  ::munmap(here, kSize);
  return remote_munmap(caller, there, kSize);
}

TEST(RemoteCall, lists_in_memory_that_is_lent) {
  Child child(run_guard_loop);
  ASSERT_TRUE(child.hear());
  for (int i = 0; i < 20; ++i) {
    const Status status = with_caller(child.pid(), run_list_in_lent_memory);
    ASSERT_TRUE(status) << status.error().message();
  }
  expect_guarded_values(child);
}

volatile sig_atomic_t times_caught = 0;

// One that the program asks for while lists are run: each is caught, and none besides.
TEST(RemoteCall, lists_while_signals_arrive) {
  constexpr int kRounds = 40;
  Child child([](Child& self) {
    ::signal(SIGUSR1, [](int) { times_caught = times_caught + 1; });
    ::signal(SIGURG, [](int) { times_caught = times_caught + 1000; });
    self.tell(1);
    while (times_caught % 1000 < kRounds) ::pause();
    self.tell(times_caught);
  });
  ASSERT_TRUE(child.hear());
  for (int i = 0; i < kRounds; ++i) {
    const Status status = with_caller(child.pid(), [&](RemoteCaller& caller) -> Status {
      child.kill(SIGUSR1);
      return run_list(caller);
    });
    ASSERT_TRUE(status) << status.error().message();
    test::nap(1);
  }
  EXPECT_EQ(child.hear(), kRounds);
}

// The tracer dies where a list is half done: the thread makes the rest, and goes on.
TEST(RemoteCall, a_list_of_a_tracer_that_dies) {
  Child child(run_guard_loop);
  ASSERT_TRUE(child.hear());
  test::nap(5);
  for (int i = 0; i < 20; ++i) {
    Child tracer([&](Child&) {
      (void)with_caller(child.pid(), [](RemoteCaller& caller) -> Status {
        TRY_OK(run_list(caller));
        ::raise(SIGKILL);
        return {};
      });
    });
    EXPECT_EQ(WTERMSIG(tracer.wait()), SIGKILL);
  }
  expect_guarded_values(child);
}

// Raises SIGSYS for executable mappings and for memfd_create, allows the rest.
void install_filter() {
  const auto offset_of_argument = [](int n) {
    return static_cast<uint32_t>(offsetof(seccomp_data, args) + sizeof(uint64_t) * static_cast<size_t>(n));
  };
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset_of_argument(2)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
  };
  sock_fprog program{sizeof code / sizeof *code, code};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

void become_user() {
  if (::setresgid(1234, 1234, 1234) != 0 || ::setresuid(1234, 1234, 1234) != 0) ::_exit(1);
  ::prctl(PR_SET_DUMPABLE, 1);
}

Status probe_filtered(RemoteCaller& caller, bool restricted) {
  EXPECT_EQ(caller.restricted(), restricted);
  TRY_OK(map_and_unmap(caller));
  const auto code = remote_mmap(caller, TargetAddr(0), kPageSize, PROT_READ | PROT_EXEC,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const auto fd = remote_memfd_create(caller, "x", 0);
  EXPECT_EQ(code.has_value(), !restricted);
  EXPECT_EQ(fd.has_value(), !restricted);
  if (restricted) {
    EXPECT_EQ(code.error().kind(), ErrorKind::kPermission) << code.error().message();
    EXPECT_EQ(fd.error().kind(), ErrorKind::kUnsupported);
    return map_and_unmap(caller);
  }
  TRY_OK(remote_close(caller, *fd));
  return remote_munmap(caller, *code, kPageSize);
}

TEST(RemoteCall, works_for_an_ordinary_user) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root";
  Child child([](Child& self) {
    become_user();
    sleep_forever(self);
  });
  ASSERT_TRUE(child.hear());
  Child helper([&](Child& self) {
    become_user();
    const Status status = with_caller(
        child.pid(), [&](RemoteCaller& caller) { return make_and_remove_memfd(caller, child.pid()); });
    EXPECT_TRUE(status) << status.error().message();
    self.tell(testing::Test::HasFailure() ? 1 : 0);
  });
  EXPECT_EQ(helper.hear(), 0);
  EXPECT_TRUE(child.wait_for_state('S'));
}

TEST(RemoteCall, seccomp_filter_as_root_is_suspended) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root";
  Child child([](Child& self) {
    install_filter();
    sleep_forever(self);
  });
  ASSERT_TRUE(child.hear());
  const Status status =
      with_caller(child.pid(), [](RemoteCaller& caller) { return probe_filtered(caller, false); });
  EXPECT_TRUE(status) << status.error().message();
  EXPECT_TRUE(child.wait_for_state('S'));
}

TEST(RemoteCall, seccomp_filter_as_user_is_respected) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root";
  Child child([](Child& self) {
    become_user();
    install_filter();
    sleep_forever(self);
  });
  ASSERT_TRUE(child.hear());
  Child helper([&](Child& self) {
    become_user();
    const Status status =
        with_caller(child.pid(), [](RemoteCaller& caller) { return probe_filtered(caller, true); });
    EXPECT_TRUE(status) << status.error().message();
    self.tell(testing::Test::HasFailure() ? 1 : 0);
  });
  EXPECT_EQ(helper.hear(), 0);
  EXPECT_TRUE(child.wait_for_state('S')) << "SIGSYS was not for the program";
}

}  // namespace
}  // namespace blip::proc
