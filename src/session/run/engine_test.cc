// SPDX-License-Identifier: MIT
#include "session/run/engine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "abi/layout.h"
#include "script/front/blocks_language.h"

namespace blip::session {
namespace {

class NoWorld : public script::World {
 public:
  std::vector<script::CodeName> names_of(uint64_t, uint64_t) override { return {}; }
  std::vector<uint64_t> stack(uint64_t) override { return {}; }
  std::string thread_name(uint64_t, uint64_t) override { return {}; }
  script::FiredProbe probe(uint64_t) override { return {}; }
  uint64_t realtime_ns(uint64_t clock) override { return clock; }
  uint64_t target_pid() override { return 0; }
};

struct TextWriter : script::Writer {
  void write(std::string_view text) override { out += text; }
  void warn(std::string_view line) override { warned += std::string(line) + "\n"; }
  std::string out, warned;
};

class NoSite : public script::HitSite {
 public:
  const script::HitScopes& scopes() override { return scopes_; }

 private:
  script::HitScopes scopes_;
};

// A class of records with a number, a thread, a CPU and 8 bytes for each captured value.
ctf::EventClass class_of(uint16_t id, size_t captured) {
  ctf::EventClass c{.id = id, .name = "c"};
  c.has_hit_word = captured != 0;
  c.fields = {{.name = "ip", .type = ctf::FieldType::kHex64, .is_context = true},
              {.name = "vtid", .type = ctf::FieldType::kInt32, .is_context = true},
              {.name = "cpu", .type = ctf::FieldType::kUint32, .is_context = true}};
  for (size_t i = 0; i < captured; ++i) c.outputs.emplace_back();
  ctf::lay_out(c);
  return c;
}

// A script in the text form of blocks with an engine, and records made by hand.
class Scene {
 public:
  explicit Scene(const std::string& text) {
    auto parsed = script::parse_blocks({.name = "test", .text = text});
    EXPECT_TRUE(parsed.script) << (parsed.script ? "" : parsed.script.error().message());
    script_ = *std::move(parsed.script);
    handlers_.emplace(*script_);
    const Status made = handlers_->add_probes_without_hit();
    EXPECT_TRUE(made) << (made ? "" : made.error().message());
    engine_.emplace(*handlers_, world_, writer_);
    engine_->add_classes({class_of(abi::kFirstClass, 0), class_of(abi::kFirstClass + 1, 1)});
  }

  uint64_t site(size_t probe) {
    NoSite site;
    const auto made = handlers_->add_site(probe, {.function = "f"}, site);
    EXPECT_TRUE(made) << (made ? "" : made.error().message());
    return made ? made->number : 0;
  }

  HitQueue::Ring ring() { return engine_->open_ring(); }

  // With one captured value, or none.
  void hit(HitQueue::Ring ring, uint64_t time, uint64_t site, std::optional<uint64_t> value = {},
           bool is_fault = false) {
    const auto id = static_cast<uint16_t>(abi::kFirstClass + value.has_value());
    std::vector<uint64_t> words = {0};
    if (value) words.push_back(5 * 8 | uint64_t{is_fault} << abi::kHitFaultShift);
    words.push_back(site);
    words.push_back(uint64_t{3} << 32 | 77);
    if (value) words.push_back(*value);
    engine_->add(ring,
                 {.time_ns = time,
                  .stack = 0,
                  .size = static_cast<uint32_t>(words.size() * 8),
                  .pid = 7,
                  .class_id = id},
                 reinterpret_cast<const uint8_t*>(words.data()));
  }

  Engine& engine() { return *engine_; }
  Handlers& handlers() { return *handlers_; }
  TextWriter& writer() { return writer_; }
  const std::string& out() const { return writer_.out; }

 private:
  NoWorld world_;
  TextWriter writer_;
  std::unique_ptr<script::Script> script_;
  std::optional<Handlers> handlers_;
  std::optional<Engine> engine_;
};

constexpr char kAll[] = R"(probe 0 begin
probe 1 function "" "f"
probe 2 timer 100
probe 3 end
map 0 "n" () i64 limit 1 fail kept
format 0 "begin\x0a" ()
format 1 "hit %d at %d of %d/%d on %d\x0a" (i64, i64, i64, i64, i64)
format 2 "timer %d sees %d\x0a" (i64, i64)
format 3 "end %d\x0a" (i64)
function b probe 0 at blip
b0:
  emit 0 ()
  return
function h probe 1 at hit
b0:
  r = register 7
  v = add_to 0 () 1
  c = clock
  p = pid
  t = tid
  u = cpu
  emit 1 (r, c, p, t, u)
  return
function t probe 2 at blip
b0:
  c = clock
  n = get 0 ()
  emit 2 (c, n)
  return
function e probe 3 at blip
b0:
  n = get 0 ()
  emit 3 (n)
  return
)";

TEST(Engine, runs_hits_timers_begin_and_end_in_the_order_of_time) {
  Scene scene(kAll);
  const uint64_t f = scene.site(1);
  const auto a = scene.ring(), b = scene.ring();
  scene.engine().begin(1000);
  scene.hit(a, 1010, f, 1);
  scene.hit(a, 1150, f, 3);
  scene.hit(b, 1099, f, 2);
  scene.hit(b, 1100, f, 4);
  scene.engine().run_until(1120);
  EXPECT_EQ(scene.out(),
            "begin\nhit 1 at 1010 of 7/77 on 3\nhit 2 at 1099 of 7/77 on 3\ntimer 1100 sees 2\n"
            "hit 4 at 1100 of 7/77 on 3\n");
  EXPECT_EQ(scene.engine().next_due(), 1200U);
  scene.engine().end(1160);
  EXPECT_TRUE(scene.out().ends_with("hit 3 at 1150 of 7/77 on 3\nend 4\n")) << scene.out();
  EXPECT_EQ(scene.engine().totals().hits, 4U);
  EXPECT_EQ(scene.engine().exit_code(), 0);
}

TEST(Engine, a_timer_waits_until_everything_before_it_has_come) {
  Scene scene(kAll);
  const uint64_t f = scene.site(1);
  const auto ring = scene.ring();
  scene.engine().begin(0);
  scene.engine().run_until(99);
  EXPECT_EQ(scene.out(), "begin\n");
  scene.hit(ring, 99, f, 1);
  scene.engine().run_until(100);
  EXPECT_TRUE(scene.out().ends_with("timer 100 sees 1\n")) << scene.out();
}

constexpr char kExit[] = R"(probe 0 function "" "f"
probe 1 end
probe 2 timer 50
format 0 "%d\x0a" (i64)
format 1 "end\x0a" ()
format 2 "timer\x0a" ()
function h probe 0 at hit
  local 0 i64
b0:
  r = register 7
  set 0 r
  v = local 0
  emit 0 (v)
  z = equal v 2
  branch z b1 b2
b1:
  exit 5
  v = local 0
  emit 0 (v)
  return
b2:
  return
function e probe 1 at blip
b0:
  emit 1 ()
  return
function t probe 2 at blip
b0:
  emit 2 ()
  return
)";

TEST(Engine, nothing_later_runs_after_exit_but_end) {
  Scene scene(kExit);
  const uint64_t f = scene.site(0);
  const auto a = scene.ring(), b = scene.ring();
  scene.engine().begin(0);
  scene.hit(a, 10, f, 1);
  scene.hit(b, 20, f, 2);
  scene.hit(a, 30, f, 3);
  scene.engine().run_until(100);
  EXPECT_TRUE(scene.engine().is_over());
  EXPECT_FALSE(scene.engine().next_due());
  scene.hit(b, 110, f, 4);
  scene.engine().end(120);
  EXPECT_EQ(scene.out(), "1\n2\n2\nend\n");
  EXPECT_EQ(scene.engine().exit_code(), 5);
  EXPECT_EQ(scene.engine().totals().hits, 2U);
  EXPECT_EQ(scene.engine().totals().not_run, 2U);
}

TEST(Engine, a_value_that_could_not_be_read_fails_the_handler) {
  Scene scene(kExit);
  const uint64_t f = scene.site(0);
  const auto ring = scene.ring();
  scene.engine().begin(0);
  scene.hit(ring, 10, f, 1, true);
  scene.hit(ring, 11, f, 7);
  scene.engine().run_until(20);
  EXPECT_EQ(scene.out(), "7\n");
  EXPECT_EQ(scene.writer().warned, "probe 0: memory that cannot be read\n");
  EXPECT_EQ(scene.engine().totals().failed, 1U);
}

TEST(Engine, records_that_no_pad_can_have_written_are_counted) {
  Scene scene(kExit);
  const uint64_t f = scene.site(0);
  const auto ring = scene.ring();
  scene.engine().begin(0);
  scene.hit(ring, 10, 999'999, 1);                       // no such site
  scene.hit(ring, 11, *scene.handlers().site_of(1), 1);  // an end probe
  scene.hit(ring, 12, f);                                // another number of values
  scene.engine().add(ring, {.time_ns = 13, .stack = 0, .size = 8, .pid = 7, .class_id = abi::kFirstClass + 1},
                     reinterpret_cast<const uint8_t*>("12345678"));
  scene.engine().add(ring, {.time_ns = 14, .stack = 0, .size = 8, .pid = 7, .class_id = 60'000},
                     reinterpret_cast<const uint8_t*>("12345678"));
  scene.engine().run_until(20);
  EXPECT_EQ(scene.out(), "");
  EXPECT_EQ(scene.engine().totals().malformed, 5U);
  EXPECT_EQ(scene.engine().totals().hits, 0U);
}

TEST(Engine, stops_while_nobody_takes_the_output) {
  Scene scene(kExit);
  const uint64_t f = scene.site(0);
  const auto ring = scene.ring();
  bool is_full = false;
  scene.engine().stop_when([&] { return is_full; });
  scene.engine().begin(0);
  scene.hit(ring, 10, f, 6);
  scene.hit(ring, 11, f, 7);
  scene.engine().run_until(11);
  is_full = true;
  scene.engine().run_until(20);
  EXPECT_TRUE(scene.engine().is_held_up());
  EXPECT_EQ(scene.out(), "6\n");
  is_full = false;
  scene.engine().run_until(20);
  EXPECT_FALSE(scene.engine().is_held_up());
  EXPECT_EQ(scene.out(), "6\n7\n");
}

TEST(Engine, places_of_one_probe_share_their_handler) {
  Scene scene(kAll);
  const size_t before = scene.handlers().program().functions.size();
  const uint64_t first = scene.site(1), second = scene.site(1);
  EXPECT_NE(first, second);
  EXPECT_EQ(scene.handlers().program().functions.size(), before + 1);
  EXPECT_EQ(scene.handlers().sites()[first].function, scene.handlers().sites()[second].function);
}

TEST(Engine, handlers_that_come_later_keep_the_globals) {
  Scene scene(std::string(kAll) + "");
  const uint64_t f = scene.site(1);
  const auto ring = scene.ring();
  scene.engine().begin(0);
  scene.hit(ring, 1, f, 1);
  scene.engine().run_until(2);
  const uint64_t g = scene.site(1);
  scene.hit(ring, 3, g, 2);
  scene.engine().run_until(100);
  EXPECT_TRUE(scene.out().ends_with("timer 100 sees 2\n")) << scene.out();
}

constexpr char kLives[] = R"(probe 0 function "" "f"
probe 1 process_begin
probe 2 process_end 7
format 0 "%d %d %d\x0a" (i64, i64, i64)
function h probe 0 at hit
b0:
  c = clock
  emit 0 (0, c, 0)
  return
function b probe 1 at blip
b0:
  p = pid
  t = tid
  emit 0 (1, p, t)
  return
function e probe 2 at blip
b0:
  p = pid
  t = tid
  emit 0 (2, p, t)
  return
)";

TEST(Engine, lives_come_between_hits_by_time_and_only_to_those_who_ask) {
  using Kind = script::WantedProbe::Kind;
  Scene scene(kLives);
  const uint64_t f = scene.site(0);
  const auto ring = scene.ring();
  scene.engine().begin(0);
  scene.hit(ring, 20, f);
  scene.engine().add_life({.kind = Kind::kProcessBegin, .time_ns = 10, .pid = 7, .tid = 8});
  scene.engine().add_life({.kind = Kind::kThreadBegin, .time_ns = 11, .pid = 7, .tid = 9});
  scene.engine().add_life({.kind = Kind::kProcessEnd, .time_ns = 30, .pid = 6, .tid = 6});
  scene.engine().add_life({.kind = Kind::kProcessEnd, .time_ns = 31, .pid = 7, .tid = 7});
  scene.engine().run_until(40);
  EXPECT_EQ(scene.out(), "1 7 8\n0 20 0\n2 7 7\n");
  EXPECT_EQ(scene.engine().totals().hits, 1U);
}

TEST(Engine, numbers_stacks_by_process_and_frames) {
  Scene scene(kAll);
  const std::vector<uint64_t> x = {1, 2}, y = {1, 2, 3};
  const uint64_t first = scene.engine().number_of_stack(7, x);
  EXPECT_NE(first, 0U);
  EXPECT_EQ(scene.engine().number_of_stack(7, x), first);
  EXPECT_NE(scene.engine().number_of_stack(8, x), first);
  EXPECT_NE(scene.engine().number_of_stack(7, y), first);
  EXPECT_EQ(scene.engine().stack(first)->second, x);
  EXPECT_EQ(scene.engine().stack(first)->first, 7);
  EXPECT_EQ(scene.engine().stack(99), nullptr);
}

}  // namespace
}  // namespace blip::session
