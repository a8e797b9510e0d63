// SPDX-License-Identifier: MIT
#include "session/plan/shared_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "script/ir/verify.h"

namespace blip::session {
namespace {

using script::Op;
using testing::ElementsAre;
using testing::HasSubstr;

// The returns of one function, but for the last, which is of another; and an entry.
class SharedCallsTest : public testing::Test {
 protected:
  SharedCallsTest() {
    for (const auto& [kind, address] :
         std::initializer_list<std::pair<ProbeKind, uint64_t>>{{ProbeKind::kReturn, 16},
                                                               {ProbeKind::kFunction, 16},
                                                               {ProbeKind::kReturn, 16},
                                                               {ProbeKind::kReturn, 16},
                                                               {ProbeKind::kReturn, 32}}) {
      ProbeRequest request;
      request.kind = kind;
      Target target{.request = options_.probes.size()};
      target.point.addr = FileAddr(address);
      options_.probes.push_back(request);
      targets_.push_back(target);
    }
    refusals_.resize(targets_.size());
  }

  SharedCalls make() { return {options_, targets_, data_, refusals_}; }

  static HitData keeps(const std::vector<uint64_t>& registers, const std::string& text = "") {
    HitData data;
    for (const uint64_t number : registers)
      data.kept.outputs.push_back({.node = data.kept.code.add({.op = Op::kRegister, .value = number})});
    if (text.empty()) return data;
    data.kept.code.texts.push_back(text);
    const uint32_t node = data.kept.code.add({.op = Op::kTextEqual, .a = 0, .value = 0});
    data.kept.outputs.push_back({.node = node});
    return data;
  }

  Options options_;
  std::vector<Target> targets_;
  std::vector<HitData> data_;
  std::vector<std::string> refusals_;
};

TEST_F(SharedCallsTest, the_first_target_leads) {
  const SharedCalls calls = make();
  const size_t leaders[] = {0, 1, 0, 0, 4};
  const bool shared[] = {true, false, true, true, false};
  for (size_t i = 0; i < targets_.size(); ++i) {
    EXPECT_EQ(calls.leader(i), leaders[i]) << i;
    EXPECT_EQ(calls.is_shared(i), shared[i]) << i;
  }
  EXPECT_TRUE(calls.kept(2).outputs.empty());
}

TEST_F(SharedCallsTest, a_refused_target_shares_nothing) {
  refusals_[0] = refusals_[2] = "it is refused";
  EXPECT_FALSE(make().is_shared(3));
}

TEST_F(SharedCallsTest, each_value_is_kept_once) {
  data_ = {keeps({7, 6}, "a"), {}, keeps({6, 2}, "b"), keeps({7}, "a"), {}};
  const SharedCalls calls = make();
  EXPECT_THAT(refusals_, testing::Each(""));
  const script::HitProgram& kept = calls.kept(3);
  EXPECT_TRUE(script::verify(kept));
  EXPECT_EQ(kept.code.texts.size(), 2u);
  EXPECT_EQ(kept.outputs.size(), 5u);  // 7, 6, "a", 2, "b"
  script::HitProgram mine;
  for (uint64_t i = 0; i < 3; ++i) mine.code.add({.op = Op::kEntryValue, .value = i});
  mine.code.add({.op = Op::kConstant, .value = 2});
  std::vector<uint64_t> numbers;
  for (const script::Node& node : calls.renumbered(2, mine).code.nodes) numbers.push_back(node.value);
  EXPECT_THAT(numbers, ElementsAre(1, 3, 4, 2));
}

TEST_F(SharedCallsTest, a_call_keeps_no_more_than_it_can) {
  data_.resize(targets_.size());
  data_[0] = keeps({0, 1, 2, 3, 5, 6, 7, 8});
  data_[2] = keeps({9, 10, 11, 12, 13, 14, 15});
  data_[3] = keeps({8});
  const SharedCalls calls = make();
  EXPECT_THAT(refusals_[2], HasSubstr("one call can keep no more than 14"));
  EXPECT_FALSE(calls.is_shared(2));
  EXPECT_EQ(refusals_[3], "");
  EXPECT_EQ(calls.kept(3).outputs.size(), 8u);
}

}  // namespace
}  // namespace blip::session
