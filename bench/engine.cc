// SPDX-License-Identifier: MIT
// What blip needs for a deferred hit behind the ring: queue, merge of four rings, decoding, a handler with a filter and a sum by
// key. In CPU time of the thread. Prints a line of JSON.
#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "abi/layout.h"
#include "base/check.h"
#include "script/front/blocks_language.h"
#include "session/run/engine.h"
#include "session/run/hit_sink.h"

namespace {

using namespace blip;
using namespace blip::session;

constexpr const char* kScript = R"(probe 0 function "" "f"
map 0 "sum" (i64) i64 limit 4096 drop kept
function h probe 0 at hit
  local 0 i64
b0: v9 = register 7
    set 0 v9
    v0 = local 0
    v1 = less 3 v0
    branch v1 b1 b2
b1: v0 = local 0
    v2 = and v0 1023
    v3 = add_to 0 (v2) v0
    jump b2
b2: return
)";
constexpr int kRings = 4;
constexpr int kPerRing = 16'384;  // of a round: 1 MiB of each ring
constexpr int kRun = 8;           // records of one ring between those of others
constexpr int kRounds = 30;
constexpr uint32_t kRecordSize = 5 * sizeof(uint64_t);

struct NoWorld : script::World {
  std::vector<script::CodeName> names_of(uint64_t, uint64_t) override { return {}; }
  std::vector<uint64_t> stack(uint64_t) override { return {}; }
  std::string thread_name(uint64_t, uint64_t) override { return {}; }
  script::FiredProbe probe(uint64_t) override { return {}; }
  uint64_t realtime_ns(uint64_t clock) override { return clock; }
  uint64_t target_pid() override { return 0; }
};

struct NoWriter : script::Writer {
  void write(std::string_view) override {}
  void warn(std::string_view) override {}
};

struct NoSite : script::HitSite {
  const script::HitScopes& scopes() override { return nothing; }
  script::HitScopes nothing;
};

ctf::EventClass class_of_hits() {
  ctf::EventClass c{.id = abi::kFirstClass, .name = "f"};
  c.has_hit_word = true;
  c.fields = {{.name = "ip", .type = ctf::FieldType::kHex64, .is_context = true},
              {.name = "vtid", .type = ctf::FieldType::kInt32, .is_context = true},
              {.name = "cpu", .type = ctf::FieldType::kUint32, .is_context = true}};
  c.outputs.emplace_back();
  ctf::lay_out(c);
  return c;
}

double thread_seconds() {
  timespec t;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

void put_round(HitSink& sink, uint64_t site, uint64_t begin) {
  for (int run = 0; run < kPerRing / kRun; ++run)
    for (int ring = 0; ring < kRings; ++ring)
      for (int i = 0; i < kRun; ++i) {
        const auto n = static_cast<uint64_t>((run * kRings + ring) * kRun + i);
        const std::array<uint64_t, 5> record = {0, kRecordSize, site, 77, n};
        sink.put({.time_ns = begin + n,
                  .row = static_cast<uint32_t>(ring),
                  .class_id = abi::kFirstClass,
                  .pid = 7,
                  .fields = reinterpret_cast<const uint8_t*>(record.data()),
                  .size = kRecordSize});
      }
}

}  // namespace

int main() {
  const auto script = script::parse_blocks({.name = "bench", .text = kScript}).script;
  CHECK(script);
  Handlers handlers(**script);
  NoSite place;
  const auto site = handlers.add_site(0, {}, place);
  CHECK(site);
  NoWorld world;
  NoWriter writer;
  Engine engine(handlers, world, writer);
  engine.add_classes({class_of_hits()});
  HitSink sink(engine, 7, 7);
  engine.begin(0);
  constexpr int kHits = kPerRing * kRings;
  double best = 1e9;
  for (uint64_t round = 1; round <= kRounds; ++round) {
    const double before = thread_seconds();
    put_round(sink, site->number, round * kHits);
    engine.run_until((round + 1) * kHits);
    best = std::min(best, thread_seconds() - before);
  }
  CHECK(engine.totals().hits == uint64_t{kRounds} * kHits && engine.totals().malformed == 0);
  fmt::print("{{\"what\": \"deferred\", \"ns\": {:.1f}}}\n", best / kHits * 1e9);
}
