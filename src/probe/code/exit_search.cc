// SPDX-License-Identifier: MIT
// A function is followed from its entry with the depth of the stack. Where control leaves its range, the
// depth tells what that is:
//
//   f:      push %rbx                          f.cold:               a part: the frame is still there,
//           test %edi, %edi                            call report   its exits are exits of f
//           js f.cold         depth 8 ------->         jmp back_in_f
//           ...
//           pop %rbx
//           jmp g             depth 0: g returns in place of f, the jump is an exit
//
// Parts are taken in as they are found, and the search begins again with them. Whatever is not understood
// makes the answer incomplete, with the reason.
#include "probe/code/exit_search.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "probe/code/functions.h"
#include "x86/limits.h"

namespace blip::probe {
namespace {

using x86::Flow;
using x86::FlowInsn;
using x86::JumpSource;
using x86::StackDepth;

constexpr size_t kMostParts = 32;
constexpr size_t kLongestEpilogue = 24;  // instructions

// The verdict on a jump: it stays in the function, leaves it for good, or nobody can tell.
enum class Verdict { kStays, kTail, kUnclear };

class ExitSearch {
 public:
  ExitSearch(const ModuleFlow& flow, const elf::Function& function)
      : flow_(flow), function_(function), parts_{{function, true}} {}

  FunctionExits run() {
    if (flow_.pieces.begins_in_frame(function_)) return refused("it is a part of another function");
    if (flow_.pieces.is_signal_frame(function_)) return refused("it is the way back from signal handlers");
    do {
      grown_ = false;
      found_ = {};
      below_.clear();
      if (code_size() > x86::kMostFunctionCode) return refused("its code is too large to be followed");
      make_code();
      look_at_all();
      if (parts_.size() > kMostParts) return refused("its code lies in too many places");
    } while (grown_);
    for (const size_t i : below_)
      if (reaches_exit(i)) give_up(i, "takes its return address off the stack");
    std::sort(found_.exits.begin(), found_.exits.end(),
              [](const Exit& a, const Exit& b) { return a.at < b.at; });
    return std::move(found_);
  }

 private:
  struct Part {
    elf::Function piece;
    bool is_own = false;  // not shared with other functions: all of its code is this function's
  };

  static FunctionExits refused(std::string reason) { return {{}, std::move(reason)}; }

  FileAddr file_address(TargetAddr a) const { return flow_.module.to_file(a); }

  const Part* part_at(FileAddr a) const {
    const auto part = std::find_if(parts_.begin(), parts_.end(),
                                   [&](const Part& p) { return p.piece.range().contains(a); });
    return part != parts_.end() ? &*part : nullptr;
  }

  uint64_t code_size() const {
    uint64_t sum = 0;
    for (const Part& part : parts_) sum += part.piece.size;
    return sum;
  }

  void make_code() {
    code_ = {};
    for (const Part& part : parts_) {
      std::vector<FlowInsn> insns = flow_.pieces.decode(part.piece);
      if (code_.insns.empty())
        code_.insns = std::move(insns);
      else
        code_.insns.insert(code_.insns.end(), insns.begin(), insns.end());
    }
    std::sort(code_.insns.begin(), code_.insns.end(),
              [](const FlowInsn& a, const FlowInsn& b) { return a.insn.addr < b.insn.addr; });
    const auto same = [](const FlowInsn& a, const FlowInsn& b) { return a.insn.addr == b.insn.addr; };
    code_.insns.erase(std::unique(code_.insns.begin(), code_.insns.end(), same), code_.insns.end());
    make_labels();
    stays_.clear();
    depths_ = x86::stack_depths(code_, flow_.module.to_target(function_.addr),
                                [&](size_t i, const StackDepth& depth) { return stays_inside(i, depth); });
  }

  // Only a function with an indirect jump needs them.
  void make_labels() {
    has_labels_ = false;
    const bool jumps = std::any_of(code_.insns.begin(), code_.insns.end(), [](const FlowInsn& i) {
      return i.insn.flow == Flow::kIndirectJump && !i.insn.rip_relative;
    });
    std::vector<TargetAddr> labels;
    for (const Part& part : parts_) {
      for (const FileAddr a : flow_.targets().landing_pads_in(part.piece.range()))
        code_.landing_pads.push_back(flow_.module.to_target(a));
      if (!jumps) continue;
      for (const FileAddr a : flow_.targets().labels_in(part.piece.range()))
        labels.push_back(flow_.module.to_target(a));
    }
    if (jumps) add_labels_taken(labels);
    has_labels_ = !labels.empty();
    for (const Part& part : parts_)  // entered by a switch, maybe
      if (part.piece.addr != function_.addr) labels.push_back(flow_.module.to_target(part.piece.addr));
    std::sort(labels.begin(), labels.end());
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    code_.labels = std::move(labels);
  }

  // Labels whose addresses the function takes, and the cases of tables it takes the address of.
  void add_labels_taken(std::vector<TargetAddr>& labels) {
    const bool absolute = !flow_.module.file().is_position_independent();
    for (const FlowInsn& i : code_.insns) {
      if (const auto label = absolute ? x86::immediate_address(i) : std::nullopt)
        if (part_at(file_address(*label)) && file_address(*label) != function_.addr) labels.push_back(*label);
      if (!i.insn.lea_width || !i.insn.rip_relative) continue;
      const FileAddr taken = file_address(i.insn.rip_target);
      if (flow_.module.file().is_code(taken)) {
        if (part_at(taken) && taken != function_.addr) labels.push_back(i.insn.rip_target);
        continue;
      }
      for (const FileAddr a : flow_.targets().entries_of(JumpSource::Kind::kDistances, i.insn.rip_target)) {
        if (!part_at(a)) break;
        labels.push_back(flow_.module.to_target(a));
      }
    }
  }

  // --- indirect jumps

  const JumpSource& source_of(size_t i) {
    const auto known = sources_.find(code_.insns[i].insn.addr);
    if (known != sources_.end()) return known->second;
    return sources_[code_.insns[i].insn.addr] = x86::jump_source(code_, i);
  }

  bool stays_inside(size_t i, const StackDepth& depth) {
    const Verdict verdict = judge(i, depth);
    stays_[i] = verdict;
    return verdict == Verdict::kStays;
  }

  Verdict judge(size_t i, const StackDepth& depth) {
    const JumpSource& source = source_of(i);
    const StackDepth agreed = agreed_depth(i, depth);
    if (source.kind == JumpSource::Kind::kFixed) return agreed.is(0) ? Verdict::kTail : Verdict::kUnclear;
    if (in_frame(i, depth)) return Verdict::kStays;
    if (!agreed.is(0)) return Verdict::kUnclear;
    if (source.notrack) return Verdict::kStays;
    if (const auto inside = tables_lead_inside(source)) return *inside ? Verdict::kStays : Verdict::kTail;
    if (source.kind == JumpSource::Kind::kLabel) return judge_label(file_address(source.tables.front()));
    if (!has_labels_ || is_behind_epilogue(i)) return Verdict::kTail;
    return source.kind == JumpSource::Kind::kDistances ? Verdict::kStays : judge_in_leaf(i);
  }

  Verdict judge_label(FileAddr label) const {
    if (part_at(label)) return Verdict::kStays;
    const elf::Function* piece = flow_.pieces.at(label);
    return piece && flow_.pieces.is_entry(*piece, label) ? Verdict::kTail : Verdict::kUnclear;
  }

  // The frame has just been taken down: what follows is the end. A switch before the frame is made has none.
  bool is_behind_epilogue(size_t i) const {
    for (size_t k = i; k-- > 0 && i - k < kLongestEpilogue && !code_.insns[k].insn.ends_flow();) {
      const x86::StackEffect& effect = code_.insns[k].effect;
      const bool adds = effect.kind == x86::StackEffect::Kind::kCopy && effect.reg == x86::kRsp &&
                        effect.base == x86::kRsp && effect.offset > 0;
      if (adds || effect.kind == x86::StackEffect::Kind::kPop ||
          effect.kind == x86::StackEffect::Kind::kLeave)
        return true;
    }
    return false;
  }

  // No frame, no table, but there are labels: of another jump, which is in a frame or has a table, or of
  // this.
  Verdict judge_in_leaf(size_t i) {
    bool others = false;
    for (size_t k = 0; k < code_.insns.size(); ++k) {
      if (k == i || code_.insns[k].insn.flow != Flow::kIndirectJump || code_.insns[k].insn.rip_relative)
        continue;
      const JumpSource& source = source_of(k);
      const bool explained = tables_lead_inside(source) == true || hint_is_frame(code_.insns[k].hint);
      others |= explained;
    }
    return others ? Verdict::kTail : Verdict::kUnclear;
  }

  static bool hint_is_frame(const x86::StackHint& hint) {
    using Base = x86::StackHint::Base;
    return hint.base == Base::kFromRbp || hint.base == Base::kOther ||
           (hint.base == Base::kFromRsp && hint.depth > 0);
  }

  std::optional<bool> tables_lead_inside(const JumpSource& source) {
    std::optional<bool> inside;
    if (source.kind == JumpSource::Kind::kLabel) return inside;
    for (const TargetAddr table : source.tables) {
      const std::vector<FileAddr> entries = flow_.targets().entries_of(source.kind, table);
      if (entries.empty()) continue;
      const FileAddr first = entries.front();
      const bool here = part_at(first) && first != function_.addr;
      const elf::Function* piece = flow_.pieces.at(first);
      const bool in_part = piece && (piece->is_cold || first != piece->addr);
      if (inside && *inside != (here || in_part)) return std::nullopt;
      inside = here || in_part;
    }
    return inside;
  }

  // --- depths

  // A frame is there, whatever its size.
  bool in_frame(size_t i, const StackDepth& depth) const {
    if (contradicts(i, depth)) return false;
    return depth.known ? depth.bytes > 0 : hint_is_frame(code_.insns[i].hint);
  }

  bool contradicts(size_t i, const StackDepth& depth) const {
    const x86::StackHint& hint = code_.insns[i].hint;
    return hint.base == x86::StackHint::Base::kFromRsp && depth.known && hint.depth != depth.bytes;
  }

  // The depth by which the code and the unwind table agree; unknown if they contradict each other.
  StackDepth agreed_depth(size_t i, const StackDepth& depth) const {
    const x86::StackHint& hint = code_.insns[i].hint;
    if (contradicts(i, depth)) return {.reached = depth.reached};
    if (!depth.known && hint.base == x86::StackHint::Base::kFromRsp)
      return {.reached = depth.reached, .known = true, .bytes = hint.depth};
    return depth;
  }

  // --- where control leaves

  void look_at_all() {
    for (size_t i = 0; i < code_.insns.size(); ++i) {
      if (depths_[i].reached) {
        look_at(i);
      } else if (const Part* part = part_at(file_address(code_.insns[i].insn.addr)); part && part->is_own) {
        look_at_unreached(i);
      }
    }
  }

  void look_at(size_t i) {
    const x86::Insn& insn = code_.insns[i].insn;
    if (depths_[i].known && depths_[i].bytes < 0) below_.push_back(i);
    switch (insn.flow) {
      case Flow::kReturn:
        return look_at_return(i);
      case Flow::kIndirectJump:
        return look_at_indirect(i);
      case Flow::kJump:
      case Flow::kCondJump:
        look_at_jump(i, *insn.target);
        break;
      case Flow::kCall:
        if (part_at(file_address(*insn.target)) && !is_own_entry(*insn.target) && !is_function(*insn.target))
          give_up(i, "calls code inside itself");
        break;
      case Flow::kOther:
        if (!insn.target && insn.mnemonic != "xabort" && insn.mnemonic != "xend")
          give_up(i, "leaves in an unusual way");
        break;
      default:
        break;
    }
    if (!insn.ends_flow() && !x86::ends_the_thread(code_, i) && !code_.index_of(insn.end())) look_at_end(i);
  }

  // The compiler leaves dead code behind; but a jump whose labels are not all known may lead there.
  void look_at_unreached(size_t i) {
    const x86::Insn& insn = code_.insns[i].insn;
    if (!leads_to_unknown_labels()) return;
    switch (insn.flow) {
      case Flow::kReturn:
        return add(i, ExitKind::kReturn);
      case Flow::kIndirectJump:
        return look_at_indirect(i);
      case Flow::kJump:
      case Flow::kCondJump:
        return look_at_jump(i, *insn.target);
      default:
        return;
    }
  }

  bool leads_to_unknown_labels() {
    return std::any_of(stays_.begin(), stays_.end(), [&](const auto& jump) {
      return jump.second == Verdict::kStays && !tables_lead_inside(source_of(jump.first));
    });
  }

  bool is_own_entry(TargetAddr a) const { return flow_.pieces.is_entry(function_, file_address(a)); }

  bool is_function(TargetAddr a) const {
    const elf::Function* piece = flow_.pieces.at(file_address(a));
    return piece && piece->addr == file_address(a) && !piece->is_cold;
  }

  void add(size_t i, ExitKind kind, bool to_itself = false) {
    const x86::Insn& insn = code_.insns[i].insn;
    const FileAddr at = file_address(insn.addr);
    found_.exits.push_back({.at = at,
                            .kind = kind,
                            .conditional = insn.flow == Flow::kCondJump,
                            .to_itself = to_itself,
                            .holder = part_at(at)->piece});
  }

  void give_up(size_t i, std::string_view why) {
    if (!found_.incomplete.empty()) return;
    found_.incomplete = fmt::format("it {} at {:#x}", why, file_address(code_.insns[i].insn.addr).value);
  }

  // True if control may get from there to an exit. A child that clone makes pops too, from a stack of its
  // own.
  bool reaches_exit(size_t from) const {
    std::vector<bool> seen(code_.insns.size());
    std::vector<size_t> todo{from};
    const auto go = [&](TargetAddr a) {
      const auto i = code_.index_of(a);
      if (i && !seen[*i]) todo.push_back(*i);
    };
    while (!todo.empty()) {
      const size_t i = todo.back();
      todo.pop_back();
      seen[i] = true;
      const x86::Insn& insn = code_.insns[i].insn;
      const FileAddr at = file_address(insn.addr);
      if (std::any_of(found_.exits.begin(), found_.exits.end(), [&](const Exit& e) { return e.at == at; }))
        return true;
      if (insn.target && insn.flow != Flow::kCall) go(*insn.target);
      if (!insn.ends_flow() && !x86::ends_the_thread(code_, i)) go(insn.end());
    }
    return false;
  }

  void look_at_return(size_t i) {
    if (agreed_depth(i, depths_[i]).is(0)) return add(i, ExitKind::kReturn);
    give_up(i, depths_[i].known ? "returns with something left on the stack"
                                : "returns on a stack that is not known");
  }

  void look_at_indirect(size_t i) {
    const Verdict verdict = stays_.contains(i) ? stays_[i] : judge(i, depths_[i]);
    if (verdict == Verdict::kTail) return add(i, ExitKind::kTailJump);
    if (verdict == Verdict::kUnclear) return give_up(i, "jumps to an address that is not known");
    for (const TargetAddr table : source_of(i).tables)
      for (const FileAddr entry : flow_.targets().entries_of(source_of(i).kind, table)) {
        if (part_at(entry)) continue;
        const elf::Function* piece = flow_.pieces.at(entry);
        const bool is_part = piece && (piece->is_cold || piece->is_nameless) &&
                             flow_.pieces.hint_at(entry) == code_.insns[i].hint;
        if (!is_part) break;  // the table ended before
        take_in(*piece, true);
      }
  }

  void look_at_jump(size_t i, TargetAddr target) {
    if (is_own_entry(target) && depths_[i].is(0)) return add(i, ExitKind::kTailJump, true);
    if (part_at(file_address(target))) return;
    leave(i, file_address(target));
  }

  // Behind a call that is the end: the called function does not return.
  void look_at_end(size_t i) {
    size_t last = i;
    while (last > 0 && code_.insns[last].insn.is_nop &&
           code_.insns[last - 1].insn.end() == code_.insns[last].insn.addr)
      --last;
    const Flow flow = code_.insns[last].insn.flow;
    if (flow == Flow::kCall || flow == Flow::kIndirectCall) return;
    if (part_at(file_address(code_.insns[i].insn.end())))
      return give_up(i, "runs into what is no instruction");
    const FileAddr behind = file_address(code_.insns[i].insn.end());
    if (const elf::Function* next = flow_.pieces.at(behind)) return take_in(*next, false);
    if (const auto padding = flow_.pieces.padding_at(behind)) return take_in(*padding, false);
    give_up(i, "runs into code of no function");
  }

  // By a direct jump.
  void leave(size_t i, FileAddr target) {
    const StackDepth depth = agreed_depth(i, depths_[i]);
    if (flow_.pieces.is_plt(target))
      return depth.is(0) ? add(i, ExitKind::kTailJump)
                         : give_up(i, "jumps to another function out of a frame");
    const elf::Function* piece = flow_.pieces.at(target);
    if (!piece) return give_up(i, "jumps to code of no function");
    if (piece->is_cold) return take_in(*piece, true);
    if (!flow_.pieces.is_entry(*piece, target)) return take_in(*piece, false);
    if (in_frame(i, depths_[i])) return take_in(*piece, piece->is_nameless);
    if (!depth.is(0)) return give_up(i, "jumps away with a stack that is not known");
    if (piece->is_nameless && is_part(*piece)) return take_in(*piece, true);
    add(i, ExitKind::kTailJump);
  }

  // Entered without a frame, in a stripped file. A part comes back; or else is used by nobody but this
  // function.
  bool is_part(const elf::Function& piece) {
    const CodeUsers& users = flow_.users();
    for (const Part& part : parts_)
      if (users.jumps_inside(piece.range(), part.piece.range())) return true;
    if (users.is_called(piece.addr) || flow_.targets().is_pointed_at(piece.addr)) return false;
    const std::vector<FileAddr> jumpers = users.jumpers_into(piece.range());
    return std::all_of(jumpers.begin(), jumpers.end(), [&](FileAddr a) { return part_at(a) != nullptr; });
  }

  void take_in(const elf::Function& piece, bool is_own) {
    if (part_at(piece.addr)) return;
    parts_.push_back({piece, is_own});
    grown_ = true;
  }

  const ModuleFlow& flow_;
  elf::Function function_;
  std::vector<Part> parts_;  // the first is the function itself
  bool grown_ = false;
  x86::FunctionCode code_;
  std::vector<StackDepth> depths_;
  std::map<size_t, Verdict> stays_;  // of indirect jumps
  std::map<TargetAddr, JumpSource> sources_;
  bool has_labels_ = false;
  std::vector<size_t> below_;  // instructions that run with the return address off the stack
  FunctionExits found_;
};

}  // namespace

FunctionExits search_exits(const ModuleFlow& flow, const elf::Function& function) {
  return ExitSearch(flow, function).run();
}

}  // namespace blip::probe
