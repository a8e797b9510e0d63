// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "probe/patch/edits.h"

namespace blip::probe {

// A choice among the edits of a set.
using EditMask = std::vector<bool>;

// All edits of a trace, sorted by address, and what each of them needs: the edits that its jump's last bytes
// come from, the springboard that it leads to, the jump of the site in whose bytes it lies.
class EditSet {
 public:
  EditSet() = default;
  explicit EditSet(std::vector<Edit> edits);

  std::span<const Edit> edits() const { return edits_; }
  size_t size() const { return edits_.size(); }
  EditMask all() const { return EditMask(edits_.size(), true); }

  // Those that cannot stand beside the others: they overlap, or need what is not there in time.
  const std::vector<size_t>& contradictions() const { return contradictions_; }

  // Whatever is needed by these lies in their own page and is not late itself. So the others, the late
  // ones, may be written after all of these, in the order given; and a page at once.
  bool late(size_t i) const { return late_[i]; }
  std::span<const uint32_t> late_edits() const { return late_order_; }

  // `some`, and everything that needs one of them; or that one of them needs.
  EditMask with_dependents(std::span<const size_t> some) const { return closure(some, dependents_); }
  EditMask with_needs(std::span<const size_t> some) const { return closure(some, needs_); }

 private:
  using Relation = std::vector<std::pair<uint32_t, uint32_t>>;  // sorted

  void find_needs();
  void find_host(size_t i, size_t last_site);
  void find_springboard(size_t i);
  void need(size_t i, size_t what);
  void find_late();
  EditMask closure(std::span<const size_t> some, const Relation& relation) const;

  std::vector<Edit> edits_;
  Relation needs_;       // an edit, what it needs
  Relation dependents_;  // the other way round
  std::vector<size_t> contradictions_;
  EditMask late_;
  std::vector<uint32_t> late_order_;
};

}  // namespace blip::probe
