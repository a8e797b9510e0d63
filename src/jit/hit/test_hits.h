// SPDX-License-Identifier: MIT
// For tests only: one instruction with a program on it, run in this process from a state of one's choice, and
// what the interpreter says of the same.
#pragma once

#include <sys/rseq.h>
#include <sys/uio.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "jit/pad.h"
#include "jit/stubs.h"
#include "ring/counters.h"
#include "ring/range_publisher.h"
#include "ring/reader.h"
#include "ring/shared_reader.h"
#include "ring/test_region.h"
#include "script/ir/interpret.h"
#include "x86/test_machine.h"

namespace blip::jit::test {

inline constexpr uint16_t kHitClass = abi::kFirstClass;

// The state before the instruction, and this process's memory.
class LiveMachine : public script::Machine {
 public:
  explicit LiveMachine(const x86::test::MachineState& state) : state_(state) {}

  uint64_t took = 0;
  bool is_tail = false;
  std::vector<std::optional<uint64_t>> entries;

  uint64_t general(unsigned n) const override { return state_.general.gpr[n]; }
  uint64_t vector(unsigned n, bool high) const override {
    constexpr size_t kXmmOffset = 160;  // in the image of XSAVE
    uint64_t half;
    std::memcpy(&half, &state_.vectors.bytes[kXmmOffset + 16 * n + (high ? 8 : 0)], sizeof half);
    return half;
  }
  uint64_t flags() const override { return state_.general.rflags; }
  uint64_t thread_pointer() const override {
    uint64_t pointer;
    asm("mov %%fs:0, %0" : "=r"(pointer));
    return pointer;
  }
  bool read(uint64_t address, void* to, size_t bytes) const override {
    const iovec local{to, bytes}, remote{reinterpret_cast<void*>(address), bytes};
    return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
  }
  uint64_t result() const override { return is_tail ? 0 : state_.general.gpr[0]; }
  uint64_t latency() const override { return took; }
  uint64_t depth() const override { return 0; }
  uint64_t tail() const override { return is_tail; }
  std::optional<uint64_t> entry_value(uint64_t n) const override { return entries.at(n); }

 private:
  const x86::test::MachineState& state_;
};

// Places for the outputs behind the hit word and a field.
inline Action action_of(const script::HitProgram& hit) {
  Action p{.class_id = kHitClass, .switch_index = 0, .hit = hit};
  uint32_t at = abi::kHitWordOffset;
  if (!hit.outputs.empty()) at += abi::kHitWordSize;
  p.fields.push_back({Capture::kRegister, 7, static_cast<uint16_t>(at)});  // rdi
  at += 8;
  uint32_t dynamic = 0;
  for (const script::Output& o : hit.outputs) {
    using Kind = script::Output::Kind;
    p.output_offsets.push_back(static_cast<uint16_t>(at));
    at += o.is_dynamic() ? 2 : o.kind == Kind::kValue ? o.size : o.count;
    if (o.is_dynamic()) dynamic += o.kind == Kind::kString ? o.count : o.count * o.size;
  }
  p.fixed_size = at;
  p.record_size = (at + dynamic + 7) / 8 * 8;
  return p;
}

// Returns the bytes that a record holds of its outputs.
inline std::vector<script::OutputBytes> outputs_of(const Action& p, std::span<const uint8_t> record) {
  uint64_t hit_word;
  std::memcpy(&hit_word, &record[abi::kHitWordOffset], sizeof hit_word);
  std::vector<script::OutputBytes> all;
  size_t next = p.fixed_size;
  for (size_t i = 0; i < p.hit.outputs.size(); ++i) {
    const script::Output& o = p.hit.outputs[i];
    script::OutputBytes bytes{.is_fault = (hit_word >> (abi::kHitFaultShift + i) & 1) != 0};
    size_t at = p.output_offsets[i];
    size_t size = o.kind == script::Output::Kind::kValue ? o.size : o.count;
    if (o.is_dynamic()) {
      uint16_t length;
      std::memcpy(&length, &record[at], sizeof length);
      bytes.is_cut = (length & abi::kLengthCut) != 0;
      size = length & (abi::kLengthCut - 1);
      at = next;
      next += size;
    }
    CHECK(at + size <= record.size());
    bytes.bytes.assign(&record[at], &record[at] + size);
    all.push_back(std::move(bytes));
  }
  CHECK((next + 7) / 8 * 8 == record.size());
  return all;
}

struct HitScene {
  bool rseq = true;
  bool flags_live = true;
  bool skip_red_zone = true;
  uint16_t live_registers = 0xffff;
  bool is_return = false;
  bool is_tail = false;
  Recorded recorded{};               // by others
  const script::HitProgram* kept{};  // what the entry keeps; none: nothing
  // Other actions at the same place, of the classes that follow kHitClass; `before`: so many of them come
  // first.
  std::vector<script::HitProgram> company{};
  size_t before = 0;
};
inline constexpr uint32_t kMostCompany = 2;

class HitRunner {
 public:
  // `ranges`: with a table of memory that sections may read.
  explicit HitRunner(bool ranges = false) : region_(geometry(ranges)) {
    std::memcpy(machine_.code(), kNop, sizeof kNop);
    uint8_t* end = machine_.code() + sizeof kNop;
    *end = 0xe9;  // jmp exit
    const auto rel = static_cast<int32_t>(machine_.exit().value - reinterpret_cast<uint64_t>(end) - 5);
    std::memcpy(end + 1, &rel, sizeof rel);
  }

  x86::test::Machine& machine() { return machine_; }
  // Sets what the table says from now on.
  void set_ranges(std::vector<AddrRange> ranges) { ranges_ = std::move(ranges); }
  ring::TestRegion& region() { return region_; }

  // Puts the action on the instruction; false: it was refused.
  Result<Pad> build(const Action& action, const HitScene& scene) {
    action_ = action;
    action_.is_return = scene.is_return;
    action_.is_tail = scene.is_tail;
    action_.frame_id = kHitClass;
    enter_ = {.effect = Effect::kEnter, .switch_index = 0, .frame_id = kHitClass};
    if (scene.kept) enter_.hit = *scene.kept;
    action_.kept = static_cast<uint32_t>(enter_.hit.outputs.size());
    gather_company(scene);
    describe(scene);
    TRY(const AreaPrologue prologue, build_area_prologue(addr(machine_.pads().data()), env_));
    std::copy(prologue.code.begin(), prologue.code.end(), machine_.pads().begin());
    uint8_t* at = machine_.pads().data() + (prologue.code.size() + kPadAlign - 1) / kPadAlign * kPadAlign;
    PadPoint point{.flags_live = scene.flags_live,
                   .skip_red_zone = scene.skip_red_zone,
                   .live_registers = scene.live_registers};
    // One that remembers the call for each.
    for (size_t i = 0; scene.is_return && i <= company_.size(); ++i) point.actions.push_back(&enter_);
    for (size_t i = 0; i < scene.before; ++i) point.actions.push_back(&company_[i]);
    point.actions.push_back(&action_);
    for (size_t i = scene.before; i < company_.size(); ++i) point.actions.push_back(&company_[i]);
    const PadSite site{.addr = addr(machine_.code()), .window = kNop, .points = {&point, 1}};
    TRY(Pad pad, build_pad(addr(at), site, env_, prologue.stubs));
    CHECK(pad.code.size() <= max_pad_size(site));
    CHECK(at + pad.code.size() <= machine_.pads().data() + machine_.pads().size());
    std::copy(pad.code.begin(), pad.code.end(), at);
    machine_.code()[0] = 0xe9;  // jmp pad
    const auto rel = static_cast<int32_t>(at - machine_.code() - 5);
    std::memcpy(machine_.code() + 1, &rel, sizeof rel);
    pad_ = at;
    return pad;
  }

  // Runs it once. The record, if any.
  std::optional<std::vector<uint8_t>> run(x86::test::MachineState& state) {
    region_.format();
    region_.header()->shadow_by_thread = env_.process.rseq.has_value();
    region_.gate()->pid = ::getpid();
    region_.region()[region_.geometry().switches_offset()] = abi::kSwitchOn;
    publish();
    signal_ = machine_.run(state, machine_.code());
    return take_record();
  }
  // Returns what the state becomes without a probe, because parts of it are never as they were loaded.
  x86::test::MachineState run_unprobed(const x86::test::MachineState& start) {
    x86::test::MachineState state = start;
    CHECK(machine_.run(state, machine_.code() + sizeof kNop) == 0);
    return state;
  }
  int signal() const { return signal_; }
  bool was_in_section() const { return in_section_; }
  uint64_t discarded() const {
    return ring::CounterReader(region_.geometry(), region_.region()).totals().discarded;
  }
  const Action& action() const { return action_; }
  const std::vector<Action>& company() const { return company_; }
  // The record of the last run; none if nothing was recorded.
  const std::optional<std::vector<uint8_t>>& company_record(size_t i) const { return records_[i + 1]; }
  const uint8_t* pad() const { return pad_; }

 private:
  static constexpr uint8_t kNop[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

  void publish() {
    region_.gate()->own_ranges = 1;
    if (!region_.geometry().ranges || ranges_.empty()) return;
    ring::RangePublisher publisher(region_.geometry(), region_.region());
    CHECK(publisher.publish(publisher.begin().value(), ranges_, TargetAddr(0)));
  }

  static abi::Geometry geometry(bool ranges) {
    return {.ring_count = static_cast<uint32_t>(::sysconf(_SC_NPROCESSORS_CONF)),
            .class_count = kHitClass + 1 + kMostCompany,
            .subbuf_count = 2,
            .subbuf_size = 1 << 14,
            .probe_count = 1,
            .slot_size = 4096,
            .slot_count = 8,
            .ranges = ranges};
  }
  static TargetAddr addr(const void* p) { return x86::test::Machine::addr(p); }

  void gather_company(const HitScene& scene) {
    company_.clear();
    action_.call = enter_.call = Action::kOwnCall;
    if (scene.company.empty()) return;
    if (action_.is_return) action_.call = enter_.call = 1;
    for (const script::HitProgram& hit : scene.company) {
      Action p = action_of(hit);
      p.class_id = static_cast<uint32_t>(kHitClass + 1 + company_.size());
      p.is_return = action_.is_return;
      p.is_tail = action_.is_tail;
      p.frame_id = action_.frame_id;
      p.kept = action_.kept;
      p.call = action_.call;
      company_.push_back(std::move(p));
    }
  }

  void describe(const HitScene& scene) {
    env_ = {};
    env_.process.geometry = region_.geometry();
    env_.process.control = addr(region_.region());
    env_.channels = {{.geometry = env_.process.geometry, .control = env_.process.control}};
    env_.process.shadow_size = ring::TestRegion::kShadow;
    env_.process.recorded = scene.recorded;
    for (const Action& p : company_) env_.process.recorded |= recorded_by(p);
    if (!company_.empty() || scene.is_return) env_.process.recorded |= recorded_by(action_);
    if (scene.rseq && __rseq_size != 0)
      env_.process.rseq = Rseq{.offset = static_cast<int32_t>(__rseq_offset), .signature = RSEQ_SIG};
  }

  std::optional<std::vector<uint8_t>> take_record() {
    std::vector<uint32_t> sizes = {0, sizeof(abi::ProcessRecord), size_of(action_)};
    for (const Action& p : company_) sizes.push_back(size_of(p));
    records_.assign(1 + company_.size(), std::nullopt);
    const auto take = [&](uint64_t, uint16_t id, const uint8_t* record, uint32_t size) {
      if (id < kHitClass) return;
      CHECK(!records_[id - kHitClass]);
      records_[id - kHitClass].emplace(record, record + size);
    };
    ring::DrainStats stats;
    for (uint32_t i = 0; i < region_.geometry().ring_count; ++i)
      stats += ring::RingReader(region_.geometry(), region_.region(), i, sizes).drain(take);
    in_section_ = records_.front().has_value();
    stats += ring::SharedRingReader(region_.geometry(), region_.region(), sizes).finish(take);
    CHECK(stats.malformed == 0);
    return records_.front();
  }

  static uint32_t size_of(const Action& p) {
    const uint32_t least = (p.fixed_size + 7) / 8 * 8;
    return p.hit.outputs.empty() ? least : ring::dynamic_size(least, p.record_size);
  }

  x86::test::Machine machine_;
  ring::TestRegion region_;
  std::vector<AddrRange> ranges_;
  Environment env_;
  Action action_, enter_;
  std::vector<Action> company_;
  std::vector<std::optional<std::vector<uint8_t>>> records_;  // by class, from kHitClass on
  uint8_t* pad_ = nullptr;
  int signal_ = 0;
  bool in_section_ = false;
};

}  // namespace blip::jit::test
