// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "abi/layout.h"
#include "base/addr.h"
#include "base/result.h"
#include "jit/program/environment.h"
#include "probe/arm/arm_options.h"
#include "probe/arm/batch.h"
#include "probe/arm/region_pages.h"
#include "probe/inject/leftovers.h"
#include "probe/inject/region.h"
#include "probe/inject/sharers.h"
#include "probe/patch/pad_allocator.h"
#include "probe/patch/site_table.h"
#include "proc/files/maps.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"
#include "proc/remote_call.h"

namespace blip::probe {

// All memory that a trace has in its target: data, pads, tables for stacks, gate page. Knows what is in it
// that is not a pad: header, site table, switches, schema, gate.
class TraceMemory {
 public:
  TraceMemory(const proc::Process& process, proc::Memory& memory, std::span<const Module> modules,
              const ArmOptions& options);

  const abi::Geometry& geometry() const { return geometry_; }
  // Until it is mapped.
  void set_geometry(const abi::Geometry& geometry) { geometry_ = geometry; }

  // Maps all of it, with the batch's pads; on an error nothing is left.
  Status map(proc::RemoteCaller& caller, std::span<const proc::Map> maps, const Batch& batch,
             PrivateSizes sizes, AlsoCalled& also);
  // Memory for the data of the first batch, and for the site table's entries of that.
  Status allocate(const Batch& batch);
  // Tables for stacks; nothing if nobody asks for them.
  Status fill_tables();
  // All that is known before there are pads. The last store is the magic number: who finds that finds the rest.
  Status write_header(const jit::Environment& env, uint32_t unannounced_gate);
  // Which parts of it the kernel has given memory to.
  RegionPages& pages() { return pages_; }
  const RegionPages& pages() const { return pages_; }

  // Further pads.
  Status check_site_room(const Batch& batch) const;
  // Memory for what they will write to: counters and histograms of classes before `classes`.
  Status allocate_more(const Batch& batch, uint32_t classes);
  // True: there is room for them in areas that are mapped.
  bool place_pads(const Batch& batch);
  // Whether a region with so many mappings of pads can have one more.
  static Status check_pad_files(size_t files);
  // Maps what place_pads() had no room for. Another blip finds it, too.
  Status map_pads(proc::RemoteCaller& caller, std::span<const proc::Map> maps, const Batch& batch);
  // Where the pads are that were placed last.
  PadPlaces places() const;

  // The site table: by it a later blip restores the text.
  void put_sites(std::span<const Edit> edits);
  bool write_schema(std::string_view text);
  void switch_probe(size_t number, bool on);
  // The gate page is private memory of the target. What children of forks find when theirs is wiped, and
  // whether calls are filtered, is in the header.
  Status write_gate(const abi::GatePage& page, uint32_t filtered, uint32_t unannounced_gate);

  uint8_t* here() const { return region_.data.data(); }
  const TargetRegion& region() const { return region_; }
  const MemorySharers& sharers() const { return sharers_; }
  Parking parking() const { return parking_; }
  const KeptMemory& kept() const { return kept_; }
  Footprint footprint() const;
  // blip's own code, in the target.
  std::vector<AddrRange> pads() const;
  // Takes from all mappings what would make the last stop long, unless somebody else shares it.
  void empty_rings() const;

 private:
  Status allocate_schema(size_t size) const;
  void prepare_stacks(const jit::Environment& env);
  std::vector<Neighbourhood> with_spare(std::span<const Neighbourhood> areas) const;
  void note_areas(std::span<const Neighbourhood> areas);
  abi::DataHeader* header() const { return reinterpret_cast<abi::DataHeader*>(here()); }
  uint64_t* pad_file_list() const {
    return reinterpret_cast<uint64_t*>(here() + geometry_.pad_files_offset());
  }

  const proc::Process& process_;
  proc::Memory& memory_;
  abi::Geometry geometry_;
  TargetRegion region_;
  RegionPages pages_;
  SiteTable sites_;
  MemorySharers sharers_;
  UnwindTablesWanted unwind_;
  Parking parking_;
  KeptMemory kept_;  // of earlier blips
  std::string schema_;
  const bool may_grow_;  // pads may come later
  PadAllocator room_;
  std::vector<PadRoom> placed_;   // by neighbourhood of the newest batch
  bool has_trampolines_ = false;  // of the newest batch, in the newest file
};

}  // namespace blip::probe
