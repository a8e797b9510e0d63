// SPDX-License-Identifier: MIT
// Real restartable sequences, written by hand as the pads do it, against the real reader: threads that stay,
// threads that migrate, signals whose handlers hit probes themselves, other processes on the same rings. The
// count must be exact.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/rseq.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "ring/counters.h"
#include "ring/reader.h"
#include "ring/shared_reader.h"
#include "ring/test_region.h"
#include "ring/writer.h"

namespace blip::ring {
namespace {

// The values that the sections need; a pad has it as immediates.
struct SectionArgs {
  const uint32_t* gate;
  uint64_t controls;
  uint64_t ring_count;
  uint64_t subbuf_mask;
  uint64_t subbuf_size;
  uint64_t ring_mask;
  uint64_t ring_size;
};

enum Outcome : uint32_t { kDone = 0, kNoRoom = 1, kElsewhere = 2 };

extern "C" {
uint32_t blip_test_hit(const SectionArgs*, uint64_t class_id, uint64_t size, uint64_t field,
                       int64_t rseq_offset);
// kNoRoom comes with the CPU in the upper 24 bits.
uint32_t blip_test_switch(const SectionArgs*, int64_t rseq_offset);
}

asm(R"(
    .intel_syntax noprefix
    .section .data.rel.ro, "aw", @progbits
    .balign 32
blip_test_hit_cs:
    .long 0, 0
    .quad blip_test_hit_start, blip_test_hit_end - blip_test_hit_start, blip_test_hit_abort
    .balign 32
blip_test_switch_cs:
    .long 0, 0
    .quad blip_test_switch_start, blip_test_switch_end - blip_test_switch_start, blip_test_switch_abort

    .text
    .globl blip_test_hit
blip_test_hit:
    lea rax, [rip + blip_test_hit_cs]
    mov fs:[r8 + 8], rax
blip_test_hit_start:
    mov r9, [rdi]
    cmp dword ptr [r9], 1
    jne blip_test_hit_elsewhere
    mov r11d, fs:[r8 + 4]
    cmp r11, [rdi + 16]
    jae blip_test_hit_elsewhere
    shl r11, 7
    add r11, [rdi + 8]
    mov r9, [r11]                       # pos
    mov r10, r9
    and r10, [rdi + 24]
    add r10, rdx
    cmp r10, [rdi + 32]
    jae blip_test_hit_no_room
    mov r10, r9
    and r10, [rdi + 40]
    add r10, [r11 + 8]
    mov r8, rdx                         # rdtsc takes rdx
    rdtsc
    shl rdx, 32
    or rax, rdx
    shl rax, 16
    or rax, rsi
    mov [r10], rax
    mov [r10 + 8], rcx
    not rcx
    mov [r10 + r8 - 8], rcx             # the last word is the field's complement
    add r9, r8
    mov [r11], r9                       # publish
blip_test_hit_end:
    xor eax, eax
    ret
blip_test_hit_no_room:
    mov eax, 1
    ret
    .byte 0x0f, 0xb9, 0x3d
    .long 0x53053053
blip_test_hit_abort:
blip_test_hit_elsewhere:
    mov eax, 2
    ret

    .globl blip_test_switch
blip_test_switch:
    mov r8, rsi
    lea rax, [rip + blip_test_switch_cs]
    mov fs:[r8 + 8], rax
blip_test_switch_start:
    mov r9, [rdi]
    cmp dword ptr [r9], 1
    jne blip_test_switch_elsewhere
    mov ecx, fs:[r8 + 4]
    cmp rcx, [rdi + 16]
    jae blip_test_switch_elsewhere
    mov r11, rcx
    shl r11, 7
    add r11, [rdi + 8]
    mov r9, [r11]
    mov r10, r9
    or r10, [rdi + 24]
    inc r10                             # next
    mov rax, r10
    add rax, [rdi + 32]
    sub rax, [r11 + 64]                 # consumed
    cmp rax, [rdi + 48]
    ja blip_test_switch_no_room
    and r9, [rdi + 40]
    add r9, [r11 + 8]
    mov qword ptr [r9], 0               # padding
    mov [r11], r10
blip_test_switch_end:
    xor eax, eax
    ret
blip_test_switch_no_room:
    mov eax, ecx
    shl eax, 8
    or eax, 1
    ret
    .byte 0x0f, 0xb9, 0x3d
    .long 0x53053053
blip_test_switch_abort:
blip_test_switch_elsewhere:
    mov eax, 2
    ret
    .att_syntax
    .text
)");

constexpr uint32_t kSizes[] = {0, 24, 40, 72};
constexpr uint16_t kClasses = 4;

// Everything the writers share; lives in shared memory so that child processes count in the same place.
struct Totals {
  std::atomic<uint64_t> hits;
  std::atomic<uint64_t> elsewhere;
  std::atomic<uint32_t> running;
};

class RseqRing : public testing::Test {
 protected:
  RseqRing()
      : geometry_{.ring_count = static_cast<uint32_t>(get_nprocs_conf()),
                  .class_count = kClasses,
                  .subbuf_count = 4,
                  .subbuf_size = 4096,
                  .slot_size = 128,
                  .slot_count = 256},
        region_(geometry_),
        totals_memory_(*Mapping::create(4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        totals_(new (totals_memory_.data()) Totals{}) {
    args_ = {&region_.gate()->gate, reinterpret_cast<uint64_t>(region_.ring_control(0)),
             geometry_.ring_count,  geometry_.subbuf_size - 1u,
             geometry_.subbuf_size, geometry_.ring_size() - 1,
             geometry_.ring_size()};
    for (uint32_t ring = 0; ring < geometry_.ring_count; ++ring)
      readers_.push_back(std::make_unique<RingReader>(geometry_, region_.region(), ring, kSizes));
    shared_ = std::make_unique<SharedRingReader>(geometry_, region_.region(), kSizes);
    region_.gate()->no_syscalls = 1;
  }

  void SetUp() override {
    if (__rseq_size == 0) GTEST_SKIP() << "this libc did not register rseq";
  }

  void hit(uint64_t number) {
    const auto class_id = static_cast<uint16_t>(1 + number % 3);
    totals_->hits.fetch_add(1, std::memory_order_relaxed);
    for (;;) {
      uint32_t outcome = blip_test_hit(&args_, class_id, kSizes[class_id], number, __rseq_offset);
      if (outcome == kDone) return;
      if (outcome == kNoRoom) outcome = blip_test_switch(&args_, __rseq_offset);
      if (outcome == kDone) continue;
      if (outcome == kElsewhere) return hit_shared(class_id, number);
      return discard(outcome >> 8, class_id);
    }
  }

  void discard(uint32_t cpu, uint16_t class_id) {
    const uint64_t offset = geometry_.counter_offset(abi::kDiscarded, cpu, class_id);
    __atomic_fetch_add(reinterpret_cast<uint64_t*>(region_.region() + offset), 1, __ATOMIC_RELAXED);
    ::sched_yield();  // let the consumer make room, so that there is something to check
  }

  void hit_shared(uint16_t class_id, uint64_t number) {
    totals_->elsewhere.fetch_add(1, std::memory_order_relaxed);
    const Reservation r = reserve(region_.region(), class_id);
    if (r.record == nullptr) return;
    const uint64_t complement = ~number;
    std::memcpy(r.record + 8, &number, sizeof number);
    std::memcpy(r.record + kSizes[class_id] - 8, &complement, sizeof complement);
    commit(r);
  }

  auto checked_sink() {
    last_tsc_ = 0;
    return [this](uint64_t tsc, uint16_t class_id, const uint8_t* record, uint32_t size) {
      uint64_t number, complement;
      std::memcpy(&number, record + 8, sizeof number);
      std::memcpy(&complement, record + size - 8, sizeof complement);
      torn_ += complement != ~number || class_id != 1 + number % 3 || tsc < last_tsc_;
      last_tsc_ = tsc;
    };
  }

  DrainStats drain_all() {
    DrainStats stats;
    for (auto& reader : readers_) stats += reader->drain(checked_sink());
    stats += shared_->drain(checked_sink());
    return stats;
  }

  // Drains until the writers are done; then everything must add up.
  void expect_exact(const std::function<void()>& before_join = [] {}) {
    DrainStats stats;
    while (totals_->running.load() != 0) {
      stats += drain_all();
      ::usleep(200);
    }
    before_join();
    for (auto& thread : threads_) thread.join();
    stats += drain_all();
    stats += shared_->finish(checked_sink());
    const CounterTotals counted = CounterReader(geometry_, region_.region()).totals();
    EXPECT_EQ(torn_, 0u);
    EXPECT_EQ(stats.malformed, 0u);
    EXPECT_GT(stats.records, 0u);
    EXPECT_EQ(stats.records + stats.discarded + counted.discarded, totals_->hits.load());
  }

  template <class Body>
  void start(Body body) {
    totals_->running.fetch_add(1);
    threads_.emplace_back([this, body] {
      body();
      totals_->running.fetch_sub(1);
    });
  }

  static void pin(unsigned cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu % static_cast<unsigned>(get_nprocs()), &set);
    ::sched_setaffinity(0, sizeof set, &set);  // where this fails the thread simply stays where it is
  }

  abi::Geometry geometry_;
  TestRegion region_;
  Mapping totals_memory_;
  Totals* totals_;
  SectionArgs args_{};
  std::vector<std::unique_ptr<RingReader>> readers_;
  std::unique_ptr<SharedRingReader> shared_;
  std::vector<std::thread> threads_;
  uint64_t last_tsc_ = 0;
  uint64_t torn_ = 0;
};

constexpr uint64_t kHits = 400'000;

// Not faster than the tiny rings can be drained most of the time.
void breathe(uint64_t i) {
  if (i % 256 == 0) ::sched_yield();
}

TEST_F(RseqRing, pinned_threads) {
  for (unsigned t = 0; t < 4; ++t) {
    start([this, t] {
      pin(t);
      for (uint64_t i = 0; i < kHits; ++i) {
        hit(i);
        breathe(i);
      }
    });
  }
  expect_exact();
}

TEST_F(RseqRing, migrating_threads) {
  for (unsigned t = 0; t < 4; ++t) {
    start([this, t] {
      for (uint64_t i = 0; i < kHits; ++i) {
        if (i % 64 == 0) pin(static_cast<unsigned>(i / 64 + t));
        hit(i);
        breathe(i);
      }
    });
  }
  expect_exact();
}

std::function<void()> g_hit_in_handler;

TEST_F(RseqRing, signal_handlers_that_hit_too) {
  g_hit_in_handler = [this] { hit(99); };
  struct sigaction action {};
  struct sigaction old {};
  action.sa_handler = [](int) { g_hit_in_handler(); };
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &old), 0);
  for (unsigned t = 0; t < 2; ++t) {
    start([this] {
      for (uint64_t i = 0; i < kHits; ++i) {
        hit(i);
        breathe(i);
      }
    });
  }
  // Joined last, so the ids stay valid to the end of the storm.
  std::vector<pthread_t> victims;
  for (auto& thread : threads_) victims.push_back(thread.native_handle());
  std::thread storm([&] {
    while (totals_->running.load() != 0) {
      for (pthread_t victim : victims) ::pthread_kill(victim, SIGUSR1);
      ::sched_yield();
    }
  });
  expect_exact([&] { storm.join(); });
  ::sigaction(SIGUSR1, &old, nullptr);
}

TEST_F(RseqRing, processes_share_the_rings) {
  pid_t children[3];
  totals_->running = 3;
  for (pid_t& child : children) {
    child = ::fork();
    ASSERT_GE(child, 0);
    if (child != 0) continue;
    for (uint64_t i = 0; i < kHits; ++i) {
      hit(i);
      breathe(i);
    }
    totals_->running.fetch_sub(1);
    ::_exit(0);
  }
  expect_exact();
  for (pid_t child : children) ::waitpid(child, nullptr, 0);
}

TEST_F(RseqRing, a_killed_process_leaves_whole_records_only) {
  for (int round = 0; round < 10; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0)
      for (uint64_t i = 0;; ++i) hit(i);
    DrainStats stats;
    for (int i = 0; i < 20 || (stats.records == 0 && i < 50'000); ++i) {
      stats += drain_all();
      ::usleep(200);
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    stats += drain_all();
    EXPECT_EQ(stats.malformed, 0u);
    EXPECT_GT(stats.records, 0u);
  }
  EXPECT_EQ(torn_, 0u);
}

TEST_F(RseqRing, a_closed_gate_sends_every_hit_elsewhere) {
  region_.gate()->gate = abi::kGateOpen + abi::kGateChild;
  for (uint64_t i = 0; i < 100; ++i) hit(i);
  EXPECT_EQ(totals_->elsewhere.load(), 100u);
  expect_exact();
}

}  // namespace
}  // namespace blip::ring
