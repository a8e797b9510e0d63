// SPDX-License-Identifier: MIT
#include "session/saving.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "ctf/packet.h"
#include "ring/format.h"

namespace blip::session {
namespace {

constexpr abi::Geometry kGeometry = {.ring_count = 1,
                                     .class_count = abi::kFirstClass + 1,
                                     .subbuf_count = 2,
                                     .subbuf_size = 4096,
                                     .slot_size = 64,
                                     .slot_count = 16,
                                     .schema_size = 4096};

// A counter that runs three times as fast as the clock.
constexpr uint64_t kSecond = 1'000'000'000, kCyclesPerNs = 3;

SavedRegion one_return(uint64_t latency_cycles) {
  SavedRegion saved{.geometry = kGeometry};
  auto bytes =
      Mapping::create(kGeometry.region_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_TRUE(bytes);
  saved.bytes = *std::move(bytes);
  uint8_t* region = saved.bytes.data();
  ring::format_region(kGeometry, region, reinterpret_cast<uint64_t>(region));
  const uint64_t record[] = {abi::make_header(abi::kFirstClass, ctf::HostClocks::tsc()), latency_cycles};
  std::memcpy(region + kGeometry.ring_data_offset(), record, sizeof record);
  reinterpret_cast<abi::RingControl*>(region + abi::kRingControlsOffset)->pos = sizeof record;

  RegionSchema& schema = saved.schema;
  schema.vpid = 42;
  schema.start = {ctf::HostClocks::tsc() - kCyclesPerNs * kSecond, ctf::HostClocks::monotonic_ns() - kSecond};
  ctf::EventClass c{.id = abi::kFirstClass, .name = "f:return"};
  c.fields = {{.name = "latency_ns", .type = ctf::FieldType::kUint64, .is_duration = true}};
  ctf::lay_out(c);
  schema.classes = {c};
  const auto parsed = parse_region_schema(to_text(schema));
  EXPECT_TRUE(parsed);
  if (parsed) schema = *parsed;
  return saved;
}

TEST(Saving, latencies_are_in_ns_whatever_the_clock_of_the_records) {
  std::string dir = ::testing::TempDir() + "/blip-saving-XXXXXX";
  ASSERT_TRUE(::mkdtemp(dir.data()));
  const auto saved = save_trace(one_return(kCyclesPerNs * 5'000'000), ::getpid(), dir + "/t");
  ASSERT_TRUE(saved) << saved.error().message();
  EXPECT_EQ(saved->events, 1u);
  std::ifstream in(dir + "/t/cpu0", std::ios::binary);
  in.seekg(sizeof(ctf::PacketHeader) + ctf::kEventHeaderSize);
  uint64_t latency = 0;
  in.read(reinterpret_cast<char*>(&latency), sizeof latency);
  EXPECT_NEAR(double(latency), 5'000'000, 1'000'000);
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace blip::session
