// SPDX-License-Identifier: MIT
#include "perf/sample.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <vector>

namespace blip::perf {
namespace {

// The body of a record, field by field.
class Body {
 public:
  template <typename T>
  Body& add(T value) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
    return *this;
  }
  // Each register holds its bit's number.
  Body& add_registers() {
    add(uint64_t{2});
    for (uint64_t left = sampled_registers(); left != 0; left &= left - 1)
      add(static_cast<uint64_t>(std::countr_zero(left)));
    return *this;
  }
  std::vector<uint8_t> bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

Body begin() {
  Body body;
  body.add(uint64_t{0x1234})
      .add(uint32_t{7})
      .add(uint32_t{8})
      .add(uint64_t{99})
      .add(uint32_t{3})
      .add(uint32_t{0});
  return body;
}

TEST(Sample, has_all_that_the_kernel_wrote) {
  const auto body =
      begin().add_registers().add(uint64_t{16}).add(uint64_t{1}).add(uint64_t{2}).add(uint64_t{16}).bytes();
  const auto sample = read_sample(body, false);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->pid, 7U);
  EXPECT_EQ(sample->tid, 8U);
  EXPECT_EQ(sample->time_ns, 99U);
  EXPECT_EQ(sample->cpu, 3U);
  EXPECT_TRUE(sample->has_registers);
  EXPECT_EQ(sample->pc, machine::kSampledPc);
  for (size_t i = 0; i < sample->general.size(); ++i)
    EXPECT_EQ(sample->general[i], machine::kSampledGeneral[i]);
  EXPECT_EQ(sample->stack.size(), 16U);
}

TEST(Sample, of_a_stack_only_the_real_bytes_count) {
  const auto body =
      begin().add_registers().add(uint64_t{16}).add(uint64_t{1}).add(uint64_t{2}).add(uint64_t{8}).bytes();
  EXPECT_EQ(read_sample(body, false)->stack.size(), 8U);
}

TEST(Sample, without_registers_has_the_interrupted_address) {
  const auto body = begin().add(uint64_t{0}).add(uint64_t{0}).bytes();
  const auto sample = read_sample(body, false);
  ASSERT_TRUE(sample);
  EXPECT_FALSE(sample->has_registers);
  EXPECT_EQ(sample->pc, 0x1234U);
  EXPECT_TRUE(sample->stack.empty());
}

TEST(Sample, of_the_kernel_shows_no_address_of_it) {
  const auto body = begin().add(uint64_t{0}).add(uint64_t{0}).bytes();
  EXPECT_EQ(read_sample(body, true)->pc, 0U);
}

TEST(Sample, that_is_cut_short_is_none) {
  const auto body =
      begin().add_registers().add(uint64_t{16}).add(uint64_t{1}).add(uint64_t{2}).add(uint64_t{16}).bytes();
  for (size_t size = 0; size < body.size(); ++size)
    EXPECT_FALSE(read_sample(std::span(body).first(size), false)) << size;
}

TEST(Sample, with_more_real_bytes_than_bytes_has_no_stack) {
  const auto body = begin().add_registers().add(uint64_t{8}).add(uint64_t{1}).add(uint64_t{9}).bytes();
  EXPECT_TRUE(read_sample(body, false)->stack.empty());
}

}  // namespace
}  // namespace blip::perf
