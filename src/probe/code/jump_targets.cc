// SPDX-License-Identifier: MIT
#include "probe/code/jump_targets.h"

#include <algorithm>

#include "elf/bytes.h"
#include "elf/jump_tables.h"

namespace blip::probe {
namespace {

constexpr uint64_t kMostEntries = 16384;

std::vector<FileAddr> inside(const std::vector<FileAddr>& sorted, FileRange range) {
  return {std::upper_bound(sorted.begin(), sorted.end(), range.begin),
          std::lower_bound(sorted.begin(), sorted.end(), range.end)};
}

}  // namespace

JumpTargets::JumpTargets(const Module& module)
    : module_(module),
      entries_(IndirectEntries::of(module.file())),
      tables_(elf::table_starts(module.file())) {
  elf::for_each_stored_pointer(module.file(), [&](elf::StoredPointer p) { relocated_.push_back(p); });
  std::sort(relocated_.begin(), relocated_.end(),
            [](const elf::StoredPointer& a, const elf::StoredPointer& b) { return a.place < b.place; });
}

std::vector<FileAddr> JumpTargets::labels_in(FileRange code) const { return inside(entries_.pointers, code); }

std::vector<FileAddr> JumpTargets::landing_pads_in(FileRange code) const {
  std::vector<FileAddr> pads = inside(entries_.landing_pads, code);
  if (std::binary_search(entries_.landing_pads.begin(), entries_.landing_pads.end(), code.begin))
    pads.insert(pads.begin(), code.begin);
  return pads;
}

bool JumpTargets::is_pointed_at(FileAddr address) const {
  return std::binary_search(entries_.pointers.begin(), entries_.pointers.end(), address);
}

std::vector<FileAddr> JumpTargets::entries_of(x86::JumpSource::Kind kind, TargetAddr table) const {
  const FileAddr at = module_.to_file(table);
  const auto next = std::upper_bound(tables_.begin(), tables_.end(), at);
  const uint64_t size = next != tables_.end() ? *next - at : UINT64_MAX;
  switch (kind) {
    case x86::JumpSource::Kind::kPointers:
      return pointers(at, std::min(size / 8, kMostEntries));
    case x86::JumpSource::Kind::kDistances:
      return distances(at, std::min(size / 4, kMostEntries));
    default:
      return {};
  }
}

std::vector<FileAddr> JumpTargets::distances(FileAddr table, uint64_t count) const {
  const elf::ElfFile& file = module_.file();
  std::vector<FileAddr> found;
  const auto bytes = elf::clamped(file.bytes_from(table), 0, count * 4);
  for (uint64_t i = 0; i + 4 <= bytes.size(); i += 4) {
    const int64_t distance = *elf::load<int32_t>(bytes, i);
    const FileAddr target = table + static_cast<uint64_t>(distance);
    if (!file.is_code(target)) break;
    found.push_back(target);
  }
  return found;
}

std::vector<FileAddr> JumpTargets::pointers(FileAddr table, uint64_t count) const {
  const elf::ElfFile& file = module_.file();
  std::vector<FileAddr> found;
  auto next = std::lower_bound(relocated_.begin(), relocated_.end(), table,
                               [](const elf::StoredPointer& p, FileAddr a) { return p.place < a; });
  for (uint64_t i = 0; i < count; ++i) {
    const FileAddr place = table + i * 8;
    while (next != relocated_.end() && next->place < place) ++next;
    FileAddr target;
    if (next != relocated_.end() && next->place == place) {
      target = next->value;
    } else if (!file.is_position_independent()) {
      target = FileAddr(elf::load<uint64_t>(file.bytes({place, place + 8}), 0).value_or(0));
    }
    if (!file.is_code(target)) break;
    found.push_back(target);
  }
  return found;
}

}  // namespace blip::probe
