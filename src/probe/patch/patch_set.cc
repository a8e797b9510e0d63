// SPDX-License-Identifier: MIT
// Pads are never rewritten while threads may be in them. For the same reason a place that was once probed may
// be probed again only in the same way: a thread still in the old pad comes back behind the old window, which
// must not be the middle of a new one.
//
// A library that has gone took its text with it: there is nothing to restore, and what is mapped in its place
// is somebody else's. But it may come back, and a child of a fork may still have it: so its patches are put
// aside, with the pads, which are good for the same file at the same place.
#include "probe/patch/patch_set.h"

#include <algorithm>
#include <utility>

namespace blip::probe {

namespace {

bool same_place(const x86::Rewrite& a, const x86::Rewrite& b) {
  return a.start == b.start && a.length == b.length && a.end() == b.end();
}

// All bytes that a site may have to do with: its own, and those its jump runs on over.
AddrRange changed_bytes(const x86::Rewrite& r) {
  return {r.start, std::max(r.end(), r.start + abi::kMaxEdit)};
}

// Of the places in the range that should be patched only the first ones are looked at.
bool holds_patches(const PatchTable& table, AddrRange range, const PatchSet::IsInText& is_in_text) {
  constexpr int kTries = 64;
  const std::span<const Edit> edits = table.edits.edits();
  auto it = std::lower_bound(edits.begin(), edits.end(), range.begin,
                             [](const Edit& e, TargetAddr a) { return e.addr < a; });
  int tries = 0;
  for (; it != edits.end() && it->addr < range.end && tries < kTries; ++it) {
    const Patch& patch = table.patches[it->patch];
    if (!patch.active || patch.fresh) continue;
    if (is_in_text(*it)) return true;
    ++tries;
  }
  return tries == 0;
}

}  // namespace

void PatchSet::replace(PatchTable made) { table_ = std::move(made); }

void PatchSet::add(PatchTable made) {
  if (table_.patches.empty())
    replace(std::move(made));
  else
    table_.merge(std::move(made));
}

void PatchSet::begin_stops() { written_.assign(table_.edits.size(), false); }

EditMask PatchSet::unwritten(EditMask edits) const {
  for (size_t i = 0; i < edits.size(); ++i) edits[i] = edits[i] && !written_[i];
  return edits;
}

size_t PatchSet::unwritten_count() const {
  const EditMask edits = unwritten(table_.fresh());
  return static_cast<size_t>(std::count(edits.begin(), edits.end(), true));
}

void PatchSet::note_written(const EditMask& edits) {
  std::vector<bool> incomplete(table_.patches.size());
  for (size_t i = 0; i < edits.size(); ++i) {
    if (edits[i]) written_[i] = true;
    if (!written_[i]) incomplete[table_.edits.edits()[i].patch] = true;
  }
  for (size_t i = 0; i < incomplete.size(); ++i)
    if (!incomplete[i]) table_.patches[i].fresh = false;
}

void PatchSet::note_all_written() {
  for (Patch& patch : table_.patches) patch.fresh = false;
}

EditMask PatchSet::guards(const std::function<bool(const Patch&)>& is_guard) const {
  const EditMask fresh = table_.fresh();
  std::vector<size_t> own;
  for (size_t i = 0; i < fresh.size(); ++i)
    if (fresh[i] && (!patch_of(i).job || is_guard(patch_of(i)))) own.push_back(i);
  EditMask wanted = table_.edits.with_needs(own);
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = wanted[i] && fresh[i];
  return wanted;
}

bool PatchSet::any_armed() const {
  return std::any_of(table_.patches.begin(), table_.patches.end(),
                     [](const Patch& p) { return p.job && p.active && !p.fresh; });
}

// Of which something is in the text.
std::vector<bool> PatchSet::begun() const {
  std::vector<bool> begun(table_.patches.size());
  for (size_t i = 0; i < written_.size(); ++i)
    if (written_[i]) begun[table_.edits.edits()[i].patch] = true;
  return begun;
}

Status PatchSet::drop(const EditMask& edits, const Dropped& dropped) {
  const std::vector<bool> begun = this->begun();
  for (size_t i = 0; i < edits.size(); ++i) {
    Patch& patch = patch_of(i);
    if (!edits[i] || !patch.active || !patch.fresh) continue;
    patch.active = begun[table_.edits.edits()[i].patch];
    patch.fresh = false;
    TRY_OK(dropped(patch, i));
  }
  return {};
}

void PatchSet::drop_fresh(const std::function<void(const Patch&)>& dropped) {
  const std::vector<bool> begun = this->begun();
  for (size_t i = 0; i < table_.patches.size(); ++i) {
    Patch& patch = table_.patches[i];
    if (!patch.active || !patch.fresh) continue;
    dropped(patch);
    patch.active = begun[i];
    patch.fresh = false;
  }
}

void PatchSet::drop_unloaded() {
  for (Patch& patch : table_.patches)
    if (patch.fresh) patch.active = false;
}

EditMask PatchSet::dependents_of(const std::set<const Patch*>& patches) const {
  std::vector<size_t> edits;
  for (size_t i = 0; i < table_.edits.size(); ++i)
    if (patches.contains(&patch_of(i))) edits.push_back(i);
  return table_.edits.with_dependents(edits);
}

bool PatchSet::conflicts_with(const x86::Rewrite& rewrite) const {
  const TargetAddr board = rewrite.springboard;
  if (table_.touches(changed_bytes(rewrite))) return true;
  if (board != TargetAddr() && table_.touches({board, board + abi::kMaxEdit})) return true;
  return std::any_of(once_here_.begin(), once_here_.end(), [&](const x86::Rewrite& old) {
    return !same_place(old, rewrite) && changed_bytes(old).overlaps(changed_bytes(rewrite));
  });
}

EditMask PatchSet::edits_of(size_t patch) const {
  EditMask mask(table_.edits.size());
  for (size_t i = 0; i < mask.size(); ++i) mask[i] = table_.edits.edits()[i].patch == patch;
  return mask;
}

std::optional<size_t> PatchSet::find_unneeded(size_t probe, const std::set<size_t>& removed) const {
  const auto patch = std::find_if(table_.patches.begin(), table_.patches.end(), [&](const Patch& p) {
    return p.active && p.job &&
           std::find(p.job->probes.begin(), p.job->probes.end(), probe) != p.job->probes.end();
  });
  if (patch == table_.patches.end()) return std::nullopt;
  const std::vector<uint32_t>& probes = patch->job->probes;
  if (!std::all_of(probes.begin(), probes.end(), [&](uint32_t p) { return removed.contains(p); }))
    return std::nullopt;
  const EditMask users = dependents_of({&*patch});
  for (size_t i = 0; i < users.size(); ++i)
    if (users[i] && &patch_of(i) != &*patch && patch_of(i).active) return std::nullopt;
  return static_cast<size_t>(patch - table_.patches.begin());
}

void PatchSet::retire(size_t number) {
  Patch& patch = table_.patches[number];
  once_here_.push_back(patch.job->site->rewrite);
  PatchTable one;
  one.patches.push_back(patch);
  std::vector<Edit> copies;
  for (const Edit& edit : table_.edits.edits()) {
    if (edit.patch != number) continue;
    copies.push_back(edit);
    copies.back().patch = 0;
  }
  one.edits = EditSet(std::move(copies));
  retired_.push_back(std::move(one));
  patch.active = false;
}

void PatchSet::forget(AddrRange library, const void* file) {
  std::erase_if(once_here_, [&](const x86::Rewrite& r) { return library.contains(r.start); });
  PatchTable gone = table_.take(library);
  if (!gone.patches.empty()) forgotten_.push_back({library, file, std::move(gone)});
}

// Not by the place alone: another library of the same size may have been there.
bool PatchSet::revive(AddrRange library, const void* file) {
  const auto it = std::find_if(forgotten_.begin(), forgotten_.end(),
                               [&](const Forgotten& f) { return f.library == library && f.file == file; });
  if (it == forgotten_.end()) return false;
  for (Patch& patch : it->table.patches) patch.fresh = true;
  table_.merge(std::move(it->table));
  forgotten_.erase(it);
  return true;
}

bool PatchSet::is_patched(AddrRange range, const IsInText& is_in_text) const {
  return holds_patches(table_, range, is_in_text);
}

// By the text, which is what counts.
std::optional<PatchTable> PatchSet::without_absent(const IsInText& is_in_text) const {
  std::vector<AddrRange> absent = libraries_;
  std::erase_if(absent, [&](const AddrRange& library) { return is_patched(library, is_in_text); });
  if (absent.empty()) return std::nullopt;
  PatchTable rest = table_;
  for (const AddrRange& library : absent) rest.take(library);
  return rest;
}

std::vector<PatchTable> PatchSet::retired_in_child(const IsInText& is_in_text) const {
  std::vector<PatchTable> all = retired_;
  for (const Forgotten& f : forgotten_)
    if (holds_patches(f.table, f.library, is_in_text)) all.push_back(f.table);
  return all;
}

}  // namespace blip::probe
