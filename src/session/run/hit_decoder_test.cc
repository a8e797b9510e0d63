// SPDX-License-Identifier: MIT
#include "session/run/hit_decoder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "abi/layout.h"

namespace blip::session {
namespace {

using Kind = ctf::RecordOutput::Kind;

ctf::EventClass class_with(std::vector<ctf::RecordOutput> outputs) {
  ctf::EventClass c{.id = abi::kFirstClass, .name = "c"};
  c.has_hit_word = !outputs.empty();
  c.fields = {{.name = "vpid", .type = ctf::FieldType::kInt32, .is_context = true},
              {.name = "ip", .type = ctf::FieldType::kHex64, .is_context = true},
              {.name = "vtid", .type = ctf::FieldType::kInt32, .is_context = true},
              {.name = "cpu", .type = ctf::FieldType::kUint32, .is_context = true}};
  c.leads_with_pid = true;
  c.outputs = std::move(outputs);
  ctf::lay_out(c);
  return c;
}

template <typename T>
void put(std::vector<uint8_t>& record, uint32_t at, T value) {
  std::memcpy(&record[at], &value, sizeof value);
}

// Number 9 of thread 77 on CPU 3: a number, a text, a fault.
std::vector<uint8_t> record_of(const ctf::EventClass& c) {
  std::vector<uint8_t> record(c.fixed_size + 8);
  put(record, abi::kHitWordOffset, record.size() | uint64_t{4} << abi::kHitFaultShift);
  put(record, c.fields[1].offset, uint64_t{9});
  put(record, c.fields[2].offset, 77);
  put(record, c.fields[3].offset, 3);
  put(record, c.outputs[0].offset, int64_t{-5});
  put(record, c.outputs[1].offset, static_cast<uint16_t>(5 | abi::kLengthCut));
  std::memcpy(&record[c.fixed_size], "hello", 5);
  return record;
}

std::vector<ctf::RecordOutput> three_outputs() {
  return {{.kind = Kind::kFixed, .size = 8},
          {.kind = Kind::kString, .size = 1, .count = 16},
          {.kind = Kind::kFixed, .size = 4}};
}

TEST(HitDecoder, reads_numbers_texts_and_faults) {
  const ctf::EventClass c = class_with(three_outputs());
  HitDecoder decoder(c);
  const std::vector<uint8_t> record = record_of(c);
  DecodedHit hit;
  ASSERT_TRUE(decoder.decode(record, hit));
  EXPECT_EQ(hit.probe, 9U);
  EXPECT_EQ(hit.tid, 77U);
  EXPECT_EQ(hit.cpu, 3U);
  ASSERT_EQ(hit.captured.size(), 3U);
  EXPECT_EQ(static_cast<int64_t>(hit.captured[0].value.number), -5);
  EXPECT_EQ(hit.captured[1].value.text, "hello");
  EXPECT_FALSE(hit.captured[0].is_fault || hit.captured[1].is_fault);
  EXPECT_TRUE(hit.captured[2].is_fault);
}

TEST(HitDecoder, reads_records_without_captured_values) {
  const ctf::EventClass c = class_with({});
  HitDecoder decoder(c);
  std::vector<uint8_t> record(c.record_size - ctf::kPidSize);
  put(record, c.fields[1].offset - ctf::kPidSize, uint64_t{9});
  DecodedHit hit;
  ASSERT_TRUE(decoder.decode(record, hit));
  EXPECT_EQ(hit.probe, 9U);
  EXPECT_TRUE(hit.captured.empty());
  EXPECT_FALSE(decoder.decode(std::span(record).first(8), hit));
}

// What a target makes up leads to a refusal, or to values that lie in the record.
TEST(HitDecoder, believes_nothing_that_a_record_says_of_itself) {
  const ctf::EventClass c = class_with(three_outputs());
  HitDecoder decoder(c);
  std::mt19937 random(7);
  for (int i = 0; i < 200'000; ++i) {
    std::vector<uint8_t> record = record_of(c);
    for (unsigned n = random() % 6; n > 0; --n)
      record[random() % record.size()] = static_cast<uint8_t>(random());
    if (random() % 4 == 0) record.resize(random() % (record.size() + 1));
    DecodedHit hit;
    if (!decoder.decode(record, hit)) continue;
    for (const script::CapturedValue& value : hit.captured) {
      if (value.value.text.empty()) continue;
      const auto* begin = reinterpret_cast<const uint8_t*>(value.value.text.data());
      ASSERT_GE(begin, record.data());
      ASSERT_LE(begin + value.value.text.size(), record.data() + record.size());
    }
  }
}

}  // namespace
}  // namespace blip::session
