// SPDX-License-Identifier: MIT
// A child whose threads map, unmap, protect, move, trim and truncate through its C library, and read in real
// restartable sequences whatever blip has published. A load of what is gone would end it by a signal.
#include "probe/arm/range_feed.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>

#include "probe/code/resolve.h"
#include "probe/inject/readable_memory.h"
#include "probe/patch/plan.h"
#include "ring/ranges.h"
#include "ring/test_safe_read.h"

extern "C" {
[[gnu::noinline, gnu::used]] uint64_t function_of_a_reader(uint64_t a) {
  asm volatile("" : "+r"(a));
  return a + 1;
}
}

namespace blip::probe {
namespace {

constexpr uint64_t kPage = 4096;

struct Shared {
  std::atomic<uint64_t> control;  // where the child finds the data region; 0: not yet
  std::atomic<uint64_t> reads, elsewhere, changes;
  std::atomic<int> readers;  // that have not come to their end
  std::atomic<bool> stop, stop_reading;
};

class Child {
 public:
  using Work = void (*)(Shared&, std::minstd_rand&);

  Child(std::vector<Work> works, int readers) {
    shared_ = static_cast<Shared*>(
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    shared_->readers = readers;
    pid_ = ::fork();
    if (pid_ == 0) run(works, readers);
  }
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::munmap(shared_, sizeof(Shared));
  }
  pid_t pid() const { return pid_; }
  Shared& shared() const { return *shared_; }
  // How it ended, as by waitpid.
  int finish() {
    shared_->stop = true;
    int status = -1;
    ::waitpid(pid_, &status, 0);
    return status;
  }
  // They are no pads: the memory they look at would be taken from under them.
  void stop_reading() const {
    shared_->stop_reading = true;
    while (shared_->readers != 0 && is_alive()) ::usleep(1000);
  }
  bool is_alive() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
  }

 private:
  [[noreturn]] void run(const std::vector<Work>& works, int readers) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::vector<std::thread> all;
    for (size_t i = 0; i < works.size(); ++i) {
      all.emplace_back([this, work = works[i], i] {
        std::minstd_rand random(static_cast<unsigned>(i + 1));
        for (uint64_t n = 0; !shared_->stop; ++n) {
          work(*shared_, random);
          function_of_a_reader(n);
          ++shared_->changes;
        }
      });
    }
    for (int i = 0; i < readers; ++i) all.emplace_back([this, i] { read(static_cast<uint32_t>(i)); });
    for (std::thread& t : all) t.join();
    ::_exit(0);
  }

  // A page of any range of the table.
  static uint64_t some_page(const abi::RangeControl& ranges, std::minstd_rand& random) {
    const abi::RangeTable& table = ranges.tables[abi::range_table(ranges.word)];
    if (table.count == 0 || table.count > abi::kMaxRanges) return 0;
    const abi::ValidRange& range = table.ranges[random() % table.count];
    const uint64_t end = __atomic_load_n(&range.end, __ATOMIC_RELAXED);
    return end <= range.start ? 0 : range.start + random() % ((end - range.start) / kPage) * kPage;
  }

  void read(uint32_t hint) {
    std::minstd_rand random(hint + 1);
    while (!shared_->stop && shared_->control == 0) ::usleep(100);
    auto* control = reinterpret_cast<uint8_t*>(shared_->control.load());
    blip_test_safe_read_owner = reinterpret_cast<uint64_t>(control);
    while (!shared_->stop_reading) {
      const abi::RangeControl& ranges = *ring::range_control(control);
      const uint64_t page = some_page(ranges, random);
      const bool done = ring::find_range(control, page, hint) && ring::test_safe_read(control, page, hint);
      ++(done ? shared_->reads : shared_->elsewhere);
      if (!done) ::sched_yield();
    }
    --shared_->readers;
  }

  Shared* shared_;
  pid_t pid_;
};

void map_and_unmap(Shared&, std::minstd_rand& random) {
  const size_t size = (1 + random() % 64) * kPage;
  const int populate = random() % 2 == 0 ? MAP_POPULATE : 0;  // without, every first read is a page fault
  auto* memory = static_cast<uint8_t*>(
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | populate, -1, 0));
  if (memory == MAP_FAILED) ::_exit(2);
  ::usleep(random() % 3000);
  switch (random() % 4) {
    case 0:
      ::mprotect(memory, size, PROT_NONE);
      break;
    case 1:
      if (::mmap(memory, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != memory)
        ::_exit(3);
      break;
    case 2:
      if (void* moved = ::mremap(memory, size, 2 * size, MREMAP_MAYMOVE); moved != MAP_FAILED) {
        ::syscall(SYS_munmap, moved, 2 * size);
        return;
      }
      break;
    default:
      break;
  }
  ::munmap(memory, size);
}

void use_the_heap(Shared&, std::minstd_rand& random) {
  std::vector<void*> all;
  for (unsigned i = 0; i < 64; ++i) all.push_back(std::malloc(1 + random() % 200'000));
  ::usleep(random() % 2000);
  for (void* p : all) std::free(p);
  ::malloc_trim(0);
}

// Not while blip attaches: a thread that has no restartable sequences yet would decide for all.
void start_threads(Shared& shared, std::minstd_rand&) {
  if (shared.control == 0) {
    ::usleep(1000);
    return;
  }
  std::thread t([] {
    uint8_t stack[5 * kPage];
    asm volatile("movb $1, %0" : "=m"(stack[0]));
    ::usleep(500);
  });
  t.join();
}

// Of a file, which is nobody's to read without asking.
void truncate_a_file(Shared&, std::minstd_rand& random) {
  const int fd = static_cast<int>(::syscall(SYS_memfd_create, "data", 0));
  if (::ftruncate(fd, 8 * kPage) != 0) ::_exit(4);
  void* memory = ::mmap(nullptr, 8 * kPage, PROT_READ, MAP_PRIVATE, fd, 0);
  ::usleep(random() % 3000);
  if (::ftruncate(fd, 0) != 0) ::_exit(5);
  ::usleep(random() % 3000);
  ::munmap(memory, 8 * kPage);
  ::close(fd);
}

struct Traced {
  explicit Traced(pid_t pid) : process(*proc::Process::open(pid)), memory(*proc::Memory::open(pid)) {
    modules = std::move(load_modules(process, memory, *proc::read_maps(pid))->modules);
  }

  Result<std::unique_ptr<Instrumentation>> arm() {
    const std::vector<elf::Spec> specs{*elf::parse_spec("function_of_a_reader")};
    TRY(const auto targets, resolve_functions(specs, modules));
    const FunctionTarget& t = targets.front();
    x86::TrampolineSpace none;
    const std::vector<Point> points{{.addr = t.function.addr, .is_entry = true, .function = t.function}};
    ModulePlan plan = plan_points(modules[t.module], points, {}, none);
    ModuleSites sites(modules.size());
    sites[t.module] = std::move(plan.sites);
    std::vector<Probe> probes{
        {t.module, plan.probes.front(), {.effect = jit::Effect::kCount, .class_id = abi::kFirstClass}}};
    return Instrumentation::arm(
        process, memory, modules, std::move(sites), std::move(probes),
        {.geometry = {.class_count = abi::kFirstClass + 1, .ranges = true}, .modules_complete = true});
  }

  proc::Process process;
  proc::Memory memory;
  std::vector<Module> modules;
};

uint64_t control_of(const Instrumentation& i) {
  return reinterpret_cast<const abi::DataHeader*>(i.region())->control_addr;
}

// Other tests in this program bring code of their own: bytes of it may look like a system call.
bool calls_by_itself(const Instrumentation& i) {
  return i.no_ranges().find("makes system calls of its own") != std::string::npos;
}

constexpr uint64_t kEnough = 20'000;

class RangeFeedTest : public testing::Test {
 protected:
  void SetUp() override {
    if (__rseq_size == 0) GTEST_SKIP() << "this libc did not register rseq";
  }
};

TEST_F(RangeFeedTest, nothing_faults_while_everything_changes) {
  Child child({map_and_unmap, map_and_unmap, use_the_heap, start_threads, truncate_a_file}, 3);
  Traced traced(child.pid());
  auto armed = traced.arm();
  ASSERT_TRUE(armed) << armed.error().message();
  if (calls_by_itself(**armed)) GTEST_SKIP() << (*armed)->no_ranges();
  ASSERT_EQ((*armed)->no_ranges(), "");
  RangeFeed feed(traced.process, traced.memory, traced.modules, **armed);
  child.shared().control = control_of(**armed);
  while (child.is_alive() && feed.obstacle().empty() &&
         (child.shared().reads < kEnough || feed.published() < 50)) {
    feed.refresh();
    ::usleep(1000);
  }
  EXPECT_EQ(feed.obstacle(), "");
  std::printf("reads %lu, elsewhere %lu, changes %lu, published %lu\n", child.shared().reads.load(),
              child.shared().elsewhere.load(), child.shared().changes.load(), feed.published());
  child.stop_reading();
  auto removed = (*armed)->disarm();
  ASSERT_TRUE(removed) << removed.error().message();
  EXPECT_EQ(child.finish(), 0);
}

TEST_F(RangeFeedTest, code_at_run_time_ends_it) {
  Child child({[](Shared&, std::minstd_rand&) {
                static void* code =
                    ::mmap(nullptr, kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                ::usleep(code == MAP_FAILED ? 1 : 1000);
              }},
              0);
  while (child.shared().changes == 0) ::usleep(1000);
  Traced traced(child.pid());
  auto armed = traced.arm();
  ASSERT_TRUE(armed) << armed.error().message();
  if (calls_by_itself(**armed)) GTEST_SKIP() << (*armed)->no_ranges();
  RangeFeed feed(traced.process, traced.memory, traced.modules, **armed);
  feed.refresh();
  EXPECT_EQ(feed.obstacle(), "the program makes code at run time");
  EXPECT_EQ(feed.published(), 0u);
}

proc::Map map_of(uint64_t begin, uint64_t pages, std::string path, const char* flags) {
  proc::Map map;
  map.range = {TargetAddr(begin), TargetAddr(begin + pages * kPage)};
  map.read = flags[0] == 'r';
  map.write = flags[1] == 'w';
  map.shared = flags[3] == 's';
  map.inode = !path.empty() && path[0] == '/' ? 1 : 0;
  map.path = std::move(path);
  return map;
}

TEST(ReadableMemory, is_private_and_nobody_elses) {
  const std::vector<proc::Map> maps = {
      map_of(0x10000, 2, "", "rw-p"),
      map_of(0x20000, 1, "[heap]", "rw-p"),
      map_of(0x30000, 1, "/data", "r--p"),
      map_of(0x40000, 1, "/dev/shm/x", "rw-s"),
      map_of(0x50000, 1, "", "---p"),
      map_of(0x60000, 1, "[vvar]", "r--p"),
      map_of(0x70000, 1, "[vdso]", "r-xp"),
      map_of(0x80000, 1, "[anon:name]", "r--p"),
      map_of(0x90000, 1, "[anon_shmem:a]", "rw-s"),
      map_of(0xa0000, 3, "[stack]", "rw-p"),
  };
  const ReadableMemory memory = readable_memory(maps, {});
  EXPECT_THAT(memory.ranges,
              testing::ElementsAre(maps[0].range, maps[1].range, maps[7].range, maps[9].range));
  EXPECT_EQ(memory.heap_end, maps[1].range.end);
}

TEST(ReadableMemory, has_holes) {
  const auto range = [](uint64_t a, uint64_t b) { return AddrRange{TargetAddr(a), TargetAddr(b)}; };
  const std::vector<AddrRange> ranges = {range(10, 20), range(30, 40), range(50, 60), range(70, 80)};
  const std::vector<AddrRange> holes = {range(12, 14), range(16, 18), range(30, 40), range(55, 75)};
  EXPECT_THAT(without(ranges, holes), testing::ElementsAre(range(10, 12), range(14, 16), range(18, 20),
                                                           range(50, 55), range(75, 80)));
  EXPECT_EQ(without(ranges, {}), ranges);
}

}  // namespace
}  // namespace blip::probe
