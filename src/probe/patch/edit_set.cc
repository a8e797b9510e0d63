// SPDX-License-Identifier: MIT
#include "probe/patch/edit_set.h"

#include <algorithm>

#include "base/page.h"

namespace blip::probe {

namespace {

constexpr size_t kNone = SIZE_MAX;

uint64_t page_of(const Edit& e) { return page_number(e.addr); }

}  // namespace

EditSet::EditSet(std::vector<Edit> edits) : edits_(std::move(edits)), late_(edits_.size()) {
  std::sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) { return a.addr < b.addr; });
  find_needs();
  contradictions_.erase(std::unique(contradictions_.begin(), contradictions_.end()), contradictions_.end());
  std::sort(needs_.begin(), needs_.end());
  dependents_.reserve(needs_.size());
  for (auto [who, what] : needs_) dependents_.emplace_back(what, who);
  std::sort(dependents_.begin(), dependents_.end());
  find_late();
}

void EditSet::find_needs() {
  size_t last_site = kNone;
  for (size_t i = 0; i < edits_.size(); ++i) {
    const Edit& edit = edits_[i];
    if (i != 0 && edit.addr < edits_[i - 1].end()) contradictions_.push_back(i);
    find_host(i, last_site);
    for (size_t k = i + 1; k < edits_.size() && edits_[k].addr < edit.addr + edit.length; ++k) need(i, k);
    if (edit.is_short_jump()) find_springboard(i);
    if (edit.window != 0) last_site = i;
  }
}

// In the bytes of another site, which has to be led away first: only a springboard may be there.
void EditSet::find_host(size_t i, size_t last_site) {
  if (last_site == kNone || edits_[i].addr >= edits_[last_site].addr + edits_[last_site].window) return;
  if (edits_[i].window != 0) contradictions_.push_back(i);
  need(i, last_site);
}

void EditSet::find_springboard(size_t i) {
  const TargetAddr at = edits_[i].short_target();
  const auto it = std::lower_bound(edits_.begin(), edits_.end(), at,
                                   [](const Edit& e, TargetAddr a) { return e.addr < a; });
  if (it == edits_.end() || it->addr != at) {
    contradictions_.push_back(i);
  } else {
    need(i, static_cast<size_t>(it - edits_.begin()));
  }
}

void EditSet::need(size_t i, size_t what) {
  if (edits_[what].order >= edits_[i].order) contradictions_.push_back(i);
  needs_.emplace_back(static_cast<uint32_t>(i), static_cast<uint32_t>(what));
}

void EditSet::find_late() {
  std::vector<std::pair<uint32_t, uint32_t>> by_order(needs_);
  std::sort(by_order.begin(), by_order.end(),
            [&](const auto& a, const auto& b) { return edits_[a.first].order < edits_[b.first].order; });
  for (auto [who, what] : by_order) {
    if (late_[who] || (page_of(edits_[who]) == page_of(edits_[what]) && !late_[what])) continue;
    late_[who] = true;
    late_order_.push_back(who);
  }
}

EditMask EditSet::closure(std::span<const size_t> some, const Relation& relation) const {
  EditMask reached(edits_.size());
  std::vector<size_t> open(some.begin(), some.end());
  for (size_t i : some) reached[i] = true;
  while (!open.empty()) {
    const size_t from = open.back();
    open.pop_back();
    auto it = std::lower_bound(relation.begin(), relation.end(),
                               std::pair(static_cast<uint32_t>(from), uint32_t{0}));
    for (; it != relation.end() && it->first == from; ++it) {
      if (reached[it->second]) continue;
      reached[it->second] = true;
      open.push_back(it->second);
    }
  }
  return reached;
}

}  // namespace blip::probe
