// SPDX-License-Identifier: MIT
#include "probe/arm/region_pages.h"

#include <algorithm>

#include "proc/files/cpu.h"

namespace blip::probe {

namespace {

constexpr uint64_t kMostHistograms = 4 << 20;  // bytes that are in the target's page tables from the start

RegionView view_of(const TargetRegion& region) {
  return {.fd = region.data_fd.get(), .here = region.data.data(), .there = region.control};
}

}  // namespace

// The site table is blip's own, and gets memory as it fills.
Status RegionPages::allocate_first(const TargetRegion& region, const abi::Geometry& geometry, size_t sites) {
  TRY(online_, proc::online_cpus());
  live_classes_ = std::min(live_classes_, geometry.class_count);
  room_ = ring::first_room(geometry, online_.size());
  live_ = live_parts(geometry, room_, online_, live_classes_);
  std::vector<RegionPart> parts = live_;
  if (sites != 0) parts.push_back({geometry.sites_offset(), sites * sizeof(abi::SiteEntry)});
  return region.allocate(parts);
}

// Of many histograms most are never used: their pages would only have to be taken away again, in a stop.
void RegionPages::populate(const TargetRegion& region, const abi::Geometry& geometry,
                           const proc::Memory& target) const {
  const uint64_t histograms = (geometry.ring_count + uint64_t{1}) * geometry.latency_row_size();
  const uint64_t end = histograms > kMostHistograms ? geometry.latencies_offset() : geometry.region_size();
  for (const RegionPart& part : live_)
    if (part.offset < end)
      fault_in(target,
               {region.control + part.offset, region.control + std::min(part.offset + part.size, end)});
}

// The target's page tables are filled by its first hits.
Status RegionPages::allocate_more(const TargetRegion& region, const abi::Geometry& geometry, uint32_t classes,
                                  size_t used, size_t sites) {
  classes = std::max(classes, live_classes_);
  std::vector<RegionPart> parts = counter_parts(geometry, live_classes_, classes);
  for (const RegionPart& part : histogram_parts(geometry, online_, live_classes_, classes))
    parts.push_back(part);
  parts.push_back({geometry.sites_offset() + used * sizeof(abi::SiteEntry), sites * sizeof(abi::SiteEntry)});
  std::erase_if(parts, [](const RegionPart& part) { return part.size == 0; });
  TRY_OK(region.allocate(parts));
  live_classes_ = classes;
  return {};
}

void RegionPages::start_rings(uint8_t* region, const abi::Geometry& geometry, pid_t owner) const {
  auto* controls = reinterpret_cast<abi::RingControl*>(region + abi::kRingControlsOffset);
  for (const unsigned cpu : online_) ring::start_with(room_, geometry, owner, controls[cpu]);
}

void RegionPages::fill_rings(const TargetRegion& region, const abi::Geometry& geometry,
                             const proc::Memory& target) {
  if (room_.end == geometry.ring_size()) return;
  filler_ = std::make_unique<RingFiller>(geometry, room_, online_, view_of(region), target);
}

void RegionPages::stop_filling() {
  if (filler_) filler_->stop();
}

std::optional<ring::FirstRoom> RegionPages::growing() const {
  if (!filler_ || filler_->complete()) return std::nullopt;
  return room_;
}

}  // namespace blip::probe
