// SPDX-License-Identifier: MIT
// Random programs with a probe on every instruction, each in a pad of its own and all in one run: what they
// leave in registers, flags, x87 and vector state and memory is what they leave unprobed, every executed
// instruction is one hit, and records hold the registers as they were.
#include <gtest/gtest.h>
#include <sys/rseq.h>
#include <unistd.h>

#include "jit/emit/assembler.h"
#include "jit/pad.h"
#include "jit/stubs.h"
#include "ring/counters.h"
#include "ring/test_region.h"
#include "x86/flow/liveness.h"
#include "x86/test_random_program.h"

namespace blip::jit {
namespace {

using x86::test::Machine;
using x86::test::Outcome;
using x86::test::RandomProgram;

constexpr uint16_t kClass = abi::kFirstClass;

abi::Geometry geometry() {
  return {.ring_count = static_cast<uint32_t>(::sysconf(_SC_NPROCESSORS_CONF)),
          .class_count = kClass + 1,
          .subbuf_count = 2,
          .subbuf_size = 1 << 16,
          .probe_count = 1,
          .slot_size = 256,
          .slot_count = 256};
}

enum class What { kCount, kOneRegister, kEverything, kContexts, kCall };
constexpr int kWhats = 5;
constexpr uint64_t kConstantValue = 0x1122334455667788;

Action action_of(What what) {
  Action p{.class_id = kClass, .switch_index = 0};
  if (what == What::kCount) p.effect = Effect::kCount;
  if (what == What::kOneRegister) p.fields.push_back({Capture::kRegister, 7});  // rdi
  if (what == What::kEverything) {
    for (uint8_t r = 0; r < 16; ++r) p.fields.push_back({Capture::kRegister, r});
    p.fields.push_back({Capture::kFlags});
  }
  if (what == What::kCall) {  // entered and returned from at each instruction
    p.fields = {{Capture::kRegister, 0}, {Capture::kLatency}, {Capture::kDepth}};
    p.is_return = true;
    p.frame_id = kClass;
  }
  if (what == What::kContexts)
    p.fields = {
        {Capture::kTid}, {Capture::kCpu}, {Capture::kThreadKey}, {Capture::kConstant, 0, 0, kConstantValue}};
  for (Field& f : p.fields) {
    f.offset = static_cast<uint16_t>(p.record_size);
    p.record_size += f.capture == Capture::kThreadKey ? 16 : 8;
  }
  return p;
}

struct Variant {
  bool rseq;
  bool monotonic;  // records take a system call for the time
  What what;
  bool use_liveness;
  bool on;

  std::string text() const {
    return fmt::format("rseq {} monotonic {} what {} liveness {} on {}", rseq, monotonic,
                       static_cast<int>(what), use_liveness, on);
  }
};

class PaddedProgram {
 public:
  PaddedProgram(Machine& machine, ring::TestRegion& region, RandomProgram& program, const Variant& variant)
      : machine_(machine), region_(region), program_(program), variant_(variant) {
    env_.process.geometry = region.geometry();
    env_.process.control = Machine::addr(region.region());
    env_.channels = {{.geometry = env_.process.geometry, .control = env_.process.control}};
    env_.process.tid_offset = tid_offset();
    if (variant.monotonic) env_.process.monotonic = MonotonicClock{};
    if (variant.rseq && __rseq_size != 0)
      env_.process.rseq = Rseq{.offset = static_cast<int32_t>(__rseq_offset), .signature = RSEQ_SIG};
    what_ = action_of(variant.what);
    env_.process.recorded = recorded_by(what_);
    env_.process.shadow_size = ring::TestRegion::kShadow;
    enter_ = {.effect = Effect::kEnter, .switch_index = 0, .frame_id = kClass};
    auto prologue = build_area_prologue(Machine::addr(machine.pads().data()), env_);
    CHECK(prologue.has_value());
    stubs_ = prologue->stubs;
    std::copy(prologue->code.begin(), prologue->code.end(), machine.pads().begin());
    pads_end_ = prologue->code.size();
    find_liveness();
  }

  // A jump to a pad on every instruction.
  Outcome run_each_alone() {
    return run([&] {
      for (size_t i = 0; i < program_.items().size(); ++i) {
        const auto& item = program_.items()[i];
        program_.lead_to(i, add_pad(item.offset, item.length, {point_of(i, 0)}));
      }
    });
  }

  // One jump at the start to a pad with everything.
  Outcome run_all_in_one() {
    return run([&] {
      std::vector<PadPoint> points;
      for (size_t i = 0; i < program_.items().size(); ++i)
        points.push_back(point_of(i, static_cast<uint8_t>(program_.items()[i].offset)));
      program_.lead_to(0, add_pad(0, program_.bytes().size(), points));
    });
  }

  // Since the last run.
  uint64_t hits() const {
    if (variant_.what == What::kCount)
      return ring::CounterReader(region_.geometry(), region_.region()).totals().hits;
    return ring_records().size() + slot_records().size();
  }

  // The records of a program without branches against the states it went through.
  std::string wrong_record() const {
    auto records = ring_records();
    if (records.empty()) records = slot_records();
    if (records.size() != program_.items().size()) return {};  // some were restarted into the other ring
    for (size_t i = 0; i < records.size(); ++i) {
      const auto& expected = program_.before(i).general;
      for (const Field& f : what_.fields)
        if (!holds(f, records[i][f.offset / 8], expected))
          return fmt::format("field at {} of record {}", f.offset, i);
    }
    return {};
  }

 private:
  // Returns the offset of the tid in glibc's struct pthread, if it is where it has been for long.
  static std::optional<int32_t> tid_offset() {
    constexpr int32_t kUsual = 0x2d0;
    uint64_t thread_pointer;
    asm("mov %%fs:0, %0" : "=r"(thread_pointer));
    const auto* tid = reinterpret_cast<const int32_t*>(thread_pointer + kUsual);
    return *tid == ::gettid() ? std::optional(kUsual) : std::nullopt;
  }

  bool holds(const Field& field, uint64_t word, const blip::test::Registers& expected) const {
    switch (field.capture) {
      case Capture::kRegister:
        return word == expected.gpr[field.reg];
      case Capture::kFlags:
        return word == expected.rflags;
      case Capture::kConstant:
        return word == kConstantValue;
      case Capture::kLatency:
        return word < 1'000'000'000'000;
      case Capture::kDepth:
        return static_cast<uint16_t>(word) == 0;
      case Capture::kTid:
      case Capture::kThreadKey:
        return !env_.process.tid_offset || static_cast<int32_t>(word) == ::gettid();
      default:
        return true;
    }
  }

  void find_liveness() {
    std::vector<x86::Insn> insns;
    const auto bytes = program_.bytes();
    for (size_t at = 0; at < bytes.size(); at += insns.back().length)
      insns.push_back(*x86::decode(bytes.subspan(at), program_.addr() + at));
    const auto live = x86::live_at_each(insns, x86::LivenessRule::kInside);
    for (const auto& item : program_.items()) {
      const auto it = std::find_if(insns.begin(), insns.end(), [&](const x86::Insn& x) {
        return x.addr == program_.addr() + item.offset;
      });
      live_.push_back(live[static_cast<size_t>(it - insns.begin())]);
    }
  }

  PadPoint point_of(size_t item, uint8_t offset) const {
    PadPoint point{.offset = offset, .actions = {&what_}};
    if (variant_.what == What::kCall) point.actions = {&enter_, &what_};
    if (variant_.use_liveness) {
      point.flags_live = live_[item].flags != 0;
      point.live_registers = live_[item].registers;
    }
    return point;
  }

  TargetAddr add_pad(size_t offset, size_t length, const std::vector<PadPoint>& points) {
    pads_end_ = (pads_end_ + kPadAlign - 1) / kPadAlign * kPadAlign;
    const TargetAddr at = Machine::addr(machine_.pads().data() + pads_end_);
    const PadSite site{.addr = program_.addr() + offset,
                       .window = program_.bytes().subspan(offset, length),
                       .points = points};
    auto pad = build_pad(at, site, env_, stubs_);
    EXPECT_TRUE(pad) << pad.error().message();
    CHECK(pad && pads_end_ + pad->code.size() <= machine_.pads().size());
    EXPECT_LE(pad->code.size(), max_pad_size(site));
    std::copy(pad->code.begin(), pad->code.end(), machine_.pads().begin() + pads_end_);
    pads_end_ += pad->code.size();
    return at;
  }

  Outcome run(const std::function<void()>& patch) {
    region_.format();
    region_.header()->shadow_by_thread = env_.process.rseq && !env_.process.monotonic;
    region_.gate()->pid = ::getpid();
    region_.gate()->tid_offset = abi::kNoTidOffset;  // the runtime asks the kernel
    region_.region()[region_.geometry().switches_offset()] = variant_.on ? abi::kSwitchOn : abi::kSwitchOff;
    const size_t end = pads_end_;
    Outcome outcome = program_.run(patch);
    pads_end_ = end;
    return outcome;
  }

  using Record = const uint64_t*;

  std::vector<Record> ring_records() const {
    std::vector<Record> records;
    for (uint32_t ring = 0; ring < region_.geometry().ring_count; ++ring) {
      const uint8_t* data = region_.ring_data(ring);
      for (uint64_t at = 0; at < region_.ring_control(ring)->pos;) {
        const auto record = reinterpret_cast<Record>(data + at);
        const bool is_hit = abi::header_class(*record) == kClass;
        if (is_hit) records.push_back(record);
        at += is_hit ? what_.record_size : sizeof(abi::ProcessRecord);
      }
    }
    return records;
  }

  std::vector<Record> slot_records() const {
    std::vector<Record> records;
    for (uint32_t i = 0; i < region_.geometry().slot_count; ++i) {
      const auto slot = reinterpret_cast<Record>(region_.region() + region_.geometry().slots_offset() +
                                                 uint64_t{i} * region_.geometry().slot_size);
      if (abi::slot_phase(*slot) == abi::kSlotFull) records.push_back(slot + 1);
    }
    return records;
  }

  Machine& machine_;
  ring::TestRegion& region_;
  RandomProgram& program_;
  Variant variant_;
  Environment env_;
  AreaStubs stubs_;
  Action what_, enter_;
  std::vector<x86::Liveness> live_;
  size_t pads_end_ = 0;
};

TEST(RegisterState, probed_programs_do_what_they_did) {
  constexpr int kPrograms = 4000;
  std::mt19937_64 random(x86::test::random_seed());
  Machine machine;
  x86::test::RandomCode code(random);
  ring::TestRegion region(geometry());
  std::map<std::string_view, size_t> kinds;
  size_t hits = 0;
  for (int n = 0; n < kPrograms && !HasFailure(); ++n) {
    RandomProgram program(machine, code, random, 1 + random() % 12);
    const Variant variant{.rseq = random() % 4 != 0,
                          .monotonic = random() % 8 == 0,
                          .what = static_cast<What>(random() % kWhats),
                          .use_liveness = random() % 3 != 0,
                          .on = random() % 8 != 0};
    SCOPED_TRACE(fmt::format("program {}, {}\n{}", n, variant.text(), program.listing()));
    const Outcome original = program.run();
    PaddedProgram padded(machine, region, program, variant);
    const auto check = [&](const Outcome& outcome) {
      EXPECT_EQ(program.difference(original, outcome), "");
      if (!program.has_branches()) {
        EXPECT_EQ(padded.hits(), variant.on ? program.items().size() : 0);
        EXPECT_EQ(variant.on && variant.what != What::kCount ? padded.wrong_record() : "", "");
      }
      return padded.hits();
    };
    const uint64_t alone = check(padded.run_each_alone());
    const uint64_t together = check(padded.run_all_in_one());
    EXPECT_EQ(alone, together);
    hits += alone + together;
    for (const auto& item : program.items())
      ++kinds[x86::decode(program.bytes().subspan(item.offset), program.addr())->mnemonic];
  }
  fmt::print("{} programs, {} hits, {} kinds of instructions\n", kPrograms, hits, kinds.size());
  EXPECT_GT(kinds.size(), 300u);
}

// Instructions with room for a jump each: nops in front, for behind a call there must be none.
class Writer {
 public:
  explicit Writer(TargetAddr at) : code_(at) {}

  asmjit::x86::Assembler& a() { return code_.assembler(); }
  asmjit::Label label() { return a().newLabel(); }
  template <class Emit>
  void item(Emit&& emit) {
    const size_t start = a().offset();
    for (size_t i = 1; i < x86::kJumpLength; ++i) a().nop();
    emit();
    items_.push_back({start, a().offset() - start});
  }
  RandomProgram program(Machine& machine, x86::test::RandomCode& code, std::mt19937_64& random) {
    return RandomProgram(machine, code, random, *code_.finish(), items_);
  }

 private:
  CodeBuffer code_;
  std::vector<RandomProgram::Item> items_;
};

struct Scene {
  const char* name;
  uint64_t executed;  // instructions
  void (*write)(Writer& w, TargetAddr exit);
};

using namespace asmjit::x86;  // NOLINT: register names

// Callees leave their return address in rbx.
void write_callee(Writer& w, const asmjit::Label& callee, int pop = 0) {
  w.a().bind(callee);
  w.item([&] { w.a().mov(rbx, ptr(rsp)); });
  w.item([&] { pop ? w.a().ret(pop) : w.a().ret(); });
}

const Scene kScenes[] = {
    {"call_direct", 5,
     [](Writer& w, TargetAddr exit) {
       auto callee = w.label();
       w.item([&] { w.a().call(callee); });
       w.item([&] { w.a().setc(al); });
       w.item([&] { w.a().jmp(exit.value); });
       write_callee(w, callee);
     }},
    {"call_register_and_ret_imm", 7,
     [](Writer& w, TargetAddr exit) {
       auto callee = w.label();
       w.item([&] { w.a().lea(r12, ptr(callee)); });
       w.item([&] { w.a().push(rdx); });
       w.item([&] { w.a().call(r12); });
       w.item([&] { w.a().adc(rcx, rdx); });
       w.item([&] { w.a().jmp(exit.value); });
       write_callee(w, callee, 8);
     }},
    {"call_through_the_stack", 9,
     [](Writer& w, TargetAddr exit) {
       auto callee = w.label();
       w.item([&] { w.a().lea(rax, ptr(callee)); });
       w.item([&] { w.a().push(rax); });
       w.item([&] { w.a().push(rdx); });
       w.item([&] { w.a().call(ptr(rsp, 8)); });
       w.item([&] { w.a().pop(rdx); });
       w.item([&] { w.a().pop(rax); });
       w.item([&] { w.a().jmp(exit.value); });
       write_callee(w, callee);
     }},
    {"stack_pointer", 7,
     [](Writer& w, TargetAddr exit) {
       w.item([&] { w.a().push(rsp); });
       w.item([&] { w.a().pop(rsp); });
       w.item([&] { w.a().enter(32, 0); });
       w.item([&] { w.a().mov(ptr(rsp, -100), rdi); });  // in the red zone
       w.item([&] { w.a().mov(rsi, ptr(rsp, -100)); });
       w.item([&] { w.a().leave(); });
       w.item([&] { w.a().jmp(exit.value); });
     }},
    {"loop_backwards", 2 + 5 * 3 + 1,
     [](Writer& w, TargetAddr exit) {
       auto again = w.label();
       w.item([&] { w.a().mov(ecx, 5); });
       w.item([&] { w.a().stc(); });
       w.a().bind(again);
       w.item([&] { w.a().adc(rdx, rcx); });
       w.item([&] { w.a().lea(rdi, ptr(rdi, rcx, 2)); });
       w.item([&] { w.a().loop(again); });
       w.item([&] { w.a().jmp(exit.value); });
     }},
    {"system_call", 5,
     [](Writer& w, TargetAddr exit) {
       w.item([&] { w.a().mov(eax, 39); });  // getpid
       w.item([&] { w.a().cmc(); });
       w.item([&] { w.a().syscall(); });
       w.item([&] { w.a().xor_(ecx, ecx); });  // held the address behind it
       w.item([&] { w.a().jmp(exit.value); });
     }},
};

class RegisterStateScenes : public ::testing::TestWithParam<Scene> {};

TEST_P(RegisterStateScenes, do_what_they_did) {
  std::mt19937_64 random(x86::test::random_seed());
  Machine machine;
  x86::test::RandomCode code(random);
  ring::TestRegion region(geometry());
  Writer writer(Machine::addr(machine.code()));
  GetParam().write(writer, machine.exit());
  for (int n = 0; n < 200 && !HasFailure(); ++n) {
    RandomProgram program = writer.program(machine, code, random);
    const Variant variant{.rseq = random() % 2 == 0,
                          .monotonic = false,
                          .what = static_cast<What>(random() % kWhats),
                          .use_liveness = random() % 2 == 0,
                          .on = true};
    SCOPED_TRACE(fmt::format("{}\n{}", variant.text(), program.listing()));
    const Outcome original = program.run();
    ASSERT_EQ(original.signal, 0);
    PaddedProgram padded(machine, region, program, variant);
    EXPECT_EQ(program.difference(original, padded.run_each_alone()), "");
    EXPECT_EQ(padded.hits(), GetParam().executed);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RegisterStateScenes, ::testing::ValuesIn(kScenes),
                         [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace blip::jit
