// SPDX-License-Identifier: MIT
#include "probe/inject/semaphores.h"

#include <algorithm>
#include <cstdint>

#include "base/bytes_of.h"

namespace blip::probe {

namespace {

using Entry = abi::SemaphoreEntry;

// The file whose private, writable memory it is; 0: none.
uint64_t file_at(std::span<const proc::Map> maps, TargetAddr semaphore) {
  const proc::Map* map = proc::find_map(maps, semaphore);
  const bool is_data = map && map->write && !map->shared && semaphore + sizeof(uint16_t) <= map->range.end;
  return is_data ? map->inode : 0;
}

}  // namespace

Result<std::vector<Entry>> Semaphores::read_table() const {
  std::vector<Entry> entries(std::min(table_.size(), abi::kMaxSemaphoreBytes) / sizeof(Entry));
  if (entries.empty()) return entries;
  TRY_OK(memory_.read(table_.begin,
                      {reinterpret_cast<uint8_t*>(entries.data()), entries.size() * sizeof(Entry)}));
  return entries;
}

Status Semaphores::put(size_t index, const Entry& entry) {
  return memory_.write(table_.begin + index * sizeof(Entry), bytes_of(entry));
}

// False: it would be out of range.
Result<bool> Semaphores::add_to(TargetAddr semaphore, int amount) {
  TRY(const uint16_t now, memory_.read_value<uint16_t>(semaphore));
  const int wanted = now + amount;
  if (wanted < 0 || wanted > UINT16_MAX) return false;
  const auto value = static_cast<uint16_t>(wanted);
  TRY_OK(memory_.write(semaphore, bytes_of(value)));
  return true;
}

Result<size_t> Semaphores::raise(std::span<const TargetAddr> semaphores, std::span<const proc::Map> maps) {
  TRY(std::vector<Entry> entries, read_table());
  size_t failed = 0;
  for (const TargetAddr semaphore : semaphores) {
    const auto entry = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) {
      return e.address == semaphore.value || e.address == 0;
    });
    const uint64_t inode = file_at(maps, semaphore);
    if (entry == entries.end() || inode == 0) {
      ++failed;
      continue;
    }
    if (entry->address == semaphore.value && entry->is_raised != 0) continue;
    TRY(const bool raised, add_to(semaphore, 1));
    failed += !raised;
    if (!raised) continue;
    *entry = {.address = semaphore.value, .inode = inode, .is_raised = 1, .unused = 0};
    TRY_OK(put(static_cast<size_t>(entry - entries.begin()), *entry));
  }
  return failed;
}

Result<size_t> Semaphores::lower(std::span<const proc::Map> maps) {
  TRY(std::vector<Entry> entries, read_table());
  size_t unbalanced = 0;
  for (size_t i = 0; i < entries.size() && entries[i].address != 0; ++i) {
    if (entries[i].is_raised == 0) continue;
    entries[i].is_raised = 0;
    TRY_OK(put(i, entries[i]));
    const TargetAddr semaphore(entries[i].address);
    if (entries[i].inode == 0 || file_at(maps, semaphore) != entries[i].inode) continue;
    TRY(const bool lowered, add_to(semaphore, -1));
    unbalanced += !lowered;
  }
  return unbalanced;
}

Status Semaphores::forget(AddrRange library) {
  TRY(std::vector<Entry> entries, read_table());
  for (size_t i = 0; i < entries.size() && entries[i].address != 0; ++i) {
    if (!library.contains(TargetAddr(entries[i].address)) || entries[i].is_raised == 0) continue;
    entries[i].is_raised = 0;
    TRY_OK(put(i, entries[i]));
  }
  return {};
}

}  // namespace blip::probe
