// SPDX-License-Identifier: MIT
// The data region of a blip that has ended, as found in a target. Everything in it is the target's word only.
#pragma once

#include <span>
#include <vector>

#include "abi/layout.h"
#include "base/addr.h"
#include "base/result.h"
#include "probe/inject/region.h"
#include "probe/patch/patches.h"
#include "proc/files/maps.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"
#include "ring/region_view.h"

namespace blip::probe {

struct LeftRegion {
  AddrRange range;
  uint64_t inode = 0;
  abi::DataHeader untrusted_header{};
  std::vector<uint64_t> untrusted_pad_files{};  // inode numbers

  // Mapped but not yet described: no site can have been patched.
  bool never_armed() const { return untrusted_header.magic == 0; }
  bool has_pads(const proc::Map& map) const;
};

// The region in the process's memory, which must outlive the view.
ring::RegionView view_of(const proc::Memory& memory, AddrRange region);

bool is_data_memory(const proc::Map& map);
bool is_pad_memory(const proc::Map& map);

// Fails with kBusy if it is another version's, or damaged.
Result<LeftRegion> read_left_region(const proc::Process& process, const proc::Memory& memory,
                                    const proc::Map& map);

// kBusy, naming the blip, if the one that made it still lives.
Status check_owner(const abi::DataHeader& untrusted_header);

// Where the text was changed, sorted; of a place that was probed more than once there may be several.
Result<std::vector<abi::SiteEntry>> read_site_entries(const proc::Memory& memory, const LeftRegion& region);

// True if the entry's jump stands in the text.
Result<bool> is_in_text(const proc::Memory& memory, const abi::SiteEntry& entry);

// One patch for each entry that the text may still hold. Only places that really hold what the table says are
// restored, so the table is checked by the text itself.
Result<PatchTable> patches_of(const proc::Memory& memory, std::span<const proc::Map> maps,
                              std::span<const abi::SiteEntry> sorted);

// Returns what belongs to the region: the memory below it and the pads that its header names.
Footprint footprint_of(const LeftRegion& region, std::span<const proc::Map> maps);

// How much private memory of blip's lies below the data: the gate page, and that of traps, whose size the
// header tells. 0: neither is there yet.
uint64_t size_below(std::span<const proc::Map> maps, TargetAddr control, const abi::DataHeader& header);

}  // namespace blip::probe
