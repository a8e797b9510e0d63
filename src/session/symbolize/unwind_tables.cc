// SPDX-License-Identifier: MIT
#include "session/symbolize/unwind_tables.h"

#include <fmt/core.h>

#include <algorithm>

#include "unwind/table.h"

namespace blip::session {

namespace {

constexpr uint64_t kRoomForMore = 32 << 20;  // only what is used takes memory
constexpr uint32_t kChanges = 16;
constexpr uint64_t kLeastPads = 1 << 20;  // one table serves all of blip's code

uint64_t whole_pages(uint64_t size) { return abi::Geometry::align_up(size, abi::kPageSize); }

// Returns how many bytes must be read to make the tables. A file without section headers may have any.
uint64_t unwind_size(const probe::Module& module) {
  const elf::Section* frames = module.file().find_section(".eh_frame");
  uint64_t size = frames ? frames->size : module.file().size();
  for (const elf::ElfFile& debug : module.debug_files())
    if (const elf::Section* more = debug.find_section(".debug_frame")) size += more->size;
  return size;
}

std::vector<unwind::SegmentTable> tables_of(const probe::Module& module) {
  const auto debug = module.debug_files();
  return unwind::make_tables(module.file(), debug.empty() ? nullptr : &debug.front());
}

}  // namespace

UnwindTables::UnwindTables(std::span<const probe::Module> modules, std::optional<probe::Module> vdso)
    : modules_(modules.begin(), modules.end()), vdso_(std::move(vdso)) {
  for (const probe::Module& module : modules_)
    if (!made_.contains(module.identity())) made_.emplace(module.identity(), tables_of(module));
  if (vdso_) made_.emplace(vdso_->identity(), tables_of(*vdso_));
}

uint64_t UnwindTables::room() const {
  std::vector<unwind::SegmentTable> all;
  for (const auto& [file, tables] : made_) all.insert(all.end(), tables.begin(), tables.end());
  return whole_pages(unwind::arena_size(all, kChanges)) + kRoomForMore;
}

Status UnwindTables::fill(const probe::UnwindMemory& memory) {
  unwind::StackTableReader::create(memory.stacks_here, kStacks);
  arena_.emplace(memory.tables, memory.stacks);
  for (const auto& [file, tables] : made_) TRY_OK(place(file, tables));
  made_.clear();
  const std::vector<probe::Module> first = std::move(modules_);
  return update(first, memory.pads);
}

Status UnwindTables::place(const void* file, const Tables& tables) {
  std::vector<unwind::PlacedTable>& placed = placed_[file];
  for (const unwind::SegmentTable& table : tables) {
    TRY(const unwind::PlacedTable one, arena_->add(table));
    placed.push_back(one);
  }
  return {};
}

Status UnwindTables::add_loaded(const probe::Module& module, std::vector<unwind::LoadedSegment>& list) {
  const void* file = module.identity();
  const bool is_kept =
      std::any_of(kept_.begin(), kept_.end(), [&](const probe::Module& m) { return m.identity() == file; });
  if (!is_kept) kept_.push_back(module);
  if (!placed_.contains(file)) {
    const Status placed = place(file, tables_of(module));
    if (!placed) placed_[file].clear();  // it is not tried again
    TRY_OK(placed);
  }
  for (const unwind::PlacedTable& table : placed_[file]) list.push_back({table, module.bias()});
  return {};
}

Status UnwindTables::add_pads(std::span<const AddrRange> pads, std::vector<unwind::LoadedSegment>& list) {
  uint64_t largest = kLeastPads;
  for (const AddrRange& range : pads) largest = std::max(largest, range.size());
  if (!pads_ || pads_->code.end.value < largest) {
    TRY(pads_, arena_->add(unwind::uniform_table(largest, abi::UnwindRule::kPads)));
  }
  for (const AddrRange& range : pads) {
    unwind::PlacedTable table = *pads_;
    table.code = {FileAddr(0), FileAddr(range.size())};
    list.push_back({table, range.begin.value});
  }
  return {};
}

bool UnwindTables::is_put_off(const probe::Module& module) {
  if (left_ == kAll || placed_.contains(module.identity())) return false;
  if (left_ == kNextFile) {
    left_ = 0;
    return false;
  }
  const uint64_t size = unwind_size(module);
  if (size > left_) return true;
  left_ -= size;
  return false;
}

Status UnwindTables::update(std::span<const probe::Module> modules, std::span<const AddrRange> pads,
                            uint64_t most) {
  std::vector<unwind::LoadedSegment> list;
  TRY_OK(add_pads(pads, list));
  std::string without;
  left_ = most;
  is_incomplete_ = false;
  for (const probe::Module& module : modules)
    if (is_put_off(module))
      is_incomplete_ = true;
    else if (!add_loaded(module, list))
      without += (without.empty() ? "" : ", ") + module.basename();
  if (vdso_) TRY_OK(add_loaded(*vdso_, list));
  TRY_OK(arena_->publish(list));
  if (without.empty()) return {};
  return Error(ErrorKind::kUnsupported, fmt::format("there is no room for the tables of {}", without));
}

std::optional<probe::Module> find_vdso(const proc::Memory& memory, std::span<const proc::Map> maps) {
  const auto vdso =
      std::find_if(maps.begin(), maps.end(), [](const proc::Map& map) { return map.path == "[vdso]"; });
  if (vdso == maps.end()) return std::nullopt;
  std::vector<uint8_t> image(vdso->range.size());
  if (!memory.read(vdso->range.begin, image)) return std::nullopt;
  auto file = elf::ElfFile::from_bytes("[vdso]", image);
  if (!file || file->segments().empty()) return std::nullopt;
  const uint64_t bias = vdso->range.begin.value - file->segments().front().range.begin.value;
  return probe::Module(*std::move(file), "[vdso]", bias, false);
}

}  // namespace blip::session
