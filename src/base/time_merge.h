// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace blip {

// Merges the items of several sources by time. Each source says up to which time it is complete, and the
// earliest of these times, the watermark, is the time up to which items can be taken: no source can still bring
// an older one. Items of one time are taken in the order in which they were added.
template <typename T>
class TimeMerge {
 public:
  using Source = size_t;
  struct Item {
    uint64_t time;
    uint64_t order;
    T value;
  };

  // A source that may still bring items of any time.
  Source open();
  // The source brings nothing any more, and the others do not wait for it. Its items stay until they are taken.
  void close(Source source);
  // In any order: a process brings the events of one CPU after those of another.
  void add(Source source, uint64_t time, T value);
  // All items of the source that are older than `until` have been added. What was promised before stays.
  void complete(Source source, uint64_t until) {
    sources_[source].complete_until = std::max(sources_[source].complete_until, until);
  }

  // UINT64_MAX if no source is open.
  uint64_t watermark() const;
  // The oldest item of all; nullptr if there is none.
  const Item* oldest() const { return heap_.empty() ? nullptr : &sources_[heap_.front()].items.front(); }
  // Removes the oldest item.
  Item take();

  size_t size() const { return size_; }
  // How many items were added when a younger one had been taken already.
  uint64_t late() const { return late_; }
  template <typename Visit>
  void for_each(Visit visit);

 private:
  struct SourceState {
    std::vector<Item> items;  // a heap, the oldest first: one that is added or taken moves few others
    uint64_t complete_until = 0;
    bool is_open = false;
  };

  // For std::*_heap, which puts the largest first.
  auto is_later() const {
    return [this](Source a, Source b) {
      return is_before(sources_[b].items.front(), sources_[a].items.front());
    };
  }
  static bool is_before(const Item& a, const Item& b) {
    return a.time != b.time ? a.time < b.time : a.order < b.order;
  }
  static bool is_behind(const Item& a, const Item& b) { return is_before(b, a); }

  std::vector<SourceState> sources_;
  std::vector<Source> heap_;  // the sources that have items, the one with the oldest item first
  uint64_t order_ = 0;
  size_t size_ = 0;
  uint64_t last_taken_ = 0;
  uint64_t late_ = 0;
};

template <typename T>
typename TimeMerge<T>::Source TimeMerge<T>::open() {
  Source source = 0;
  while (source < sources_.size() && (sources_[source].is_open || !sources_[source].items.empty())) ++source;
  if (source == sources_.size()) sources_.emplace_back();
  sources_[source].is_open = true;
  sources_[source].complete_until = 0;
  return source;
}

template <typename T>
void TimeMerge<T>::close(Source source) {
  sources_[source].is_open = false;
}

template <typename T>
void TimeMerge<T>::add(Source source, uint64_t time, T value) {
  Item item{time, order_++, std::move(value)};
  ++size_;
  late_ += time < last_taken_;
  std::vector<Item>& items = sources_[source].items;
  const bool was_empty = items.empty(), is_first = !was_empty && is_before(item, items.front());
  items.push_back(std::move(item));
  std::push_heap(items.begin(), items.end(), is_behind);
  if (was_empty) {
    heap_.push_back(source);
    std::push_heap(heap_.begin(), heap_.end(), is_later());
  } else if (is_first) {
    std::make_heap(heap_.begin(), heap_.end(), is_later());
  }
}

template <typename T>
uint64_t TimeMerge<T>::watermark() const {
  uint64_t least = UINT64_MAX;
  for (const SourceState& source : sources_)
    if (source.is_open) least = std::min(least, source.complete_until);
  return least;
}

template <typename T>
typename TimeMerge<T>::Item TimeMerge<T>::take() {
  std::pop_heap(heap_.begin(), heap_.end(), is_later());
  std::vector<Item>& items = sources_[heap_.back()].items;
  std::pop_heap(items.begin(), items.end(), is_behind);
  Item item = std::move(items.back());
  items.pop_back();
  if (items.empty()) {
    heap_.pop_back();
  } else {
    std::push_heap(heap_.begin(), heap_.end(), is_later());
  }
  --size_;
  last_taken_ = std::max(last_taken_, item.time);
  return item;
}

template <typename T>
template <typename Visit>
void TimeMerge<T>::for_each(Visit visit) {
  for (SourceState& source : sources_)
    for (Item& item : source.items) visit(item.value);
}

}  // namespace blip
