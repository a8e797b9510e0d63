// SPDX-License-Identifier: MIT
#include "session/saving.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "ctf/packet.h"
#include "ctf/trace_dir.h"
#include "ring/region_view.h"
#include "session/drain/pad_drain.h"
#include "session/process/statedump.h"

namespace blip::session {

namespace {

Error damaged() {
  return Error(ErrorKind::kInvalid, "what a killed blip recorded cannot be read: its memory is damaged");
}

abi::RingControl* controls_of(const SavedRegion& region) {
  return reinterpret_cast<abi::RingControl*>(region.bytes.data() + abi::kRingControlsOffset);
}

// Reading begins where the files end.
void go_back_to_files(abi::RingControl& control) {
  if (control.release_count != 0) control.consumed = control.releases[control.release_count % 2].pos;
}

// What the killed blip had taken and not written, as if it had not been taken: the bytes are still there
// where no other record came.
void put_back_taken(const SavedRegion& region) {
  const abi::Geometry& g = region.geometry;
  auto* ring = reinterpret_cast<abi::SharedRing*>(region.bytes.data() + g.shared_ring_offset());
  const bool noted = ring->release_count != 0;
  const abi::SharedReleaseNote note =
      noted ? ring->releases[ring->release_count % 2] : abi::SharedReleaseNote{};
  const uint64_t end = ring->consumed;
  ring->consumed = end - std::min<uint64_t>(end - note.ticket, g.slot_count);
  for (uint64_t ticket = ring->consumed; ticket != end; ++ticket) {
    auto* slot = reinterpret_cast<uint64_t*>(region.bytes.data() + g.slots_offset() +
                                             (ticket & (g.slot_count - 1)) * g.slot_size);
    if (slot[0] != abi::slot_state(ticket + g.slot_count, 0, abi::kSlotFree)) continue;
    const uint64_t later = (abi::header_time(slot[1]) - note.time) & abi::kTimeMask;
    const bool written = noted && (later == 0 || later > abi::kTimeMask / 2);
    if (!written) slot[0] = abi::slot_state(ticket, abi::header_class(slot[1]), abi::kSlotFull);
  }
}

Status read_part(const ring::RegionView& from, SavedRegion& to, uint64_t offset, uint64_t size) {
  return from.read(offset, to.bytes.bytes().subspan(offset, size));
}

// A stream file of the killed trace, cut after the packets that its blip had noted.
void cut_stream(int dir, const std::string& name, const ctf::Uuid& uuid, uint32_t packets) {
  const Fd fd(::openat(dir, name.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat file;
  ctf::PacketHeader header;
  if (!fd || ::fstat(fd.get(), &file) != 0 || !S_ISREG(file.st_mode)) return;
  const uint64_t noted = uint64_t{packets} * ctf::kPacketSize;
  if (static_cast<uint64_t>(file.st_size) <= noted) return;
  // The directory's name is the target's word: only what is of this very trace is touched.
  const bool mine = ::pread(fd.get(), &header, sizeof header, 0) == sizeof header &&
                    header.magic == ctf::kPacketMagic && header.uuid == uuid;
  if (mine) (void)!::ftruncate(fd.get(), static_cast<off_t>(noted));
}

// True: the trace is there.
bool cut_killed_trace(const SavedRegion& region) {
  const RegionSchema& schema = region.schema;
  if (schema.dir.empty()) return false;
  const Fd dir(::open(schema.dir.c_str(), O_DIRECTORY | O_RDONLY | O_CLOEXEC));
  if (!dir) return false;
  for (uint32_t i = 0; i < region.geometry.ring_count; ++i) {
    const abi::RingControl& control = controls_of(region)[i];
    const abi::ReleaseNote note =
        control.release_count == 0 ? abi::ReleaseNote{} : control.releases[control.release_count % 2];
    const std::string name = fmt::format("{}cpu{}", schema.prefix, i);
    cut_stream(dir.get(), name, schema.uuid, note.own_packets);
    cut_stream(dir.get(), name + "-forked", schema.uuid, note.several_packets);
  }
  const auto* shared =
      reinterpret_cast<const abi::SharedRing*>(region.bytes.data() + region.geometry.shared_ring_offset());
  const abi::SharedReleaseNote note =
      shared->release_count == 0 ? abi::SharedReleaseNote{} : shared->releases[shared->release_count % 2];
  cut_stream(dir.get(), schema.prefix + "shared", schema.uuid, note.own_packets);
  cut_stream(dir.get(), schema.prefix + "shared-forked", schema.uuid, note.several_packets);
  return true;
}

// What tells readers the names of addresses: the packets of the killed trace, as some of the saved one.
void copy_statedump(const RegionSchema& schema, const ctf::TraceDir& to, const ctf::Uuid& uuid) {
  const std::string name = "statedump";
  const Fd dir(schema.dir.empty() ? -1 : ::open(schema.dir.c_str(), O_DIRECTORY | O_RDONLY | O_CLOEXEC));
  if (!dir) return;
  const Fd from(
      ::openat(dir.get(), (schema.prefix + name).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat file;
  if (!from || ::fstat(from.get(), &file) != 0 || !S_ISREG(file.st_mode)) return;
  const Fd copy(
      ::openat(to.dir_fd(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  std::array<uint8_t, ctf::kPacketSize> packet;
  ctf::PacketHeader header;
  while (copy && ::read(from.get(), packet.data(), packet.size()) == ssize_t{packet.size()}) {
    std::memcpy(&header, packet.data(), sizeof header);
    if (header.magic != ctf::kPacketMagic || header.uuid != schema.uuid) return;
    header.uuid = uuid;
    std::memcpy(packet.data(), &header, sizeof header);
    if (::write(copy.get(), packet.data(), packet.size()) != ssize_t{packet.size()}) return;
  }
}

std::vector<int32_t> first_pids(const SavedRegion& region) {
  std::vector<int32_t> pids;
  for (uint32_t i = 0; i < region.geometry.ring_count; ++i) {
    const abi::RingControl& control = controls_of(region)[i];
    pids.push_back(control.release_count == 0 ? region.schema.vpid
                                              : control.releases[control.release_count % 2].pid);
  }
  return pids;
}

}  // namespace

Result<std::optional<SavedRegion>> copy_region(const proc::Memory& memory, const probe::LeftRegion& region) {
  const abi::DataHeader& header = region.untrusted_header;
  if (region.never_armed() || header.subbuf_size == 0 || header.schema_size == 0)
    return std::optional<SavedRegion>();
  const ring::RegionView view = probe::view_of(memory, region.range);
  TRY(const auto geometry, view.geometry(header));
  if (!geometry) return damaged();
  SavedRegion saved{.geometry = *geometry};
  TRY(saved.bytes, Mapping::create(geometry->region_size(), PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  TRY_OK(read_part(view, saved, 0, geometry->ring_data_offset()));
  TRY_OK(read_part(view, saved, geometry->schema_offset(), header.schema_size));
  TRY_OK(read_part(view, saved, geometry->stacks_offset(),
                   geometry->rule_cache_offset() - geometry->stacks_offset()));
  for (uint32_t i = 0; i < geometry->ring_count; ++i) {
    abi::RingControl& control = controls_of(saved)[i];
    go_back_to_files(control);
    if (control.pos == control.consumed) continue;
    TRY_OK(read_part(view, saved, geometry->ring_data_offset() + i * geometry->ring_size(),
                     geometry->ring_size()));
  }
  const auto text = saved.bytes.bytes().subspan(geometry->schema_offset(), header.schema_size);
  TRY(saved.schema, parse_region_schema({reinterpret_cast<const char*>(text.data()), text.size()}));
  if (saved.schema.classes.size() + abi::kFirstClass > geometry->class_count) return damaged();
  if (!saved.schema.dir.empty()) put_back_taken(saved);  // else they were shown
  return std::optional(std::move(saved));
}

Result<SavedTrace> save_trace(SavedRegion region, pid_t pid, const std::string& dir) {
  SavedTrace saved{.dir = dir};
  RegionSchema& schema = region.schema;
  TRY(ctf::TraceDir trace, ctf::TraceDir::create(dir));
  const ctf::Uuid uuid = ctf::random_uuid();
  for (ctf::EventClass& c : schema.classes)
    if (c.of_blip && c.tells_files) complete_statedump_class(c);
  ctf::TscClock clock(ctf::HostClocks{schema.monotonic}, schema.start);
  const auto write_metadata = [&] {
    return trace.write_metadata(ctf::metadata_text(schema.info, schema.classes, uuid));
  };
  schema.info.streams_of_several = false;
  TRY_OK(write_metadata());
  EventLimit limit;
  PadDrain drain({.pid = pid,
                  .vpid = schema.vpid,
                  .classes = schema.classes,
                  .clock = clock,
                  .limit = limit,
                  .latency_rate = measured_latency_rate(clock)},
                 {.geometry = region.geometry,
                  .region = region.bytes.data(),
                  .vpid = schema.vpid,
                  .start_tsc = schema.start.tsc,
                  .ring_pids = first_pids(region)});
  TRY_OK(drain.write_to({.dir = trace, .uuid = uuid, .prefix = "", .first_stream = 0, .before_several = [&] {
                           schema.info.streams_of_several = true;
                           return write_metadata();
                         }}));
  copy_statedump(schema, trace, uuid);
  const bool killed_is_there = cut_killed_trace(region);
  drain.finish();
  if (const auto error = drain.output_error()) return *error;
  const DrainTotals totals = drain.totals();
  saved.events = totals.events;
  saved.discarded = totals.discarded;
  saved.skipped = totals.skipped;
  if (killed_is_there) saved.killed_dir = schema.dir;
  return saved;
}

}  // namespace blip::session
