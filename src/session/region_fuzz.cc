// SPDX-License-Identifier: MIT
// What a killed blip left, after the target has changed it as it likes: whatever its header, tables, rings
// and schema say, reading it ends, stays inside, and gives a trace or an error. The input is a list of
// (offset, word) to store; offsets count from the header, the schema and the rest in turn, so that the
// interesting words are hit.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/check.h"
#include "ctf/test_captured.h"
#include "probe/inject/left_region.h"
#include "ring/test_region.h"
#include "session/saving.h"

namespace {

using namespace blip;

constexpr abi::Geometry kGeometry = {.ring_count = 1,
                                     .class_count = abi::kFirstClass + 2,
                                     .subbuf_count = 2,
                                     .subbuf_size = 4096,
                                     .site_count = 8,
                                     .probe_count = 1,
                                     .slot_size = 128,
                                     .slot_count = 16,
                                     .schema_size = 4096};

struct Store {
  uint16_t at;
  uint64_t word;
} __attribute__((packed));

std::string schema_text() {
  session::RegionSchema schema;
  schema.info = {.hostname = "here", .procname = "a", .command_line = "blip record", .creation_time = ""};
  schema.start = {1, 1};
  schema.vpid = 1;
  schema.classes.push_back({.id = abi::kFirstClass, .name = "work"});
  schema.classes.back().fields = {{"rdi", ctf::FieldType::kHex64}};
  ctf::lay_out(schema.classes.back());
  using namespace ctf::testing;
  const ctf::Field element = structure("", {integer("x", ctf::kNoOutput, 4)});
  schema.classes.push_back(
      captured_class({fixed(8, true), string(20), elements(4, 4)},
                     {labelled(integer("e", 0, 4), {{1, "RED"}}), text("s", 1), sequence("v", 2, 4, element)},
                     abi::kFirstClass + 1, "captured"));
  return to_text(schema);
}

// Errors name the process; blip's own cannot be opened.
pid_t sleeper() {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) ::pause();
}

void format(uint8_t* region) {
  static const std::string schema = schema_text();
  std::memset(region, 0, kGeometry.region_size());
  ring::format_region(kGeometry, region, reinterpret_cast<uint64_t>(region));
  auto* header = reinterpret_cast<abi::DataHeader*>(region);
  header->schema_size = schema.size();
  std::memcpy(region + kGeometry.schema_offset(), schema.data(), schema.size());
}

void spoil(uint8_t* region, const uint8_t* data, size_t size) {
  constexpr uint64_t kWord = sizeof(uint64_t);
  Store store;
  for (size_t i = 0; i + sizeof store <= size; i += sizeof store) {
    std::memcpy(&store, data + i, sizeof store);
    const uint64_t bases[] = {0, kGeometry.schema_offset(), kGeometry.shared_ring_offset(),
                              abi::kRingControlsOffset};
    const uint64_t at = bases[store.at % 4] + store.at / 4 * kWord % abi::kPageSize;
    std::memcpy(region + at % (kGeometry.region_size() - kWord), &store.word, kWord);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static auto* const region = new ring::TestRegion(kGeometry);
  static const auto* const process = new Result(proc::Process::open(sleeper()));
  static const auto* const own = new Result(proc::Memory::open(::getpid()));
  CHECK(process->has_value() && own->has_value());
  const proc::Memory& memory = **own;
  static const std::string dir =
      std::filesystem::temp_directory_path() / ("region_fuzz." + std::to_string(::getpid()));
  format(region->region());
  spoil(region->region(), data, size);
  proc::Map map;
  map.range = {TargetAddr(reinterpret_cast<uint64_t>(region->region())),
               TargetAddr(reinterpret_cast<uint64_t>(region->region()) + kGeometry.region_size())};
  const auto left = probe::read_left_region(**process, memory, map);
  if (!left) return 0;
  if (const auto entries = probe::read_site_entries(memory, *left))
    (void)probe::patches_of(memory, {}, *entries);
  (void)probe::footprint_of(*left, {&map, 1});
  auto copied = session::copy_region(memory, *left);
  if (!copied || !*copied) return 0;
  (*copied)->schema.dir.clear();  // no file outside is looked at
  (void)session::save_trace(std::move(**copied), 1, dir);
  std::filesystem::remove_all(dir);
  return 0;
}
