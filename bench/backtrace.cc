// SPDX-License-Identifier: MIT
// Measures what a backtrace costs: the blob's walk as a pad calls it, a chain of frame pointers as the floor,
// glibc's backtrace(). usage: blip_backtrace_bench [FRAMES]; prints a line of JSON for each.
#include <execinfo.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "runtime/test_blob.h"
#include "unwind/stacks.h"
#include "unwind/test_self.h"

namespace {

using namespace blip;

constexpr int kRounds = 15;
constexpr int kCalls = 20'000;

abi::SafeWord load_unchecked(uint64_t address) { return {unwind::StackWindow::load(address), 1}; }

double thread_ns() {
  timespec t;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

template <typename Work>
void measure(const char* name, int frames, const Work& work) {
  double times[kRounds];
  for (double& time : times) {
    const double begin = thread_ns();
    for (int i = 0; i < kCalls; ++i) work();
    time = (thread_ns() - begin) / kCalls;
  }
  std::sort(times, times + kRounds);
  std::printf("{\"what\": \"%s\", \"frames\": %d, \"min\": %.1f, \"median\": %.1f}\n", name, frames, times[0],
              times[kRounds / 2]);
}

struct Bench {
  unwind::StackTableSize size{.slots = 1024, .frames = 1 << 16, .depth = 64};
  std::vector<uint64_t> memory = std::vector<uint64_t>(size.bytes() / 8);
  unwind::StackTableReader stacks =
      unwind::StackTableReader::create({reinterpret_cast<uint8_t*>(memory.data()), memory.size() * 8}, size);
  Mapping code = runtime::callable_blob();
  std::vector<uint64_t> cache = std::vector<uint64_t>(abi::kCachedRules);

  uint64_t walk(uint64_t rip, uint64_t rsp) const {
    uint64_t hit = rip, id = rsp;
    const uint8_t* header = unwind::own_tables().header();
    asm volatile("call *%%rbx"
                 : "+d"(id), "+a"(hit), "+c"(header)
                 : "b"(code.data() + runtime::kBacktraceOffset)
                 : "memory", "cc");
    return id;
  }
};

// As many links as frames, laid out as a compiler with frame pointers would.
void measure_floor(int frames) {
  std::vector<uint64_t> stack(static_cast<size_t>(frames + 1) * 8);
  for (size_t i = 0; i + 8 < stack.size(); i += 8) {
    stack[i] = reinterpret_cast<uint64_t>(&stack[i + 8]);
    stack[i + 1] = i + 1;
  }
  measure("frame pointers", frames, [&] {
    uint64_t sum = 0;
    const uint64_t* frame = stack.data();
    for (int i = 0; i < frames; ++i) {
      sum = (sum + frame[1]) * 0x9e3779b97f4a7c15;
      frame = reinterpret_cast<const uint64_t*>(frame[0]);
    }
    asm volatile("" ::"r"(sum));
  });
}

[[gnu::noinline]] void at_the_end(Bench& bench) {
  BLIP_OWN_REGISTERS(registers);
  auto& header = unwind::own_tables().arena->header();
  const auto frames_of = [&] {
    const auto stack = bench.stacks.find(static_cast<uint32_t>(bench.walk(registers.rip, registers.rsp)));
    return static_cast<int>(stack ? stack->frames.size() : 0);
  };
  header.safe_load_addr = reinterpret_cast<uint64_t>(&load_unchecked);
  const int frames = frames_of();
  measure("blip, no cache", frames, [&] { bench.walk(registers.rip, registers.rsp); });
  header.cache_addr = reinterpret_cast<uint64_t>(bench.cache.data());
  measure("blip", frames, [&] { bench.walk(registers.rip, registers.rsp); });
  measure_floor(frames);
  void* theirs[64];
  measure("glibc", frames, [&] { ::backtrace(theirs, std::min(frames, 64)); });
}

// Frames as different functions make them.
template <int n>
[[gnu::noinline]] void deeper(Bench& bench, int levels) {
  volatile char room[16 + n * 40];
  room[n] = 1;
  if (levels <= 0)
    at_the_end(bench);
  else
    deeper<(n * 5 + 3) % 8>(bench, levels - 1);
  room[0] = room[n];
}

}  // namespace

int main(int argc, char** argv) {
  const int frames = argc > 1 ? std::atoi(argv[1]) : 10;
  constexpr int kAround = 6;  // at_the_end, the first deeper, main and what called it
  Bench bench;
  reinterpret_cast<blip::abi::StackTable*>(bench.memory.data())->depth = static_cast<uint32_t>(frames);
  blip::unwind::own_tables().arena->header().stacks_addr = reinterpret_cast<uint64_t>(bench.memory.data());
  deeper<1>(bench, std::max(0, frames - kAround + 2));
}
