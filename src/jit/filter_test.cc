// SPDX-License-Identifier: MIT
#include "jit/filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "abi/layout.h"
#include "abi/shadow.h"
#include "base/mapping.h"
#include "jit/filter_code.h"

namespace blip::jit {
namespace {

constexpr unsigned kRateShift = 48;
__extension__ using Wide = unsigned __int128;

bool matches(std::string_view text, const FilterValues& values) {
  const auto filter = parse_filter(text);
  EXPECT_TRUE(filter) << filter.error().message();
  return filter && passes(*filter, values);
}

TEST(Filter, compares_and_combines) {
  const FilterValues v{.result = 0xffffffff, .latency = 1000, .depth = 2, .tail = 0};
  for (const char* text :
       {"latency_ns > 999", "latency_ns >= 1000", "latency_ns == 1000", "999 < latency_ns",
        "ret == 0xffffffff", "(int)ret == -1", "( int ) ret < 0", "(long)ret > 0", "depth != 0 && tail == 0",
        "depth==1||depth==2", "!(depth == 1)", "depth == 1 && depth == 1 || tail == 0",
        "tail == 1 || depth == 2 && ret > 017", "((depth <= 2))", "latency_ns != 5"})
    EXPECT_TRUE(matches(text, v)) << text;
  for (const char* text : {"latency_ns > 1000", "ret == 0", "(int)ret >= 0", "depth == 1 || tail == 1",
                           "!(depth == 2)", "depth == 2 && (tail == 1 || ret == 1)", "1000 < latency_ns"})
    EXPECT_FALSE(matches(text, v)) << text;
  EXPECT_TRUE(passes({}, v));
}

TEST(Filter, errors_show_where) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"", "should come here\n  \n  ^"},
      {"latency_ns >", "a number should come here\n  latency_ns >\n              ^"},
      {"latency_ns >> 5", "a number should come here\n  latency_ns >> 5\n              ^"},
      {"latency > 5", "there is no field 'latency': use ret, latency_ns, depth or tail\n  latency > 5\n  ^"},
      {"ret == 5x", "'5x' is no number\n  ret == 5x\n         ^"},
      {"ret == 99999999999999999999", "too large\n  ret == 99999999999999999999\n         ^"},
      {"ret = 5", "== != < <= > >=\n  ret = 5\n      ^"},
      {"(ret == 5", "')' is missing here\n  (ret == 5\n           ^"},
      {"ret == 5)", "the end should come here\n  ret == 5)\n          ^"},
      {"ret == 5 depth == 1", "the end should come here\n  ret == 5 depth == 1\n           ^"},
      {"ret == -1", "say (int)ret or (long)ret\n  ret == -1\n         ^"},
      {"depth == -1", "it is never negative\n  depth == -1\n           ^"},
      {"(int)depth == 1", "only ret can be taken as another type\n  (int)depth == 1\n       ^"},
      {"(int)ret == 3000000000", "no int is that large\n  (int)ret == 3000000000\n              ^"},
      {"ret == ret", "a number should come here\n  ret == ret\n         ^"},
      {"ret == 1 &&", "should come here\n  ret == 1 &&\n             ^"},
  };
  for (const auto& [text, message] : kWrong) {
    const auto filter = parse_filter(text);
    ASSERT_FALSE(filter) << text;
    EXPECT_EQ(filter.error().kind(), ErrorKind::kUsage);
    EXPECT_THAT(filter.error().message(), testing::EndsWith(message)) << text;
  }
  EXPECT_FALSE(parse_filter(std::string(1000, '(')));
  EXPECT_FALSE(parse_filter(std::string(1000, '!')));
}

// A filter over random comparisons with values near those it will be tried with.
Filter random_filter(std::mt19937_64& random) {
  Filter filter;
  const auto comparison = [&] {
    FilterNode n{.op = static_cast<FilterOp>(3 + random() % 6),
                 .field = static_cast<FilterField>(random() % 4)};
    if (n.field == FilterField::kResult) n.type = static_cast<FilterType>(random() % 3);
    n.value = random() % 5;
    if (n.type != FilterType::kUnsigned && random() % 2) n.value = ~n.value;
    filter.push_back(n);
    return static_cast<uint32_t>(filter.size() - 1);
  };
  uint32_t all = comparison();
  for (size_t i = random() % 6; i > 0; --i) {
    const uint32_t next = comparison();
    filter.push_back({.op = random() % 2 ? FilterOp::kAnd : FilterOp::kOr, .left = all, .right = next});
    all = static_cast<uint32_t>(filter.size() - 1);
    if (random() % 3) continue;
    filter.push_back({.op = FilterOp::kNot, .left = all});
    all = static_cast<uint32_t>(filter.size() - 1);
  }
  return filter;
}

uint64_t random_value(std::mt19937_64& random) { return random() % 4 ? random() % 6 : ~(random() % 6); }

// bool f(frame, result), with the time of the entry so far back that the latency is far from all numbers, or
// without a latency.
std::vector<uint8_t> code_of(TargetAddr at, const Filter& filter, bool is_tail) {
  using namespace asmjit::x86;  // NOLINT: register names
  CodeBuffer code(at);
  auto& a = code.assembler();
  asmjit::Label fails = a.newLabel(), out = a.newLabel();
  a.push(rsi);
  a.mov(rsi, rdi);
  emit_filter(a, filter, {.result = is_tail ? -1 : 0, .is_tail = is_tail}, fails);
  a.mov(eax, 1);
  a.jmp(out);
  a.bind(fails);
  a.xor_(eax, eax);
  a.bind(out);
  a.pop(rcx);
  a.ret();
  auto bytes = code.finish();
  EXPECT_TRUE(bytes);
  EXPECT_LE(bytes->size(), 32 + kMaxFilterClock + kMaxFilterNode * filter.size());
  return *bytes;
}

TEST(Filter, compiled_and_evaluated_agree) {
  std::mt19937_64 random(20261115);
  auto memory =
      Mapping::create(1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_TRUE(memory);
  const TargetAddr at(reinterpret_cast<uint64_t>(memory->data()));
  int passed = 0;
  for (int n = 0; n < 3000; ++n) {
    const Filter filter = random_filter(random);
    const bool is_tail = random() % 4 == 0;
    const auto code = code_of(at, filter, is_tail);
    std::copy(code.begin(), code.end(), memory->data());
    const auto compiled = reinterpret_cast<bool (*)(abi::ShadowFrame*, uint64_t)>(memory->data());
    for (int i = 0; i < 8; ++i) {
      FilterValues values{
          .result = random_value(random), .latency = 0, .depth = random() % 5, .tail = is_tail};
      abi::ShadowFrame frame{.slot = 8, .time = 0, .outer = abi::kNoCall | values.depth, .sum = 0};
      const bool taken = compiled(&frame, values.result);
      if (is_tail) values.result = 0;
      values.latency = frame.time;  // what it saw; far above all numbers
      EXPECT_EQ(taken, passes(filter, values)) << n;
      passed += taken;
    }
  }
  EXPECT_GT(passed, 3000);
  EXPECT_LT(passed, 21000);
}

TEST(Filter, units_pass_exactly_when_their_nanoseconds_do) {
  std::mt19937_64 random(7);
  const uint64_t rates[] = {uint64_t{1} << kRateShift, (uint64_t{1} << kRateShift) / 3,
                            (uint64_t{5} << kRateShift) / 13, (uint64_t{7} << kRateShift) / 2};
  for (const uint64_t rate : rates) {
    for (int op = 3; op < 9; ++op) {
      for (int n = 0; n < 200; ++n) {
        const uint64_t limit = random() % 100;
        const Filter filter{
            {.op = static_cast<FilterOp>(op), .field = FilterField::kLatency, .value = limit}};
        const Filter units = in_clock_units({filter[0], {.op = FilterOp::kNot, .left = 0}}, rate);
        const uint64_t cycles = random() % 400;
        const auto ns = static_cast<uint64_t>(static_cast<Wide>(cycles) * rate >> kRateShift);
        EXPECT_NE(passes(units, {.latency = cycles}), passes(filter, {.latency = ns}))
            << rate << " " << cycles;
      }
    }
  }
}

}  // namespace
}  // namespace blip::jit
