// SPDX-License-Identifier: MIT
// Slots hold numbers of entries. A key's slot is the first one from its hash on that is free or holds it, so that no slot
// between its hash and its place is free; forget_slot() keeps that so.
#include "state/map.h"

#include <algorithm>
#include <random>

namespace blip::state {

namespace {

constexpr size_t kFirstSlots = 16;
constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;

uint64_t mix(uint64_t h) {
  h *= kOdd;
  return h ^ h >> 32;
}

}  // namespace

const Stats& Map::Entry::stats_or_none() const {
  static const Stats kNone;
  return stats ? *stats : kNone;
}

Map::Map(MapType type)
    : type_(std::move(type)), seed_(std::random_device()()), entries_(1), slots_(kFirstSlots) {}

uint64_t Map::hash_of(std::string_view key) const {
  uint64_t h = seed_ + key.size();
  while (key.size() >= sizeof h) {
    uint64_t word = 0;
    std::memcpy(&word, key.data(), sizeof word);
    h = mix(mix(h ^ word) + seed_);
    key.remove_prefix(sizeof word);
  }
  uint64_t rest = 0;
  std::memcpy(&rest, key.data(), key.size());
  return mix(h ^ rest);
}

uint32_t Map::find(const Key& key) const {
  const uint64_t hash = hash_of(key.bytes());
  const size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const Entry& e = entries_[slots_[slot]];
    if (e.hash == hash && e.key == key.bytes()) return slots_[slot];
  }
  return kNowhere;
}

uint32_t Map::find_or_make(const Key& key) {
  const uint32_t found = find(key);
  if (found != kNowhere) return found;
  if (size_ >= type_.limit) {
    if (type_.when_full != WhenFull::kReplaceOldest) return kNowhere;
    remove(entries_[0].newer);
  }
  if (2 * (size_ + 1) > slots_.size()) grow();
  uint32_t entry = static_cast<uint32_t>(entries_.size());
  if (free_.empty()) {
    entries_.emplace_back();
  } else {
    entry = free_.back();
    free_.pop_back();
  }
  entries_[entry].key = key.bytes();
  entries_[entry].hash = hash_of(key.bytes());
  link(entry);
  return entry;
}

// Puts a new entry into its slot, and behind all others in age.
void Map::link(uint32_t entry) {
  Entry& e = entries_[entry];
  e.serial = ++serial_;
  e.newer = 0;
  e.older = entries_[0].older;
  entries_[e.older].newer = entry;
  entries_[0].older = entry;
  const size_t mask = slots_.size() - 1;
  size_t slot = e.hash & mask;
  while (slots_[slot] != 0) slot = (slot + 1) & mask;
  slots_[slot] = entry;
  ++size_;
}

void Map::remove(uint32_t entry) {
  const size_t mask = slots_.size() - 1;
  size_t slot = entries_[entry].hash & mask;
  while (slots_[slot] != entry) slot = (slot + 1) & mask;
  forget_slot(slot);
  entries_[entries_[entry].older].newer = entries_[entry].newer;
  entries_[entries_[entry].newer].older = entries_[entry].older;
  entries_[entry] = {};
  free_.push_back(entry);
  --size_;
}

// Those behind it move up if their hash allows it.
void Map::forget_slot(size_t slot) {
  const size_t mask = slots_.size() - 1;
  for (size_t next = (slot + 1) & mask; slots_[next] != 0; next = (next + 1) & mask) {
    const size_t home = entries_[slots_[next]].hash & mask;
    if (((next - home) & mask) < ((next - slot) & mask)) continue;
    slots_[slot] = slots_[next];
    slot = next;
  }
  slots_[slot] = 0;
}

void Map::grow() {
  std::vector<uint32_t> old(2 * slots_.size());
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const uint32_t entry : old) {
    if (entry == 0) continue;
    size_t slot = entries_[entry].hash & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = entry;
  }
}

uint64_t Map::number(const Key& key) const {
  const uint32_t entry = find(key);
  return entry == kNowhere ? 0 : entries_[entry].number;
}

std::string_view Map::text(const Key& key) const {
  const uint32_t entry = find(key);
  return entry == kNowhere ? std::string_view() : entries_[entry].text;
}

const Stats& Map::stats(const Key& key) const {
  const uint32_t entry = find(key);
  return entries_[entry == kNowhere ? 0 : entry].stats_or_none();
}

// True: it is dropped, and the handler goes on.
bool Map::refuse() {
  if (type_.when_full == WhenFull::kFail) return false;
  ++dropped_;
  return true;
}

bool Map::put(const Key& key, uint64_t number) {
  const uint32_t entry = find_or_make(key);
  if (entry == kNowhere) return refuse();
  entries_[entry].number = number;
  return true;
}

bool Map::put(const Key& key, std::string_view text) {
  const uint32_t entry = find_or_make(key);
  if (entry == kNowhere) return refuse();
  entries_[entry].text = text;
  return true;
}

bool Map::tally(const Key& key, uint64_t number) {
  const uint32_t entry = find_or_make(key);
  if (entry == kNowhere) return refuse();
  auto& stats = entries_[entry].stats;
  if (!stats) stats = std::make_unique<Stats>();
  stats->add(type_, number);
  return true;
}

std::optional<uint64_t> Map::add(const Key& key, uint64_t number) {
  const uint32_t entry = find_or_make(key);
  if (entry == kNowhere) return refuse() ? std::optional(number) : std::nullopt;
  return entries_[entry].number += number;
}

bool Map::erase(const Key& key) {
  const uint32_t entry = find(key);
  if (entry == kNowhere) return false;
  remove(entry);
  return true;
}

void Map::clear() {
  while (size_ > 0) remove(entries_[0].newer);
}

void Map::zero() {
  for (uint32_t at = entries_[0].newer; at != 0; at = entries_[at].newer) {
    entries_[at].number = 0;
    entries_[at].text.clear();
    entries_[at].stats.reset();
  }
}

namespace {

// -1, 0 or 1.
template <typename T>
int three_way(const T& a, const T& b) {
  return (b < a) - (a < b);
}

int compare_numbers(uint64_t a, uint64_t b, bool is_unsigned) {
  return is_unsigned ? three_way(a, b) : three_way(static_cast<int64_t>(a), static_cast<int64_t>(b));
}

}  // namespace

std::vector<Map::Step> Map::walk(const Order& order, uint64_t limit) const {
  std::vector<Step> steps;
  steps.reserve(size_);
  for (uint32_t at = entries_[0].newer; at != 0; at = entries_[at].newer)
    steps.push_back({at, entries_[at].serial});
  const auto compare = [&](const Step& a, const Step& b) {
    switch (order.by) {
      case Order::By::kAge:
        return three_way(a.serial, b.serial);
      case Order::By::kKey: {
        const KeyComponent x = key_of(a, order.which), y = key_of(b, order.which);
        return type_.key[order.which] == ValueType::kText ? three_way(x.text, y.text)
                                                          : compare_numbers(x.number, y.number, false);
      }
      case Order::By::kValue:
        return type_.value == ValueType::kText
                   ? three_way(text_of(a), text_of(b))
                   : compare_numbers(number_of(a), number_of(b), type_.is_unsigned);
      case Order::By::kStatistic: {
        const auto what = static_cast<Statistic>(order.which);
        return compare_numbers(stats_of(a).get(type_, what).value_or(0),
                               stats_of(b).get(type_, what).value_or(0), type_.is_unsigned);
      }
    }
    return 0;
  };
  const bool is_sorted = order.by == Order::By::kAge && !order.is_descending;
  if (!is_sorted)
    std::stable_sort(steps.begin(), steps.end(), [&](const Step& a, const Step& b) {
      return order.is_descending ? compare(a, b) > 0 : compare(a, b) < 0;
    });
  if (steps.size() > limit) steps.resize(limit);
  return steps;
}

}  // namespace blip::state
