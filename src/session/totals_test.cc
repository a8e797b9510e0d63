// SPDX-License-Identifier: MIT
#include "session/totals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace blip::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kMiB = 1 << 20;

Options with_buffers(uint32_t count, uint32_t size) {
  Options options;
  options.subbuf_count = count;
  options.subbuf_size = size;
  return options;
}

std::string advice(const Options& options, const DrainTotals& drained) {
  StopRequest stop;
  const TraceContext context(options, stop);
  Totals totals(context);
  totals.add(drained);
  return totals.buffer_advice();
}

TEST(Totals, adds_up_what_processes_brought) {
  const Options options;
  StopRequest stop;
  const TraceContext context(options, stop);
  Totals totals(context);
  totals.add(DrainTotals{.events = 5, .discarded = 1, .skipped = 2});
  totals.add(DrainTotals{.events = 7, .discarded = 10, .skipped = 20, .malformed = 3});
  totals.add_events(100);
  totals.add_warning("first");
  Summary summary;
  summary.warnings = {"before"};
  totals.tell(summary, std::nullopt);
  EXPECT_EQ(summary.events, 112U);
  EXPECT_EQ(summary.discarded, 11U);
  EXPECT_EQ(summary.skipped, 22U);
  EXPECT_THAT(summary.warnings,
              ElementsAre("before", "first", "3 places in the buffers made no sense and were cut"));
  EXPECT_FALSE(summary.failed);
}

TEST(Totals, a_trace_that_could_not_be_written_failed) {
  const Options options;
  StopRequest stop;
  const TraceContext context(options, stop);
  Summary summary;
  Totals(context).tell(summary, Error(ErrorKind::kSystem, "no space"));
  EXPECT_THAT(summary.warnings, ElementsAre("the trace is incomplete: no space"));
  EXPECT_TRUE(summary.failed);
}

TEST(Totals, no_advice_where_nothing_was_discarded) {
  EXPECT_THAT(advice(with_buffers(4, kMiB), {.events = 1, .ring_needed = 64 * kMiB}), IsEmpty());
}

TEST(Totals, advises_the_next_size_with_a_quarter_to_spare) {
  EXPECT_THAT(advice(with_buffers(4, kMiB), {.discarded = 1, .ring_needed = 16 * kMiB}),
              HasSubstr("--subbuf-size 8M would have been enough"));
  EXPECT_THAT(advice(with_buffers(4, 64 << 10), {.discarded = 1, .ring_needed = 300 << 10}),
              HasSubstr("--subbuf-size 128k would have been enough"));
}

TEST(Totals, advises_at_least_twice_the_size) {
  EXPECT_THAT(advice(with_buffers(4, kMiB), {.discarded = 1, .ring_needed = 1}),
              HasSubstr("--subbuf-size 2M"));
}

TEST(Totals, advises_fewer_probes_where_no_buffer_is_large_enough) {
  EXPECT_THAT(advice(with_buffers(4, kMiB), {.discarded = 1, .ring_needed = 2048 * kMiB}),
              HasSubstr("2048 MiB for each CPU would have been enough, more than blip takes"));
  EXPECT_THAT(advice(with_buffers(4, kMiB), {.discarded = 1}), HasSubstr("try a larger --subbuf-size"));
}

}  // namespace
}  // namespace blip::session
