// SPDX-License-Identifier: MIT
#include "probe/arm/trace_memory.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "base/bytes_of.h"
#include "jit/stubs.h"
#include "probe/inject/empty_rings.h"
#include "probe/inject/parked_code.h"
#include "proc/files/status.h"
#include "ring/format.h"

namespace blip::probe {

namespace {

Status allocate_pad_list(const TargetRegion& region, const abi::Geometry& geometry, size_t files) {
  const RegionPart part{geometry.pad_files_offset(), files * sizeof(uint64_t)};
  return region.allocate({&part, 1});
}

}  // namespace

TraceMemory::TraceMemory(const proc::Process& process, proc::Memory& memory, std::span<const Module> modules,
                         const ArmOptions& options)
    : process_(process),
      memory_(memory),
      geometry_(options.geometry),
      pages_(options.live_classes),
      unwind_(options.unwind),
      parking_(parking_of(modules)),
      kept_(options.kept),
      schema_(options.schema),
      may_grow_(options.spare_probes != 0) {}

Status TraceMemory::map(proc::RemoteCaller& caller, std::span<const proc::Map> maps, const Batch& batch,
                        PrivateSizes sizes, AlsoCalled& also) {
  room_ = {};  // what an earlier attempt mapped is gone
  TRY(region_, TargetRegion::map(caller, process_, maps, geometry_, with_spare(batch.neighbourhoods()),
                                 batch.trampolines(), sizes, {.bytes = unwind_.size}, also));
  has_trampolines_ = true;
  note_areas(batch.neighbourhoods());
  sharers_ = MemorySharers(process_.pid(), region_.data_fd);
  return {};
}

Status TraceMemory::allocate(const Batch& batch) {
  TRY_OK(pages_.allocate_first(region_, geometry_, batch.max_edits()));
  TRY_OK(allocate_pad_list(region_, geometry_, region_.pad_files.size()));
  return allocate_schema(schema_.size());
}

// It grows with the classes that it tells of.
Status TraceMemory::allocate_schema(size_t size) const {
  if (size == 0) return {};
  const RegionPart part{geometry_.schema_offset(), size};
  return region_.allocate({&part, 1});
}

Status TraceMemory::fill_tables() {
  if (!region_.has_tables) return {};
  return unwind_.fill({.tables = region_.pad_files.front().bytes.bytes(),
                       .stacks = region_.control + geometry_.stacks_offset(),
                       .stacks_here = region_.data.bytes().subspan(geometry_.stacks_offset()),
                       .pads = pads()});
}

// How the walk reads; whether the kernel may be asked is said by the gate page below `control_addr`.
void TraceMemory::prepare_stacks(const jit::Environment& env) {
  if (!region_.has_tables) return;
  const std::vector<AreaMapping>& areas = region_.pad_files.back().areas;
  const auto first = jit::build_area_prologue(areas.front().range.begin, env);
  auto* tables = reinterpret_cast<abi::UnwindHeader*>(region_.pad_files.front().bytes.data());
  tables->control_addr = region_.control.value;
  tables->cache_addr = (region_.control + geometry_.rule_cache_offset()).value;
  tables->safe_load_addr = first ? first->stubs.safe_load.value : 0;
}

Status TraceMemory::write_header(const jit::Environment& env, uint32_t unannounced_gate) {
  // Without it another blip would take this one for dead.
  TRY(const proc::ProcStat stat, proc::read_stat(::getpid(), ::getpid()).with_context("blip itself"));
  header()->owner_pid = ::getpid();
  header()->owner_pid_namespace = own_pid_namespace();
  header()->owner_start_time = stat.start_time;
  header()->trap_size = region_.trap_size;
  header()->unannounced_gate = unannounced_gate;
  header()->shadow_size = region_.shadow_size;
  header()->semaphore_size = region_.semaphore_size;
  header()->shadow_by_thread = env.process.rseq && !env.process.monotonic;
  header()->parking = static_cast<uint32_t>(parking_);
  write_schema(schema_);
  for (size_t i = 0; i < region_.pad_files.size(); ++i) pad_file_list()[i] = region_.pad_files[i].inode;
  header()->pad_file_count = static_cast<uint32_t>(region_.pad_files.size());
  ring::format_region(geometry_, here(), region_.control.value);
  pages_.start_rings(here(), geometry_, process_.ns_pid());
  prepare_stacks(env);
  sites_ =
      SiteTable({reinterpret_cast<abi::SiteEntry*>(here() + geometry_.sites_offset()), geometry_.site_count});
  return {};
}

Status TraceMemory::check_site_room(const Batch& batch) const {
  if (batch.max_edits() <= sites_.room()) return {};
  return Error(ErrorKind::kUnsupported,
               "no room for more probes was provided for in this trace: give a larger --max-probes");
}

Status TraceMemory::allocate_more(const Batch& batch, uint32_t classes) {
  return pages_.allocate_more(region_, geometry_, classes, geometry_.site_count - sites_.room(),
                              batch.max_edits());
}

std::vector<Neighbourhood> TraceMemory::with_spare(std::span<const Neighbourhood> areas) const {
  std::vector<Neighbourhood> all(areas.begin(), areas.end());
  for (Neighbourhood& area : all)
    if (may_grow_) area.spare = room_.spare_for(area.size);
  return all;
}

// Those of the newest file.
void TraceMemory::note_areas(std::span<const Neighbourhood> areas) {
  const size_t file = region_.pad_files.size() - 1;
  placed_.clear();
  for (size_t i = 0; i < areas.size(); ++i) {
    const AreaMapping& area = region_.pad_files[file].areas[i];
    placed_.push_back({area.range, file, area.offset});
    room_.add(placed_.back(), areas[i].size);
  }
}

bool TraceMemory::place_pads(const Batch& batch) {
  auto rooms = room_.take(batch.neighbourhoods());
  placed_ = rooms ? *std::move(rooms) : std::vector<PadRoom>();
  has_trampolines_ = batch.trampolines().frames != 0;
  return placed_.size() == batch.neighbourhoods().size() && !has_trampolines_;
}

Status TraceMemory::check_pad_files(size_t files) {
  if (files < abi::kMaxPadFiles) return {};
  return Error(ErrorKind::kUnsupported, "probes were added to this trace too many times");
}

Status TraceMemory::map_pads(proc::RemoteCaller& caller, std::span<const proc::Map> maps,
                             const Batch& batch) {
  TRY_OK(check_pad_files(region_.pad_files.size()));
  TRY_OK(allocate_pad_list(region_, geometry_, region_.pad_files.size() + 1));
  const bool has_areas = placed_.size() == batch.neighbourhoods().size();
  const auto areas = has_areas ? std::span<const Neighbourhood>() : batch.neighbourhoods();
  TRY(PadFile file, TargetRegion::map_pads(caller, process_, maps, with_spare(areas), batch.trampolines()));
  region_.pad_files.push_back(std::move(file));
  pad_file_list()[region_.pad_files.size() - 1] = region_.pad_files.back().inode;
  header()->pad_file_count = static_cast<uint32_t>(region_.pad_files.size());
  if (!has_areas) note_areas(areas);
  return {};
}

PadPlaces TraceMemory::places() const {
  PadPlaces places;
  for (const PadRoom& room : placed_)
    places.areas.push_back({room.range.begin, &region_.pad_files[room.file].bytes, room.offset});
  if (has_trampolines_) places.trampolines = &region_.pad_files.back();
  return places;
}

void TraceMemory::put_sites(std::span<const Edit> edits) {
  for (const Edit& edit : edits) sites_.put(edit);
}

bool TraceMemory::write_schema(std::string_view text) {
  if (geometry_.schema_size == 0) return true;  // nothing is recorded that could be saved
  if (text.size() > geometry_.schema_size || !allocate_schema(text.size())) return false;
  __atomic_store_n(&header()->schema_size, 0, __ATOMIC_RELEASE);
  std::memcpy(here() + geometry_.schema_offset(), text.data(), text.size());
  __atomic_store_n(&header()->schema_size, text.size(), __ATOMIC_RELEASE);
  return true;
}

void TraceMemory::switch_probe(size_t number, bool on) {
  uint8_t* const byte = here() + geometry_.switches_offset() + number;
  __atomic_store_n(byte, on ? abi::kSwitchOn : abi::kSwitchOff, __ATOMIC_RELAXED);
}

// From outside. What is in the header may have changed since it was written.
Status TraceMemory::write_gate(const abi::GatePage& page, uint32_t filtered, uint32_t unannounced_gate) {
  __atomic_store_n(&header()->filtered, filtered, __ATOMIC_SEQ_CST);
  __atomic_store_n(&header()->unannounced_gate, unannounced_gate, __ATOMIC_RELAXED);
  return memory_.write(region_.control - abi::kGatePageSize, bytes_of(page));
}

Footprint TraceMemory::footprint() const {
  Footprint f{.control = region_.control,
              .data_size = region_.data.size(),
              .trap_size = region_.trap_size,
              .shadow_size = region_.shadow_size,
              .semaphore_size = region_.semaphore_size};
  f.parking = parking_;
  for (const PadFile& file : region_.pad_files) {
    for (const AreaMapping& area : file.areas) f.areas.push_back(area.range);
    for (const TrampolineRun& run : file.trampolines.runs) f.areas.push_back(run.pages);
  }
  f.areas = merge_ranges(std::move(f.areas));
  return f;
}

std::vector<AddrRange> TraceMemory::pads() const {
  std::vector<AddrRange> all;
  for (const PadFile& file : region_.pad_files) {
    if (&file == region_.tables()) continue;
    for (const AreaMapping& area : file.areas) all.push_back(area.range);
    for (const TrampolineRun& run : file.trampolines.runs) all.push_back(run.pages);
  }
  return merge_ranges(std::move(all));
}

void TraceMemory::empty_rings() const {
  if (!sharers_.is_alone()) return;
  const RegionView view{.fd = region_.data_fd.get(), .here = here(), .there = region_.control};
  probe::empty_rings(geometry_, view, pages_.growing());
}

}  // namespace blip::probe
