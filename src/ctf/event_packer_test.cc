// SPDX-License-Identifier: MIT
#include "ctf/event_packer.h"

#include <gtest/gtest.h>

#include <random>

#include "ctf/captured.h"
#include "ctf/packet.h"
#include "ctf/test_captured.h"

namespace blip::ctf::testing {
namespace {

using namespace std::string_literals;

constexpr uint32_t kFaultsAndCut = 16;

// Without the fields that tell faults and cuts.
std::string packed(const EventClass& c, const HitRecord& record) {
  EXPECT_TRUE(check_outputs(c));
  EventPacker packer(c);
  const auto event = packer.pack(record.bytes());
  if (!event) return "malformed";
  size_t size = event->size();
  for (const Field& f : c.fields)
    if (f.type == FieldType::kFaults || f.type == FieldType::kCut) size -= kBitsSize;
  return {event->begin(), event->begin() + static_cast<long>(size)};
}

// {faults, cut}
std::pair<uint64_t, uint64_t> bits_of(const EventClass& c, const HitRecord& record) {
  EventPacker packer(c);
  const auto event = packer.pack(record.bytes());
  uint64_t words[2] = {~uint64_t{0}, ~uint64_t{0}};
  if (event) std::memcpy(words, &(*event)[event->size() - kFaultsAndCut], kFaultsAndCut);
  return {words[0], words[1]};
}

TEST(EventPacker, numbers_text_and_sequences_back_to_back) {
  const EventClass c = captured_class({fixed(4), string(16), elements(2, 8), fixed(8)},
                                      {integer("n", 0, 4), text("path", 1),
                                       sequence("v", 2, 2, integer("", kNoOutput, 2)), integer("m", 3, 8)});
  const HitRecord r =
      HitRecord(c).value(0, int32_t{-5}).value(3, int64_t{7}).dynamic(1, "/a").dynamic(2, "\1\0\2\0"s);
  EXPECT_EQ(packed(c, r), raw(int32_t{-5}) + "/a\0"s + "\2\0\1\0\2\0"s + raw(int64_t{7}));
  EXPECT_EQ(bits_of(c, r), std::pair(uint64_t{0}, uint64_t{0}));
}

TEST(EventPacker, plain_fields_and_a_pid_that_no_record_holds) {
  EventClass c = captured_class(
      {fixed(4)},
      {{"vpid", FieldType::kInt32, 0, true}, {"vtid", FieldType::kInt32, 0, true}, integer("n", 0, 4)});
  c.leads_with_pid = true;
  lay_out(c);
  EXPECT_EQ(c.fields[1].offset, 16u);
  EXPECT_EQ(c.outputs[0].offset, 20u);
  EXPECT_EQ(ring_record_size(c), 24u);
  const HitRecord r = HitRecord(c).plain(1, 4711).value(0, int32_t{9});
  EXPECT_EQ(packed(c, r), raw(int32_t{4711}) + raw(int32_t{9}));
}

TEST(EventPacker, structures_arrays_and_padding) {
  // struct { char c; int n; short a[2]; char name[4]; } s[2], in 16 bytes each
  const Field element = structure(
      "", {number("c", FieldType::kChar, kNoOutput, 1), integer("n", kNoOutput, 4, true, 4),
           array("a", kNoOutput, 8, 2, 2, integer("", kNoOutput, 2)), fixed_text("name", kNoOutput, 12, 4)});
  const EventClass c = captured_class({fixed(40)}, {array("s", 0, 8, 16, 2, element)});
  HitRecord r(c);
  for (uint32_t i = 0; i < 2; ++i) {
    const uint32_t at = 8 + 16 * i;
    r.value(0, char('a' + char(i)), at)
        .value(0, int32_t(i), at + 4)
        .value(0, uint16_t{1}, at + 8)
        .value(0, uint16_t{2}, at + 10);
  }
  r.value(0, "xyz"[0], 8 + 12).value(0, uint32_t{0x64636261}, 24 + 12);
  EXPECT_EQ(packed(c, r), "a\0\0\0\0\1\0\2\0x\0b\1\0\0\0\1\0\2\0abcd\0"s);
}

TEST(EventPacker, bit_fields) {
  const Field n = integer("n", 0, 4, true), u = integer("u", 0, 4, false);
  const EventClass c = captured_class(
      {fixed(4)}, {bits(u, 0, 3), bits(n, 3, 5), bits(u, 8, 24), bits(integer("b", 0, 1, false, 3), 7, 1)});
  const HitRecord r = HitRecord(c).value(0, uint32_t{0x80000000 | (5 << 8) | (0x1e << 3) | 6});
  EXPECT_EQ(packed(c, r), raw(uint32_t{6}) + raw(int32_t{-2}) + raw(uint32_t{0x800005}) + "\1");
}

TEST(EventPacker, a_bit_field_over_nine_bytes) {
  const EventClass c = captured_class({fixed(16)}, {bits(integer("x", 0, 8, false), 4, 64)});
  const HitRecord r = HitRecord(c).value(0, uint64_t{0x0123456789abcdef}).value(0, uint64_t{0xf}, 8);
  EXPECT_EQ(packed(c, r), raw(uint64_t{0xf0123456789abcde}));
}

TEST(EventPacker, long_doubles_have_their_digits) {
  const EventClass c = captured_class({fixed(16)}, {number("x", FieldType::kFloat, 0, 16)});
  const long double value = -1.25L;
  EXPECT_EQ(packed(c, HitRecord(c).value(0, value)), raw(-1.25) + "-1.25\0"s);
}

TEST(EventPacker, what_could_not_be_read_is_nothing) {
  const EventClass c = captured_class(
      {fixed(4, true), string(8), elements(4, 4), fixed(4)},
      {integer("n", 0, 4), text("s", 1), sequence("v", 2, 4, integer("", kNoOutput, 4)), integer("m", 3, 4)});
  HitRecord r(c);
  r.value(0, int32_t{1}).value(3, int32_t{2}).dynamic(1, "abc", true).dynamic(2, "\1\0\0\0"s);
  EXPECT_EQ(bits_of(c, r), std::pair(uint64_t{0}, uint64_t{2}));
  r.fault(0).fault(1);
  EXPECT_EQ(packed(c, r), raw(int32_t{0}) + "\0"s + "\1\0\1\0\0\0"s + raw(int32_t{2}));
  EXPECT_EQ(bits_of(c, r), std::pair(uint64_t{3}, uint64_t{2})) << "a text that is cut and a fault was NULL";
  r.fault(2);
  EXPECT_EQ(packed(c, r), raw(int32_t{0}) + "\0"s + "\0\0"s + raw(int32_t{2}));
}

TEST(EventPacker, text_ends_at_its_first_nul_and_is_cut_there) {
  const EventClass c = captured_class({elements(1, 16)}, {text("s", 0)});
  const HitRecord r = HitRecord(c).dynamic(0, "ab\0cd"s);
  EXPECT_EQ(packed(c, r), "ab\0"s);
  EXPECT_EQ(bits_of(c, r).second, 1u);
}

TEST(EventPacker, notes) {
  const EventClass c = captured_class({fixed(1)}, {note("x", "<optimized out>"), integer("n", 0, 1)});
  EXPECT_EQ(packed(c, HitRecord(c).value(0, int8_t{3})), "<optimized out>\0\3"s);
}

TEST(EventPacker, odd_records_are_malformed) {
  const EventClass c =
      captured_class({fixed(4), string(8), elements(4, 4)},
                     {integer("n", 0, 4), text("s", 1), sequence("v", 2, 4, integer("", kNoOutput, 4))});
  EventPacker packer(c);
  const std::vector<uint8_t> good = HitRecord(c).dynamic(1, "abc").dynamic(2, "\1\0\0\0"s).bytes();
  ASSERT_TRUE(packer.pack(good));
  const auto with = [&](size_t at, auto value) {
    std::vector<uint8_t> bad = good;
    std::memcpy(&bad[at], &value, sizeof value);
    return packer.pack(bad).has_value();
  };
  EXPECT_FALSE(with(8, uint16_t(good.size() + 8))) << "larger than it is";
  EXPECT_FALSE(with(8, uint16_t{16})) << "smaller than what is always there";
  EXPECT_FALSE(with(10, uint16_t{8})) << "a fault of an output that does not exist";
  EXPECT_FALSE(with(c.outputs[1].offset, uint16_t{9})) << "longer than it may be";
  EXPECT_FALSE(with(c.outputs[2].offset, uint16_t{5})) << "half an element";
  EXPECT_FALSE(with(c.outputs[2].offset, uint16_t{16})) << "behind the end";
  EXPECT_TRUE(with(c.outputs[2].offset, uint16_t{0}));
  EXPECT_FALSE(packer.pack(std::span(good).first(c.fixed_size - 1)));
  EXPECT_FALSE(packer.pack({}));
}

TEST(EventPacker, any_bytes_give_an_event_that_fits_or_none) {
  std::mt19937_64 random(5);
  const Field pair = structure("", {integer("x", kNoOutput, 2), fixed_text("t", kNoOutput, 2, 2)});
  const EventClass c =
      captured_class({string(300), elements(4, 50), fixed(64, true), elements(1, 30)},
                     {text("s", 0), sequence("v", 1, 4, pair),
                      array("a", 2, 0, 16, 4, array("b", kNoOutput, 0, 4, 4, pair)), text("t", 3)});
  ASSERT_EQ(check_outputs(c) ? "" : check_outputs(c).error().message(), "");
  EventPacker packer(c);
  int good = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<uint8_t> record(ring_record_size(c));
    for (uint8_t& byte : record) byte = uint8_t(random());
    const uint64_t word = (record.size() - random() % 20 * 8) | (random() % 16) << 16;
    std::memcpy(&record[8], &word, 8);
    for (const RecordOutput& o : c.outputs) {
      const auto length = uint16_t(random() % (o.most_bytes() + 2) | (random() & 0x8000));
      if (o.is_dynamic()) std::memcpy(&record[o.offset], &length, 2);
    }
    if (const auto event = packer.pack(record)) {
      ++good;
      ASSERT_LE(event->size(), fields_size(c));
    }
  }
  EXPECT_GT(good, 1000);
}

}  // namespace
}  // namespace blip::ctf::testing
