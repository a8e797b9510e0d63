// SPDX-License-Identifier: MIT
#include "jit/pad.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "abi/shadow.h"
#include "jit/listing.h"
#include "jit/stubs.h"

namespace blip::jit {
namespace {

constexpr TargetAddr kSite(0x401000);
constexpr TargetAddr kPadAddr(0x600000);
constexpr std::array<uint8_t, 8> kWindow = {0x55, 0x48, 0x89, 0xe5,
                                            0x48, 0x83, 0xec, 0x10};  // push; mov; sub

Environment environment(bool with_rseq) {
  Environment environment;
  ProcessEnvironment& env = environment.process;
  env.geometry = {.ring_count = 2,
                  .class_count = 10,
                  .subbuf_count = 4,
                  .subbuf_size = 1 << 20,
                  .site_count = 1,
                  .probe_count = 2,
                  .slot_size = 64,
                  .slot_count = 1024};
  env.control = TargetAddr(0x7f0000001000);
  if (with_rseq) env.rseq = Rseq{.offset = 0x9a0, .signature = 0x53053053};
  env.tid_offset = 0x2d0;
  env.shadow_size = abi::kShadowSize;
  environment.channels = {{.geometry = env.geometry, .control = env.control}};
  return environment;
}

const AreaStubs kStubs{
    .channels = {{.next_subbuf = TargetAddr(0x5f0400), .name_process = TargetAddr(0x5f0800)}},
    .reserve = TargetAddr(0x5f0000),
    .enter = TargetAddr(0x5f0140),
    .find = TargetAddr(0x5f0180),
    .leave = TargetAddr(0x5f01c0),
    .measure = TargetAddr(0x5f0240),
    .fetch = TargetAddr(0x5f0300)};

Result<Pad> build_site(const PadSite& site, const Environment& env) {
  auto pad = build_pad(kPadAddr, site, env, kStubs);
  EXPECT_TRUE(!pad || pad->code.size() <= max_pad_size(site));
  return pad;
}

std::string build(const Action& action, bool with_rseq, PadPoint point) {
  point.actions = {&action};
  auto pad = build_site({.addr = kSite, .window = kWindow, .points = {&point, 1}}, environment(with_rseq));
  return pad ? listing(pad->code, kPadAddr) : pad.error().message();
}

// Compares with tests/golden/NAME; BLIP_REBASE=1 writes it anew.
void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(BLIP_GOLDEN_DIR) + "/" + name;
  if (std::getenv("BLIP_REBASE")) std::ofstream(path) << text;
  std::ifstream file(path);
  std::stringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(text, expected.str()) << "rebase with BLIP_REBASE=1 after reading every changed line";
}

PadPoint entry(const Action* action = nullptr) {
  return {.actions = {action}, .flags_live = false, .skip_red_zone = false};
}
PadPoint anywhere() { return {.flags_live = true, .skip_red_zone = true}; }

Action record(std::vector<Field> fields) {
  Action p{.class_id = 7, .switch_index = 1, .fields = std::move(fields)};
  p.record_size = 8;
  for (Field& f : p.fields) {
    f.offset = static_cast<uint16_t>(p.record_size);
    p.record_size += 8;
  }
  return p;
}

const Action kCount{.effect = Effect::kCount, .class_id = 7, .switch_index = 1};
constexpr uint16_t kNothingLive = 0;
constexpr uint8_t kRax = 0, kRcx = 1, kRsp = 4, kRdi = 7;

TEST(Pad, entry_with_one_register) {
  expect_golden("pad_entry_rdi.txt", build(record({{Capture::kRegister, kRdi}}), true, entry()));
}

TEST(Pad, entry_with_tid_pid_cpu_and_thread_name) {
  expect_golden("pad_entry_contexts.txt",
                build(record({{Capture::kTid}, {Capture::kCpu}, {Capture::kThreadKey}}), true, entry()));
}

TEST(Pad, anywhere_saves_flags_and_skips_the_red_zone) {
  expect_golden("pad_anywhere.txt", build(record({}), true, anywhere()));
}

TEST(Pad, inside_with_everything_dead) {
  expect_golden("pad_inside_dead.txt",
                build(record({{Capture::kRegister, kRdi}}), true,
                      {.flags_live = false, .skip_red_zone = true, .live_registers = kNothingLive}));
}

TEST(Pad, inside_with_flags_live) {
  expect_golden("pad_inside_flags.txt",
                build(record({{Capture::kRegister, kRdi}}), true,
                      {.flags_live = true, .skip_red_zone = true, .live_registers = kNothingLive}));
}

TEST(Pad, what_is_dead_but_recorded_is_kept_for_the_record) {
  expect_golden("pad_dead_but_recorded.txt",
                build(record({{Capture::kRegister, kRcx}, {Capture::kFlags}, {Capture::kRegister, kRsp}}),
                      true, {.flags_live = false, .skip_red_zone = false, .live_registers = kNothingLive}));
}

TEST(Pad, registers_the_pad_uses_itself_come_from_its_frame) {
  expect_golden("pad_saved_registers.txt", build(record({{Capture::kRegister, kRax},
                                                         {Capture::kRegister, kRcx},
                                                         {Capture::kRegister, kRsp},
                                                         {Capture::kFlags},
                                                         {Capture::kConstant, 0, 0, 0x1122334455667788}}),
                                                 true, anywhere()));
}

TEST(Pad, without_rseq_straight_to_the_shared_ring) {
  expect_golden("pad_shared.txt",
                build(record({{Capture::kRegister, kRdi}, {Capture::kTid}}), false, entry()));
}

TEST(Pad, count) { expect_golden("pad_count.txt", build(kCount, true, entry())); }

TEST(Pad, count_without_rseq) { expect_golden("pad_count_shared.txt", build(kCount, false, entry())); }

const Action kEnter{.effect = Effect::kEnter, .switch_index = 1, .frame_id = 7};

Action return_record() {
  Action p = record({{Capture::kRegister, kRax}, {Capture::kLatency}, {Capture::kDepth}});
  p.is_return = true;
  p.frame_id = 7;
  return p;
}

TEST(Pad, enter) { expect_golden("pad_enter.txt", build(kEnter, true, entry())); }

TEST(Pad, enter_without_rseq) { expect_golden("pad_enter_shared.txt", build(kEnter, false, entry())); }

TEST(Pad, latency) {
  Environment env = environment(true);
  abi::Geometry& g = env.process.geometry;
  g.subbuf_size = g.subbuf_count = g.slot_size = g.slot_count = 0;
  g.latencies = true;
  env.channels.front().geometry = g;
  constexpr std::array<uint8_t, 6> kExit = {0x48, 0x83, 0xc4, 0x08, 0x90, 0xc3};  // add rsp, 8; nop; ret
  const Action measured{
      .effect = Effect::kLatency, .class_id = 7, .switch_index = 1, .is_return = true, .frame_id = 7};
  const PadPoint point{.offset = 5, .actions = {&measured}, .flags_live = false, .skip_red_zone = false};
  auto pad = build_site({.addr = kSite, .window = kExit, .points = {&point, 1}}, env);
  ASSERT_TRUE(pad) << pad.error().message();
  expect_golden("pad_latency.txt", listing(pad->code, kPadAddr));
}

// A whole function: lea eax, [rdi+1]; ret.
TEST(Pad, entry_and_exit_in_one_window) {
  constexpr std::array<uint8_t, 4> kFunction = {0x8d, 0x47, 0x01, 0xc3};
  const Action enter = kEnter, at_exit = return_record();
  const PadPoint points[] = {entry(&enter), {.offset = 3, .actions = {&at_exit}}};
  auto pad = build_site({.addr = kSite, .window = kFunction, .points = points}, environment(true));
  ASSERT_TRUE(pad) << pad.error().message();
  expect_golden("pad_return.txt", listing(pad->code, kPadAddr));
}

// jne away; jmp away: the first is an exit only when it jumps.
TEST(Pad, exits_by_conditional_jumps_count_when_they_jump) {
  constexpr std::array<uint8_t, 7> kJumps = {0x75, 0x40, 0xe9, 0x00, 0x01, 0x00, 0x00};
  Action counted = kCount;
  counted.is_return = counted.is_conditional = true;
  const PadPoint point{.actions = {&counted}};
  auto pad = build_site({.addr = kSite, .window = kJumps, .points = {&point, 1}}, environment(true));
  ASSERT_TRUE(pad) << pad.error().message();
  expect_golden("pad_return_conditional.txt", listing(pad->code, kPadAddr));
  constexpr std::array<uint8_t, 5> kLoopOut = {0xe2, 0x40, 0x90, 0x90, 0x90};
  EXPECT_FALSE(build_site({.addr = kSite, .window = kLoopOut, .points = {&point, 1}}, environment(true)));
}

TEST(Pad, lead_runs_first_and_only_its_fall_through_is_a_hit) {
  constexpr std::array<uint8_t, 11> kLead = {0x4c, 0x8d, 0x64, 0x24, 0x88,  // lea -0x78(%rsp), %r12
                                             0x4d, 0x3b, 0x66, 0x10,        // cmp 0x10(%r14), %r12
                                             0x76, 0x20};                   // jbe
  const Action action = kCount;
  const PadPoint point = entry(&action);
  auto pad =
      build_site({.addr = kSite, .window = std::span(kLead).first(5), .points = {&point, 1}, .lead = kLead},
                 environment(false));
  ASSERT_TRUE(pad) << pad.error().message();
  EXPECT_THAT(pad->heads,
              testing::ElementsAre(testing::Pair(0, 0), testing::Pair(5, 5), testing::Pair(9, 9)));
  expect_golden("pad_lead.txt", listing(pad->code, kPadAddr));
}

TEST(Stubs, clone_pads) {
  std::string text;
  for (uint32_t number : {58u, 57u, 56u, 435u}) {
    auto code = build_clone_pad(kPadAddr, {kSite, number}, environment(true));
    ASSERT_TRUE(code);
    EXPECT_LE(code->size(), kClonePadSize);
    text += listing(*code, kPadAddr) + "\n";
  }
  expect_golden("clone_pads.txt", text);
}

TEST(Stubs, next_subbuf) {
  auto prologue = build_area_prologue(kPadAddr, environment(true));
  ASSERT_TRUE(prologue);
  const auto offset = prologue->stubs.channels.front().next_subbuf - kPadAddr;
  const auto end = prologue->stubs.channels.front().name_process - kPadAddr;
  // Shown at an address that does not depend on the size of the runtime blob in front.
  expect_golden("next_subbuf.txt",
                listing(std::span(prologue->code).subspan(offset, end - offset), kPadAddr));
  expect_golden("name_process.txt", listing(std::span(prologue->code).subspan(end), kPadAddr));
}

TEST(Stubs, reserve_with_the_monotonic_clock) {
  Environment env = environment(false);
  env.process.monotonic = MonotonicClock{TargetAddr(0x7fff00001af0)};
  auto prologue = build_area_prologue(kPadAddr, env);
  ASSERT_TRUE(prologue);
  const auto offset = prologue->stubs.reserve - kPadAddr;
  std::string text = listing(std::span(prologue->code).subspan(offset), prologue->stubs.reserve);
  EXPECT_THAT(text, testing::HasSubstr("mov rdx, 0x7FFF00001AF0"));
  EXPECT_THAT(text, testing::HasSubstr("jmp 0x0000000000600040"));
  const Action action;
  const PadPoint point = entry(&action);
  const PadSite site{.addr = kSite, .window = kWindow, .points = {&point, 1}};
  EXPECT_EQ(build_site(site, env)->code, build_site(site, environment(false))->code);
  env.process.rseq = Rseq{.offset = 0x9a0, .signature = 0x53053053};
  EXPECT_EQ(build_site(site, env)->code, build_site(site, environment(false))->code)
      << "no restartable sequence can read that clock";
}

// (int)rdi > 100, and what the record holds of rdi and the word above the return address.
Action filtered() {
  Action p = record({});
  script::Code& code = p.hit.code;
  const uint32_t rdi = code.add({.op = script::Op::kRegister, .value = kRdi});
  const uint32_t n = code.add({.op = script::Op::kExtend, .width = 4, .is_signed = true, .a = rdi});
  const uint32_t limit = code.constant(100);
  p.hit.condition = code.add({.op = script::Op::kLess, .is_signed = true, .a = limit, .b = n});
  const uint32_t near = code.add({.op = script::Op::kLoadNear, .width = 4, .value = 8});
  p.hit.outputs = {{.node = n, .size = 4}, {.node = near, .size = 4}};
  p.output_offsets = {16, 20};
  p.fixed_size = p.record_size = 24;
  return p;
}

TEST(Pad, a_condition_on_an_argument_comes_before_everything) {
  expect_golden("pad_filter_entry.txt", build(filtered(), true, entry()));
}

TEST(Pad, a_condition_where_flags_are_live_saves_them_alone) {
  expect_golden("pad_filter_anywhere.txt", build(filtered(), true, anywhere()));
}

// req->path == "/admin", the text and four bytes at rsi.
TEST(Pad, programs_that_read_memory_use_the_shared_ring) {
  Action p = record({});
  script::Code& code = p.hit.code;
  code.texts = {"/admin"};
  const uint32_t rdi = code.add({.op = script::Op::kRegister, .value = kRdi});
  const uint32_t path = code.add({.op = script::Op::kLoad, .a = rdi});
  p.hit.condition = code.add({.op = script::Op::kTextEqual, .a = path});
  const uint32_t rsi = code.add({.op = script::Op::kRegister, .value = 6});
  p.hit.outputs = {{.kind = script::Output::Kind::kString, .node = path, .count = 16},
                   {.kind = script::Output::Kind::kBytes, .node = rsi, .count = 4}};
  p.output_offsets = {16, 18};
  p.fixed_size = 22;
  p.record_size = 40;
  expect_golden("pad_reads.txt", build(p, true, entry()));
}

TEST(Pad, out_of_reach_is_an_error_not_a_wrong_jump) {
  EXPECT_FALSE(
      build_pad(TargetAddr(0x7e0000000000), {.addr = kSite, .window = kWindow}, environment(true), kStubs));
}

// nop; dec ecx; jnz to the dec; jmp away
constexpr std::array<uint8_t, 7> kLoop = {0x90, 0xff, 0xc9, 0x75, 0xfc, 0xeb, 0x10};

uint64_t jump_goal(const Pad& pad, size_t rel32_at) {
  int32_t rel32;
  std::memcpy(&rel32, &pad.code[rel32_at], sizeof rel32);
  return rel32_at + 4 + static_cast<int64_t>(rel32);
}

TEST(Pad, actions_run_in_their_order_before_their_instruction) {
  const Action count = kCount;
  std::vector<PadPoint> points(2, entry(&count));
  points[1].offset = 1;
  points[1].actions.push_back(&count);
  auto pad = build_site({.addr = kSite, .window = kLoop, .points = points}, environment(true));
  ASSERT_TRUE(pad) << pad.error().message();
  expect_golden("pad_run.txt", listing(pad->code, kPadAddr));
  ASSERT_EQ(pad->heads.size(), 6u);
  const auto& h = pad->heads;
  EXPECT_EQ(h[0], std::make_pair(uint8_t{0}, uint16_t{0}));
  EXPECT_EQ(h[1].first, 0);
  EXPECT_EQ(h[2], std::make_pair(uint8_t{1}, static_cast<uint16_t>(h[1].second + 1))) << "before the actions";
  EXPECT_EQ(h[3].first, 1);
  EXPECT_EQ(h[4], std::make_pair(uint8_t{3}, static_cast<uint16_t>(h[3].second + 2)));
  EXPECT_EQ(h[5], std::make_pair(uint8_t{5}, static_cast<uint16_t>(h[4].second + 6)));
  EXPECT_EQ(jump_goal(*pad, h[4].second + 2u), h[2].second) << "the inner branch fires its actions";
}

TEST(Pad, without_probes_it_is_the_moved_instructions) {
  auto pad = build_site({.addr = kSite, .window = kWindow}, environment(true));
  ASSERT_TRUE(pad) << pad.error().message();
  EXPECT_EQ(pad->code.size(), kWindow.size() + 5);
  EXPECT_THAT(pad->heads, testing::ElementsAre(testing::Pair(0, 0), testing::Pair(1, 1), testing::Pair(4, 4),
                                               testing::Pair(8, 8)));
}

TEST(Pad, a_thread_behind_the_copy_of_a_system_call_is_behind_the_original) {
  constexpr std::array<uint8_t, 7> kGetpid = {0xb8, 39, 0, 0, 0, 0x0f, 0x05};
  auto pad = build_site({.addr = kSite, .window = kGetpid}, environment(true));
  ASSERT_TRUE(pad) << pad.error().message();
  EXPECT_EQ(pad->heads.back(), std::make_pair(uint8_t{7}, uint16_t{7}));
}

TEST(Pad, probe_inside_an_instruction_is_refused) {
  const Action action;
  PadPoint point = entry(&action);
  point.offset = 2;
  auto pad = build_site({.addr = kSite, .window = kWindow, .points = {&point, 1}}, environment(true));
  ASSERT_FALSE(pad);
  EXPECT_EQ(pad.error().kind(), ErrorKind::kUnsupported);
}

// Windows of 64 short instructions with a record of all registers on each.
TEST(Pad, size_is_bounded_for_the_longest_runs) {
  std::vector<Field> fields(20, Field{Capture::kTid});
  const Action action = record(fields);
  for (const uint8_t opcode : {0x90, 0x74, 0xe2}) {
    std::vector<uint8_t> window(64, opcode);
    const size_t step = opcode == 0x90 ? 1 : 2;
    if (step == 2)
      for (size_t i = 1; i < window.size(); i += 2) window[i] = 0;
    std::vector<PadPoint> points;
    for (size_t at = 0; at < window.size(); at += step)
      points.push_back({.offset = static_cast<uint8_t>(at), .actions = {&action}});
    for (bool with_rseq : {true, false}) {
      auto pad = build_site({.addr = kSite, .window = window, .points = points}, environment(with_rseq));
      EXPECT_TRUE(pad || step == 1) << pad.error().message();
    }
  }
}

}  // namespace
}  // namespace blip::jit
