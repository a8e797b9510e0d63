// SPDX-License-Identifier: MIT
// For tests only: a function of generated code with its entry and its exit probed, in this process.
//
//   f(inner, argument): inner(argument); return argument + 100
#pragma once

#include <sys/mman.h>
#include <sys/rseq.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "base/check.h"
#include "jit/pad.h"
#include "jit/stubs.h"
#include "ring/counters.h"
#include "ring/latency_reader.h"
#include "ring/reader.h"
#include "ring/shared_reader.h"
#include "ring/test_region.h"

namespace blip::jit::test {

inline constexpr uint16_t kClass = abi::kFirstClass;

// One return, as it was recorded.
struct Call {
  uint64_t time;  // of the return
  uint64_t result;
  uint64_t latency;
  uint16_t depth;
};

enum class Way { kRseq, kShared, kMonotonic };
inline const char* way_name(Way way) {
  return way == Way::kRseq ? "rseq" : way == Way::kShared ? "shared" : "monotonic";
}

// The values that the entry computes, and what the return makes of them.
struct Keeping {
  script::HitProgram kept, hit;
};

class ProbedFunction {
 public:
  using Inner = void (*)(uint64_t);

  // Records each return, or measures the calls.
  // `apart`: into a channel region that is not the home region.
  explicit ProbedFunction(Way way, Effect effect = Effect::kRecord, const Keeping& keeping = {},
                          bool apart = false)
      : region_(geometry(effect == Effect::kLatency, apart ? 0 : 1)) {
    if (apart) {
      home_.emplace(abi::Geometry{.class_count = abi::kFirstClass, .probe_count = 1});
      region_.gate()->gate = abi::kGateIgnored;  // nobody looks at it
    }
    auto arena =
        Mapping::create(kArenaSize, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(arena.has_value());
    arena_ = *std::move(arena);
    describe(way);
    return_.effect = effect;
    enter_.hit = keeping.kept;
    return_.hit = keeping.hit;
    return_.kept = static_cast<uint32_t>(keeping.kept.outputs.size());
    auto prologue = build_area_prologue(at(kPads), env_);
    CHECK(prologue.has_value());
    stubs_ = prologue->stubs;
    pads_end_ = kPads + prologue->code.size();
    std::copy(prologue->code.begin(), prologue->code.end(), arena_.data() + kPads);
    std::memcpy(arena_.data(), kCode, sizeof kCode);
    probe(kEntry, kEntrySize, 0, enter_);
    probe(kExit, kExitSize, kRetOffset, return_);
  }

  uint64_t operator()(Inner inner, uint64_t argument) const {
    return reinterpret_cast<uint64_t (*)(Inner, uint64_t)>(arena_.data())(inner, argument);
  }
  // With rsp such that the return address is at `slot`.
  uint64_t on_stack(uint64_t slot, Inner inner, uint64_t argument) const {
    uint64_t first = reinterpret_cast<uint64_t>(inner), result;
    asm volatile(
        "mov %%rsp, %%rbx\n\t"
        "mov %[top], %%rsp\n\t"
        "call *%[function]\n\t"
        "mov %%rbx, %%rsp"
        : "+D"(first), "+S"(argument), "=&a"(result)
        : [top] "r"(slot + 8), [function] "r"(arena_.data())
        : "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
    return result;
  }
  bool in_pads(uint64_t pc) const { return pc - at(kPads).value < kArenaSize - kPads; }

  // The channel region.
  ring::TestRegion& region() { return region_; }
  ring::TestRegion& home() { return home_ ? *home_ : region_; }
  ring::CounterTotals totals() const {
    return ring::CounterReader(region_.geometry(), region_.region()).class_totals(kClass);
  }
  ring::Histogram latencies() const {
    return ring::LatencyReader(region_.geometry(), region_.region()).class_latencies(kClass);
  }
  std::span<uint8_t> pads() { return {arena_.data() + kPads, kArenaSize - kPads}; }
  // All returns so far, sorted by time.
  std::vector<Call> calls();

 private:
  static constexpr size_t kArenaSize = 0x10000, kPads = 0x2000;
  static constexpr uint8_t kCode[] = {0x53,                    // push rbx
                                      0x48, 0x89, 0xf3,        // mov rbx, rsi
                                      0x48, 0x89, 0xf8,        // mov rax, rdi
                                      0x48, 0x89, 0xf7,        // mov rdi, rsi
                                      0xff, 0xd0,              // call rax
                                      0x48, 0x8d, 0x43, 0x64,  // lea rax, [rbx+100]
                                      0x5b,                    // pop rbx
                                      0xc3};                   // ret
  static constexpr size_t kEntry = 0, kEntrySize = 7, kExit = 12, kExitSize = 6, kRetOffset = 5;

  static abi::Geometry geometry(bool latencies, uint32_t probes) {
    return {.ring_count = static_cast<uint32_t>(::sysconf(_SC_NPROCESSORS_CONF)),
            .class_count = kClass + 1,
            .subbuf_count = 2,
            .subbuf_size = 1 << 20,
            .probe_count = probes,
            .slot_size = 64,
            .slot_count = 1 << 14,
            .latencies = latencies};
  }
  TargetAddr at(size_t offset) const {
    return TargetAddr(reinterpret_cast<uint64_t>(arena_.data() + offset));
  }

  void describe(Way way) {
    env_.process.geometry = home().geometry();
    env_.process.control = TargetAddr(reinterpret_cast<uint64_t>(home().region()));
    env_.channels = {{.geometry = region_.geometry(),
                      .control = TargetAddr(reinterpret_cast<uint64_t>(region_.region()))}};
    region_.header()->home_addr = env_.process.control.value;
    env_.process.shadow_size = ring::TestRegion::kShadow;
    if (way == Way::kRseq && __rseq_size != 0)
      env_.process.rseq = Rseq{.offset = static_cast<int32_t>(__rseq_offset), .signature = RSEQ_SIG};
    if (way == Way::kMonotonic) env_.process.monotonic = MonotonicClock{};
    home().header()->shadow_by_thread = env_.process.rseq.has_value();
    home().gate()->pid = ::getpid();
    home().region()[home().geometry().switches_offset()] = abi::kSwitchOn;
    enter_ = {.effect = Effect::kEnter, .switch_index = 0, .frame_id = kClass};
    return_ = {
        .class_id = kClass, .switch_index = 0, .record_size = 32, .is_return = true, .frame_id = kClass};
    return_.fields = {{Capture::kRegister, 0, 8}, {Capture::kLatency, 0, 16}, {Capture::kDepth, 0, 24}};
  }

  void probe(size_t offset, size_t size, uint8_t instruction, const Action& action) {
    pads_end_ = (pads_end_ + kPadAlign - 1) / kPadAlign * kPadAlign;
    const PadPoint point{.offset = instruction, .actions = {&action}};
    const PadSite site{.addr = at(offset), .window = {kCode + offset, size}, .points = {&point, 1}};
    auto pad = build_pad(at(pads_end_), site, env_, stubs_);
    CHECK(pad.has_value() && pads_end_ + pad->code.size() <= kArenaSize);
    CHECK(pad->code.size() <= max_pad_size(site));
    std::copy(pad->code.begin(), pad->code.end(), arena_.data() + pads_end_);
    const auto distance = static_cast<int32_t>(pads_end_ - offset - abi::kJumpSize);
    arena_.data()[offset] = 0xe9;  // jmp
    std::memcpy(arena_.data() + offset + 1, &distance, sizeof distance);
    pads_end_ += pad->code.size();
  }

  ring::TestRegion region_;
  std::optional<ring::TestRegion> home_;
  Mapping arena_;
  Environment env_;
  AreaStubs stubs_;
  Action enter_, return_;
  size_t pads_end_ = 0;
};

inline std::vector<Call> ProbedFunction::calls() {
  const uint32_t sizes[] = {0, sizeof(abi::ProcessRecord), 32};
  std::vector<Call> calls;
  const auto take = [&](uint64_t tsc, uint16_t id, const uint8_t* record, uint32_t) {
    if (id != kClass) return;
    Call call{.time = tsc, .result = 0, .latency = 0, .depth = 0};
    std::memcpy(&call.result, record + 8, 8);
    std::memcpy(&call.latency, record + 16, 8);
    std::memcpy(&call.depth, record + 24, sizeof call.depth);
    calls.push_back(call);
  };
  const ring::RecordClock now{env_.process.monotonic.has_value()};
  for (uint32_t i = 0; i < region_.geometry().ring_count; ++i)
    ring::RingReader(region_.geometry(), region_.region(), i, sizes).drain(take, now);
  ring::SharedRingReader(region_.geometry(), region_.region(), sizes).finish(take, now);
  std::stable_sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) { return a.time < b.time; });
  return calls;
}

}  // namespace blip::jit::test
