// SPDX-License-Identifier: MIT
// Machine code and interpreter agree on programs at random, from random states, and the code leaves nothing
// behind but its record.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <functional>

#include "jit/hit/test_hits.h"
#include "jit/listing.h"
#include "jit/program/hit_needs.h"
#include "script/ir/test_programs.h"
#include "script/ir/verify.h"
#include "x86/test_random_program.h"

namespace blip::jit {
namespace {

using test::HitRunner;
using test::HitScene;
using test::LiveMachine;
using x86::test::MachineState;

constexpr size_t kPage = abi::kPageSize;

// Two pages of short texts, then one that cannot be read.
class EdgeOfMemory {
 public:
  explicit EdgeOfMemory(std::mt19937_64& random) {
    bytes_ = static_cast<uint8_t*>(
        ::mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (size_t i = 0; i < 2 * kPage; ++i)
      bytes_[i] = static_cast<uint8_t>(random() % 8 == 0 ? 0 : 'a' + random() % 3);
    ::mprotect(end(), kPage, PROT_NONE);
    written_.assign(bytes_, end());
  }
  ~EdgeOfMemory() { ::munmap(bytes_, 3 * kPage); }
  EdgeOfMemory(const EdgeOfMemory&) = delete;
  EdgeOfMemory& operator=(const EdgeOfMemory&) = delete;

  uint8_t* end() const { return bytes_ + 2 * kPage; }
  bool is_unchanged() const { return std::equal(written_.begin(), written_.end(), bytes_); }
  AddrRange readable() const {
    return {TargetAddr(reinterpret_cast<uint64_t>(bytes_)), TargetAddr(reinterpret_cast<uint64_t>(end()))};
  }
  std::vector<uint64_t> addresses() const {
    const auto first = reinterpret_cast<uint64_t>(bytes_);
    return {first, first + kPage - 32, first + 2 * kPage - 40, first + 2 * kPage};
  }

 private:
  uint8_t* bytes_;
  std::vector<uint8_t> written_;
};

std::string text(const script::HitProgram& hit) {
  std::string all = fmt::format("condition {}\n", static_cast<int32_t>(hit.condition));
  for (size_t i = 0; i < hit.code.nodes.size(); ++i) {
    const script::Node& n = hit.code.nodes[i];
    all += fmt::format("{:3}: op {} width {} signed {} a {} b {} c {} value {:#x}\n", i,
                       static_cast<int>(n.op), n.width, n.is_signed, n.a, n.b, n.c, n.value);
  }
  for (const auto& o : hit.outputs)
    all += fmt::format("output kind {} node {} length {} size {} count {}\n", static_cast<int>(o.kind),
                       o.node, o.length, o.size, o.count);
  return all;
}

std::string text(const std::vector<script::OutputBytes>& outputs) {
  std::string all;
  for (const auto& o : outputs) {
    all += fmt::format("{}{} ", o.is_fault ? "fault" : "", o.is_cut ? "cut" : "");
    for (uint8_t b : o.bytes) all += fmt::format("{:02x}", b);
    all += "\n";
  }
  return all;
}

class Hits : public testing::Test {
 protected:
  explicit Hits(bool ranges = false) : runner_(ranges) {}

  // The first thing that the code changed and may not; empty: nothing.
  static std::string changed(const Action& action, const HitScene& scene, const MachineState& before,
                             const MachineState& after, size_t vector_size) {
    Recorded kept = recorded_by(action);
    kept |= scene.recorded;
    for (unsigned i = 0; i < 16; ++i) {
      const bool is_kept = ((scene.live_registers | kept.registers | 1 << 4) >> i & 1) != 0;
      if (is_kept && before.general.gpr[i] != after.general.gpr[i])
        return fmt::format("register {} is {:#x} instead of {:#x}", i, after.general.gpr[i],
                           before.general.gpr[i]);
    }
    if ((scene.flags_live || scene.recorded.flags) && before.general.rflags != after.general.rflags)
      return fmt::format("flags are {:#x} instead of {:#x}", after.general.rflags, before.general.rflags);
    for (size_t i = 0; i < vector_size; ++i)
      if (!(i >= 6 && i < 24) && !(i >= 512 && i < 576) && before.vectors.bytes[i] != after.vectors.bytes[i])
        return fmt::format("byte {} of the vector state", i);
    return {};
  }

  // Machine code against interpreter.
  void compare(const script::HitProgram& hit, const HitScene& scene, const MachineState& start) {
    const Action action = test::action_of(hit);
    ASSERT_TRUE(script::verify(hit));
    auto pad = runner_.build(action, scene);
    if (!pad) {
      EXPECT_EQ(pad.error().kind(), ErrorKind::kUnsupported) << pad.error().message();
      ++refused_;
      return;
    }
    const auto listed = [&] {
      return text(hit) + listing(pad->code, TargetAddr(reinterpret_cast<uint64_t>(runner_.pad())));
    };
    LiveMachine machine(start);
    if (scene.kept)
      for (const script::Output& o : scene.kept->outputs)
        machine.entries.push_back(script::interpret(scene.kept->code, o.node, LiveMachine(start)));
    machine.is_tail = scene.is_tail;
    const auto expected_before = script::run(hit, machine);
    MachineState state = start;
    const auto stack =
        std::vector<uint8_t>(runner_.machine().stack().begin(), runner_.machine().stack().end());
    const auto record = runner_.run(state);
    ASSERT_EQ(runner_.signal(), 0) << listed();
    EXPECT_EQ(
        changed(runner_.action(), scene, runner_.run_unprobed(start), state, runner_.machine().vector_size()),
        "")
        << listed();
    const uint64_t below = scene.skip_red_zone ? 128 : 0;
    const size_t kept =
        start.general.gpr[4] - below - reinterpret_cast<uint64_t>(runner_.machine().stack().data());
    EXPECT_TRUE(std::equal(stack.begin() + static_cast<ptrdiff_t>(kept), stack.end(),
                           runner_.machine().stack().begin() + static_cast<ptrdiff_t>(kept)))
        << listed();
    EXPECT_EQ(runner_.discarded(), 0u);
    for (size_t i = 0; i < scene.company.size(); ++i)
      judge_company(scene.company[i], runner_.company()[i], machine, runner_.company_record(i), listed);
    if (mentions(hit, script::Op::kLatency)) return;  // whatever it was: see the test of latencies
    const auto expected = script::run(hit, machine);
    // It looked at what the pad itself writes, below the stack: nobody can say what is right there.
    if (expected.has_value() != expected_before.has_value() ||
        (expected && text(*expected) != text(*expected_before))) {
      ++unjudged_;
      return;
    }
    ASSERT_EQ(record.has_value(), expected.has_value()) << listed();
    if (!record) return;
    ++hits_;
    in_section_ += runner_.was_in_section();
    uint64_t rdi;
    std::memcpy(&rdi, record->data() + action.fields[0].offset, sizeof rdi);
    EXPECT_EQ(rdi, start.general.gpr[7]);
    if (hit.outputs.empty()) return;
    const auto outputs = test::outputs_of(action, *record);
    EXPECT_EQ(text(outputs), text(*expected)) << listed();
    for (const auto& o : outputs) faults_ += o.is_fault;
  }

  // Another action at the same place: it knows nothing of the one before, nor that of it.
  void judge_company(const script::HitProgram& hit, const Action& action, const LiveMachine& machine,
                     const std::optional<std::vector<uint8_t>>& record,
                     const std::function<std::string()>& listed) {
    if (mentions(hit, script::Op::kLatency)) return;
    const auto expected = script::run(hit, machine);
    ++company_;
    if (record.has_value() == expected.has_value() &&
        (!record || hit.outputs.empty() || text(test::outputs_of(action, *record)) == text(*expected)))
      return;
    // Some look below the stack, where the programs before have written.
    if (reads_memory(hit)) {
      ++unjudged_;
      return;
    }
    ADD_FAILURE() << "company: " << text(hit) << listed();
  }
  static bool reads_memory(const script::HitProgram& hit) {
    return mentions(hit, script::Op::kLoad) || mentions(hit, script::Op::kLoadNear) ||
           std::any_of(hit.outputs.begin(), hit.outputs.end(),
                       [](const auto& o) { return o.kind != script::Output::Kind::kValue; });
  }

  void run_random_programs(int programs);

  uint64_t company_ = 0;
  HitRunner runner_;
  uint64_t hits_ = 0, refused_ = 0, in_section_ = 0, faults_ = 0, unjudged_ = 0;
};

HitScene random_scene(std::mt19937_64& random) {
  HitScene scene{.rseq = random() % 2 == 0,
                 .flags_live = random() % 2 == 0,
                 .skip_red_zone = random() % 2 == 0,
                 .live_registers = static_cast<uint16_t>(random() % 2 ? 0xffff : random()),
                 .is_return = random() % 4 == 0};
  scene.is_tail = scene.is_return && random() % 4 == 0;
  if (random() % 4 == 0)
    scene.recorded = {.registers = static_cast<uint16_t>(random()), .flags = random() % 2 == 0};
  return scene;
}

// Returns values that an entry may keep.
script::HitProgram random_values(std::mt19937_64& random, const std::vector<uint64_t>& addresses) {
  script::HitProgram values =
      script::random_program(random, {.most_nodes = 20, .most_outputs = 0, .addresses = addresses});
  values.condition = script::kNone;
  for (size_t n = random() % (abi::kMaxKept + 1); n > 0; --n)
    values.outputs.push_back({.node = static_cast<uint32_t>(random() % values.code.nodes.size())});
  return values;
}

void Hits::run_random_programs(int programs) {
  std::mt19937_64 random(x86::test::random_seed());
  const EdgeOfMemory memory(random);
  const auto data = runner_.machine().data();
  const AddrRange own{x86::test::Machine::addr(data.data()),
                      x86::test::Machine::addr(data.data() + data.size())};
  for (int n = 0; n < programs && !HasFailure(); ++n) {
    HitScene scene = random_scene(random);
    script::ProgramOptions options{
        .is_return = scene.is_return, .most_nodes = random() % 2 ? 40U : 6U, .addresses = memory.addresses()};
    if (random() % 2) options.addresses.clear();  // hardly any memory is read
    const script::HitProgram kept = random_values(random, options.addresses);
    if (scene.is_return) {
      scene.kept = &kept;
      options.entry_values = kept.outputs.size();
    }
    const script::HitProgram hit = script::random_program(random, options);
    for (size_t i = random() % 3 == 0 ? 1 + random() % test::kMostCompany : 0; i > 0; --i)
      scene.company.push_back(script::random_program(random, options));
    scene.before = random() % (scene.company.size() + 1);
    MachineState state = runner_.machine().random_state(random);
    for (unsigned r = 0; r < 16; ++r)
      if (r != 4 && random() % 2) state.general.gpr[r] = script::random_value(random, options);
    if (random() % 2) state.general.gpr[5] = state.general.gpr[4] + random() % 2000;  // rbp
    // Half of the memory, all of it, or none is known; where it ends is not always where memory ends.
    AddrRange known = memory.readable();
    if (random() % 2) known.end = known.begin + kPage - random() % 64;
    if (random() % 4)
      runner_.set_ranges({own, known});
    else
      runner_.set_ranges({});
    SCOPED_TRACE(fmt::format("program {}", n));
    compare(hit, scene, state);
    ASSERT_TRUE(memory.is_unchanged()) << text(hit);
  }
  fmt::print("{} hits, {} in sections, {} faults, {} refused, {} not judged\n", hits_, in_section_, faults_,
             refused_, unjudged_);
  EXPECT_GT(company_, static_cast<uint64_t>(programs / 8));
  EXPECT_LT(unjudged_, static_cast<uint64_t>(programs / 100));
  EXPECT_GT(hits_, static_cast<uint64_t>(programs / 4));
  EXPECT_GT(faults_, static_cast<uint64_t>(programs / 10));
  EXPECT_LT(refused_, static_cast<uint64_t>(programs / 4));
}

TEST_F(Hits, random_programs_mean_what_the_interpreter_says) {
  run_random_programs(12000);
  EXPECT_GT(in_section_, 500u);
}

class HitsWithRanges : public Hits {
 protected:
  HitsWithRanges() : Hits(true) {}
};

TEST_F(HitsWithRanges, random_programs_mean_what_the_interpreter_says) {
  run_random_programs(12000);
  EXPECT_GT(in_section_, 2000u);
}

// Texts of all lengths up to the end of what can be read, which is where the table ends or not.
TEST_F(HitsWithRanges, texts_at_the_end_of_memory) {
  std::mt19937_64 random(x86::test::random_seed());
  const EdgeOfMemory memory(random);
  const MachineState state = runner_.machine().random_state(random);
  for (uint32_t back = 0; back < 40; ++back) {
    for (uint32_t nul = 0; nul < 40; nul += 1 + static_cast<uint32_t>(random() % 4)) {
      std::memset(memory.end() - 64, 'x', 64);
      if (nul > 0) memory.end()[-static_cast<ptrdiff_t>(nul)] = 0;
      AddrRange known = memory.readable();
      if (random() % 4 == 0) known.end = known.end - random() % 24;
      runner_.set_ranges({known});
      script::HitProgram hit;
      const uint32_t at = hit.code.constant(reinterpret_cast<uint64_t>(memory.end()) - back);
      const uint32_t length = hit.code.constant(nul);
      using Kind = script::Output::Kind;
      hit.outputs = {{.kind = Kind::kString, .node = at, .count = 8 + nul % 20},
                     {.kind = Kind::kSequence, .node = at, .length = length, .size = 1, .count = 30},
                     {.kind = Kind::kBytes, .node = at, .count = 1 + nul}};
      compare(hit, {.rseq = true}, state);
    }
  }
  EXPECT_GT(in_section_, hits_ / 4);
}

// Each with each, all three comparisons, and as a float that is made a double.
TEST_F(Hits, floating_point_numbers_of_all_kinds) {
  constexpr uint64_t kDoubles[] = {0,
                                   uint64_t{1} << 63,
                                   1,
                                   uint64_t{1} << 63 | 1,
                                   0x000fffffffffffff,
                                   0x3ff0000000000000,
                                   0xbff0000000000000,
                                   0x3ff0000000000001,
                                   0x7fefffffffffffff,
                                   0x7ff0000000000000,
                                   0xfff0000000000000,
                                   0x7ff0000000000001,
                                   0xfff8000000000000,
                                   UINT64_MAX};
  std::mt19937_64 random(x86::test::random_seed());
  const MachineState state = runner_.machine().random_state(random);
  for (uint64_t x : kDoubles) {
    script::HitProgram hit;
    const uint32_t a = hit.code.constant(x);
    for (uint64_t y : kDoubles) {
      const uint32_t b = hit.code.constant(y);
      for (auto op : {script::Op::kLessFloat, script::Op::kLessEqualFloat, script::Op::kEqualFloat})
        hit.outputs.push_back({.node = hit.code.add({.op = op, .a = a, .b = b})});
    }
    compare(hit, {.rseq = x % 2 == 0}, state);
  }
}

TEST_F(Hits, floats_become_doubles) {
  std::mt19937_64 random(x86::test::random_seed());
  const MachineState state = runner_.machine().random_state(random);
  for (int round = 0; round < 200; ++round) {
    script::HitProgram hit;
    constexpr uint32_t kFloats[] = {0,          1,          0x007fffff, 0x00800000, 0x3f800000, 0x7f7fffff,
                                    0x7f800000, 0x7f800001, 0x7fc00000, 0x00400000, 0x00012345, 0x7fffffff};
    for (uint32_t bits : kFloats) {
      if (round > 0) bits = static_cast<uint32_t>(random()) >> (random() % 3 * 4);
      for (uint64_t sign : {0u, 0x80000000u}) {
        const uint32_t a = hit.code.constant(bits | sign | random() << 32);
        hit.outputs.push_back({.node = hit.code.add({.op = script::Op::kWiden, .a = a})});
      }
    }
    compare(hit, {.rseq = round % 2 == 0}, state);
  }
}

// Loads from where the stack is, at every distance from rsp, also over the ends of its page.
TEST_F(Hits, loads_near_the_stack_pointer) {
  std::mt19937_64 random(x86::test::random_seed());
  MachineState state = runner_.machine().random_state(random);
  for (uint8_t& b : runner_.machine().stack()) b = static_cast<uint8_t>(random());
  const uint64_t rsp = state.general.gpr[4];
  uint64_t in_sections = 0, runs = 0;
  for (int offset = 0; offset < 2100; offset += 1 + static_cast<int>(random() % 16)) {
    script::HitProgram hit;
    state.general.gpr[5] = rsp + static_cast<uint64_t>(offset) + 64;
    const uint32_t rbp = hit.code.add({.op = script::Op::kRegister, .value = 5});
    const uint32_t minus = hit.code.constant(static_cast<uint64_t>(-64));
    const uint32_t address = hit.code.add({.op = script::Op::kAdd, .a = rbp, .b = minus});
    for (uint8_t width : {1, 2, 4, 8})
      for (bool is_signed : {false, true})
        hit.outputs.push_back(
            {.node = hit.code.add(
                 {.op = script::Op::kLoad, .width = width, .is_signed = is_signed, .a = address})});
    const uint64_t before = in_section_;
    compare(hit, {.rseq = true}, state);
    in_sections += in_section_ - before;
    ++runs;
  }
  EXPECT_GT(in_sections, runs * 8 / 10) << "no system call for what is on the page of the stack";
  EXPECT_LT(in_sections, runs);
}

TEST_F(Hits, latencies_are_told_in_nanoseconds_and_filtered_by) {
  std::mt19937_64 random(x86::test::random_seed());
  const MachineState start = runner_.machine().random_state(random);
  for (bool rseq : {true, false}) {
    for (uint64_t least : {uint64_t{0}, uint64_t{1} << 40}) {
      script::HitProgram hit;
      const uint32_t latency = hit.code.add({.op = script::Op::kLatency});
      const uint32_t limit = hit.code.constant(least);
      hit.condition = hit.code.add({.op = script::Op::kLess, .a = limit, .b = latency});
      hit.outputs = {{.node = latency}, {.node = latency}};
      ASSERT_TRUE(runner_.build(test::action_of(hit), {.rseq = rseq, .is_return = true}));
      MachineState state = start;
      const auto record = runner_.run(state);
      ASSERT_EQ(record.has_value(), least == 0);
      if (!record) continue;
      const auto outputs = test::outputs_of(runner_.action(), *record);
      EXPECT_EQ(outputs[0], outputs[1]);
    }
  }
}

TEST_F(Hits, refused) {
  script::HitProgram hit;
  hit.condition = hit.code.add({.op = script::Op::kEntryValue});
  EXPECT_EQ(runner_.build(test::action_of(hit), {.is_return = true}).error().message(),
            "there is no room for values of a call's entry")
      << "nothing was kept";
  script::HitProgram large;
  uint32_t sum = large.code.constant(1);
  for (int i = 0; i < 20; ++i) sum = large.code.add({.op = script::Op::kAdd, .a = sum, .b = sum});
  large.outputs.push_back({.node = sum});
  EXPECT_EQ(runner_.build(test::action_of(large), {}).error().message(), "the expressions are too long");
  script::HitProgram latency;
  latency.condition = latency.code.add({.op = script::Op::kLatency});
  ProcessEnvironment env;
  env.monotonic.emplace();
  EXPECT_EQ(check_hit(test::action_of(latency), env).error().message(),
            "expressions with latencies need the TSC");
}

}  // namespace
}  // namespace blip::jit
