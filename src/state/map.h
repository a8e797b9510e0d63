// SPDX-License-Identifier: MIT
// A map of a script: it finds a key by its hash and knows the order in which keys were put in. A scalar is the map's value of the
// empty key. What is not there is 0, "" or stats of nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "state/key.h"
#include "state/stats.h"

namespace blip::state {

class Map {
 public:
  explicit Map(MapType type);

  const MapType& type() const { return type_; }
  size_t size() const { return size_; }
  uint64_t dropped() const { return dropped_; }  // updates of new keys for which there was no room

  bool has(const Key& key) const { return find(key) != kNowhere; }
  uint64_t number(const Key& key) const;
  std::string_view text(const Key& key) const;  // until the map changes
  const Stats& stats(const Key& key) const;

  // False: the map is full, and the handler fails. A value that is dropped is no failure. The text may not be one of this map.
  [[nodiscard]] bool put(const Key& key, uint64_t number);
  [[nodiscard]] bool put(const Key& key, std::string_view text);
  [[nodiscard]] bool tally(const Key& key, uint64_t number);
  // The sum; nullopt: the map is full, and the handler fails.
  std::optional<uint64_t> add(const Key& key, uint64_t number);

  bool erase(const Key& key);  // false: it was not there
  void clear();
  void zero();  // all values; the keys stay

  // A walk sees the keys that are there when it begins, less those that are gone when it comes to them.
  struct Step {
    uint32_t entry;
    uint64_t serial;
  };
  std::vector<Step> walk(const Order& order, uint64_t limit) const;
  bool is_there(const Step& step) const { return entries_[step.entry].serial == step.serial; }
  KeyComponent key_of(const Step& step, size_t component) const {
    return component_of(entries_[step.entry].key, type_.key, component);
  }
  const std::string& key_of(const Step& step) const { return entries_[step.entry].key; }
  uint64_t number_of(const Step& step) const { return entries_[step.entry].number; }
  const std::string& text_of(const Step& step) const { return entries_[step.entry].text; }
  const Stats& stats_of(const Step& step) const { return entries_[step.entry].stats_or_none(); }

 private:
  struct Entry {
    std::string key;
    uint64_t hash = 0;
    uint64_t serial = 0;  // 0: free
    uint32_t older = 0, newer = 0;
    uint64_t number = 0;
    std::string text;
    std::unique_ptr<Stats> stats;

    const Stats& stats_or_none() const;
  };
  static constexpr uint32_t kNowhere = UINT32_MAX;

  uint64_t hash_of(std::string_view key) const;
  uint32_t find(const Key& key) const;
  // The entry, made if need be; kNowhere: there is no room.
  uint32_t find_or_make(const Key& key);
  bool refuse();
  void link(uint32_t entry);
  void remove(uint32_t entry);
  void forget_slot(size_t slot);
  void grow();

  MapType type_;
  uint64_t seed_;               // a target that chooses its keys cannot make them collide
  std::vector<Entry> entries_;  // the first is the head of the list by age
  std::vector<uint32_t> free_;
  std::vector<uint32_t> slots_;  // by hash; 0: empty
  size_t size_ = 0;
  uint64_t serial_ = 0, dropped_ = 0;
};

}  // namespace blip::state
