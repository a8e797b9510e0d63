// SPDX-License-Identifier: MIT
#include "session/drain/uprobe_record.h"

#include <gtest/gtest.h>

#include <cstring>

#include "abi/layout.h"

namespace blip::session {
namespace {

template <typename T>
T load(const std::vector<uint8_t>& record, size_t at) {
  T value;
  std::memcpy(&value, &record[at], sizeof value);
  return value;
}

probe::UprobeHit hit() {
  probe::UprobeHit hit{.time_ns = 0x1234, .tid = 7, .pid = 6, .cpu = 3, .comm = "worker"};
  hit.registers[5] = 0x55;
  hit.flags = 0x246;
  return hit;
}

TEST(UprobeRecord, holds_what_a_pad_would_have_recorded) {
  using jit::Capture;
  const jit::Action action{.class_id = 9,
                           .record_size = 64,
                           .fields = {{.capture = Capture::kRegister, .reg = 5, .offset = 8},
                                      {.capture = Capture::kFlags, .offset = 16},
                                      {.capture = Capture::kConstant, .offset = 24, .value = 0xabc},
                                      {.capture = Capture::kTid, .offset = 32},
                                      {.capture = Capture::kCpu, .offset = 36},
                                      {.capture = Capture::kThreadKey, .offset = 40}}};
  std::vector<uint8_t> record{1, 2, 3};
  fill_record(record, action, hit());
  ASSERT_EQ(record.size(), 64u);
  EXPECT_EQ(load<uint64_t>(record, 0), abi::make_header(9, 0x1234));
  EXPECT_EQ(load<uint64_t>(record, 8), 0x55u);
  EXPECT_EQ(load<uint64_t>(record, 16), 0x246u);
  EXPECT_EQ(load<uint64_t>(record, 24), 0xabcu);
  EXPECT_EQ(load<int32_t>(record, 32), 7);
  EXPECT_EQ(load<uint32_t>(record, 36), 3u);
  EXPECT_STREQ(reinterpret_cast<const char*>(&record[40]), "worker");
  EXPECT_EQ(load<uint64_t>(record, 56), 0u);
}

TEST(UprobeRecord, what_a_program_computes_counts_as_unreadable) {
  jit::Action action{.record_size = 32};
  action.hit.outputs.resize(3);
  std::vector<uint8_t> record;
  fill_record(record, action, hit());
  const auto word = load<uint64_t>(record, abi::kHitWordOffset);
  EXPECT_EQ(word >> abi::kHitFaultShift, 7u);
  EXPECT_EQ(static_cast<uint16_t>(word), 32u);
}

TEST(UprobeRecord, room_that_blip_fills_stays_empty) {
  const jit::Action action{.record_size = 16, .fields = {{.capture = jit::Capture::kNone, .offset = 8}}};
  std::vector<uint8_t> record;
  fill_record(record, action, hit());
  EXPECT_EQ(load<uint64_t>(record, 8), 0u);
}

}  // namespace
}  // namespace blip::session
