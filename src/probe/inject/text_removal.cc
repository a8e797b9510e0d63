// SPDX-License-Identifier: MIT
#include "probe/inject/text_removal.h"

#include <algorithm>

#include "probe/inject/parked_code.h"

namespace blip::probe {

TextRemoval::TextRemoval(proc::Memory& memory, const Footprint& footprint, const PatchTable& table,
                         std::span<const PatchTable> retired)
    : memory_(memory),
      footprint_(footprint),
      table_(table),
      active_(table.active()),
      index_(table),
      retired_(retired) {
  for (const PatchTable& one : retired) retired_index_.emplace_back(one);
}

Status TextRemoval::leave_springboards(StoppedCode& code, bool parks, const TimeIsUp& time_is_up) {
  TRY(Springboards held, restore_retired(code));
  TRY(const Springboards more, probe::leave_springboards(code, index_, held_));
  held.insert(held.end(), more.begin(), more.end());
  if (parks) TRY_OK(hold_parked(code.maps(), held, time_is_up));
  held_ = held;  // the others go now
  return {};
}

Result<TextRemoval::Outcome> TextRemoval::restore(const TimeIsUp& time_is_up) {
  EditMask wanted = all_but(*held_);
  const EditMask kept = hooks();
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = wanted[i] && !kept[i];
  TRY(const TextReport text, restore_text(memory_, table_.edits, wanted, time_is_up));
  return Outcome{.undone = text.undone.size(),
                 .foreign = text.foreign.size(),
                 .may_jump = !text.left.empty() || still_jumps(text.foreign),
                 .is_held = !held_->empty()};
}

Status TextRemoval::restore_hooks() {
  TRY_OK(restore_text(memory_, table_.edits, hooks()));
  return {};
}

EditMask TextRemoval::hooks() const {
  EditMask mask(table_.edits.size());
  if (footprint_.trap_size == 0) return mask;
  for (size_t i = 0; i < mask.size(); ++i)
    mask[i] = active_[i] && table_.patches[table_.edits.edits()[i].patch].sets_action;
  return mask;
}

Status TextRemoval::move_threads_out(proc::Attachment& attachment) const {
  for (const PatchIndex& index : retired_index_) TRY_OK(move_out_of_pads(attachment, footprint_, index));
  return move_out_of_pads(attachment, footprint_, index_);
}

std::optional<pid_t> TextRemoval::find_trapped(proc::Attachment& attachment) const {
  for (const proc::Thread& thread : attachment.threads()) {
    const TargetAddr pc(thread.registers.pc());
    const bool retired = std::any_of(retired_index_.begin(), retired_index_.end(),
                                     [&](const PatchIndex& index) { return index.behind_trap(pc); });
    if (retired || index_.behind_trap(pc)) return thread.tid;
  }
  return std::nullopt;
}

// A child of a fork may have what its parent has got rid of. The springboards that have to stay.
Result<TextRemoval::Springboards> TextRemoval::restore_retired(StoppedCode& code) {
  Springboards held;
  for (size_t i = 0; i < retired_.size(); ++i) {
    TRY(const Springboards some, probe::leave_springboards(code, retired_index_[i], held_));
    held.insert(held.end(), some.begin(), some.end());
    if (some.empty()) TRY_OK(restore_text(memory_, retired_[i].edits, retired_[i].edits.all()));
  }
  return held;
}

// Fibers that do not run may go on at a springboard.
Status TextRemoval::hold_parked(std::span<const proc::Map> maps, Springboards& held,
                                const TimeIsUp& time_is_up) const {
  Springboards all = index_.springboards();
  for (const PatchIndex& index : retired_index_)
    for (TargetAddr at : index.springboards()) all.push_back(at);
  if (held_)
    std::erase_if(all,
                  [&](TargetAddr at) { return std::find(held_->begin(), held_->end(), at) == held_->end(); });
  std::vector<AddrRange> places;
  for (TargetAddr at : all) places.push_back({at, at + 1});
  TRY(const ParkedCode parked, find_parked_code(memory_, maps, merge_ranges(std::move(places)), time_is_up));
  if (parked.unknown) held.insert(held.end(), all.begin(), all.end());
  for (const InterruptedCode& code : parked.found) held.push_back(code.pc);
  return {};
}

// All edits but these springboards, and what they need to stay.
EditMask TextRemoval::all_but(const Springboards& springboards) const {
  EditMask which = active_;
  if (springboards.empty()) return which;
  std::vector<size_t> held;
  for (size_t i = 0; i < table_.edits.size(); ++i)
    if (std::find(springboards.begin(), springboards.end(), table_.edits.edits()[i].addr) !=
        springboards.end())
      held.push_back(i);
  const EditMask kept = table_.edits.with_needs(held);
  for (size_t i = 0; i < which.size(); ++i) which[i] = which[i] && !kept[i];
  return which;
}

// Somebody else changed a site on top of our jump (a debugger's breakpoint, say) and may put the jump back.
bool TextRemoval::still_jumps(std::span<const size_t> foreign) const {
  for (size_t i : foreign) {
    const auto jump = table_.edits.edits()[i].changed_bytes();
    std::vector<uint8_t> now(jump.size());
    if (!memory_.read(table_.edits.edits()[i].addr, now)) continue;  // unmapped
    if (std::equal(now.begin() + 1, now.end(), jump.begin() + 1)) return true;
  }
  return false;
}

}  // namespace blip::probe
