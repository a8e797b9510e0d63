// SPDX-License-Identifier: MIT
#include "dwarf/kept_index.h"

#include <elfutils/libdwelf.h>
#include <fmt/core.h>

#include "dwarf/index/index_builder.h"

namespace blip::dwarf {

namespace {

// Lower-case hex; empty: it has none that says which file this is.
std::string build_id_of(Elf* elf) {
  constexpr ssize_t kShortest = 8, kLongest = 64;
  const void* id = nullptr;
  const ssize_t size = ::dwelf_elf_gnu_build_id(elf, &id);
  std::string text;
  if (size < kShortest || size > kLongest) return text;
  for (ssize_t i = 0; i < size; ++i) text += fmt::format("{:02x}", static_cast<const uint8_t*>(id)[i]);
  return text;
}

}  // namespace

KeptIndex::KeptIndex(const Handles& debug, const IndexCache& cache) {
  sections_ = DebugSections::of(debug.elf.get(), debug.alternate ? debug.alternate->elf.get() : nullptr);
  if (!cache.files || sections_.info.size() < cache.least_size) return;
  const std::string id = build_id_of(debug.elf.get());
  if (id.empty()) return;
  files_ = cache.files;
  name_ = id + ".names";
  fingerprint_ = fingerprint_of(sections_);
  if (auto bytes = files_->find(name_, NameIndex::kVersion))
    index_ = NameIndex::read(*std::move(bytes), fingerprint_);
  if (index_) note_ = "names are found by the index in the cache";
}

const NameIndex* KeptIndex::make(std::span<const IndexedUnit> units, std::span<const IndexedRange> ranges) {
  if (!can_be_made()) return get();
  const FileCache& files = *std::exchange(files_, nullptr);  // once
  if (const Status ready = files.prepare(); !ready) {
    note_ = "no index of its names is kept: " + ready.error().message();
    return nullptr;
  }
  auto tables = build_name_tables(sections_, units);
  if (!tables) {
    note_ = "no index of names can be made of it";
    return nullptr;
  }
  tables->ranges.assign(ranges.begin(), ranges.end());
  std::vector<uint8_t> bytes = tables->bytes();
  tables.reset();
  const Status kept = files.keep(name_, NameIndex::kVersion, bytes);
  note_ = kept ? "an index of its names is in the cache now"
               : "the index of its names is not kept: " + kept.error().message();
  index_ = NameIndex::read(std::move(bytes), fingerprint_);
  return get();
}

}  // namespace blip::dwarf
