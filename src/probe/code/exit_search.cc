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
#include <string>
#include <string_view>
#include <vector>

#include "probe/code/frame_depth.h"
#include "probe/code/function_parts.h"
#include "probe/code/indirect_jumps.h"
#include "x86/limits.h"

namespace blip::probe {
namespace {

using x86::Flow;
using x86::StackDepth;
using Verdict = IndirectJumps::Verdict;

constexpr size_t kMostParts = 32;

class ExitSearch {
 public:
  ExitSearch(const ModuleFlow& flow, const elf::Function& function)
      : flow_(flow), parts_(flow, function), jumps_(flow, parts_) {}

  FunctionExits run() {
    const elf::Function& function = parts_.function();
    if (flow_.pieces.begins_in_frame(function)) return refused("it is a part of another function");
    if (flow_.pieces.is_signal_frame(function)) return refused("it is the way back from signal handlers");
    size_t parts;
    do {
      parts = parts_.count();
      found_ = {};
      below_.clear();
      if (parts_.size() > x86::kMostFunctionCode) return refused("its code is too large to be followed");
      follow();
      look_at_all();
      if (parts_.count() > kMostParts) return refused("its code lies in too many places");
    } while (parts_.count() != parts);
    for (const size_t i : below_)
      if (reaches_exit(i)) give_up(i, "takes its return address off the stack");
    std::sort(found_.exits.begin(), found_.exits.end(),
              [](const Exit& a, const Exit& b) { return a.at < b.at; });
    return std::move(found_);
  }

 private:
  static FunctionExits refused(std::string reason) { return {{}, std::move(reason)}; }

  const x86::FunctionCode& code() const { return parts_.code(); }
  FileAddr file_address(TargetAddr a) const { return parts_.file_address(a); }
  StackDepth depth_at(size_t i) const { return agreed_depth(code().insns[i], depths_[i]); }

  void follow() {
    parts_.decode();
    jumps_.begin();
    depths_ = x86::stack_depths(
        code(), flow_.module.to_target(parts_.function().addr),
        [&](size_t i, const StackDepth& depth) { return jumps_.judge(i, depth) == Verdict::kStays; });
  }

  void look_at_all() {
    for (size_t i = 0; i < code().insns.size(); ++i) {
      if (depths_[i].reached)
        look_at(i);
      else if (parts_.is_own(code().insns[i].insn.addr))
        look_at_unreached(i);
    }
  }

  void look_at(size_t i) {
    const x86::Insn& insn = code().insns[i].insn;
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
        if (parts_.part_at(file_address(*insn.target)) && !parts_.is_own_entry(*insn.target) &&
            !is_function(*insn.target))
          give_up(i, "calls code inside itself");
        break;
      case Flow::kOther:
        if (!insn.target && insn.mnemonic != "xabort" && insn.mnemonic != "xend")
          give_up(i, "leaves in an unusual way");
        break;
      default:
        break;
    }
    if (!insn.ends_flow() && !x86::ends_the_thread(code(), i) && !code().index_of(insn.end())) look_at_end(i);
  }

  // The compiler leaves dead code behind; but a jump whose labels are not all known may lead there.
  void look_at_unreached(size_t i) {
    const x86::Insn& insn = code().insns[i].insn;
    if (!jumps_.lead_to_unknown_labels()) return;
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

  bool is_function(TargetAddr a) const {
    const elf::Function* piece = flow_.pieces.at(file_address(a));
    return piece && piece->addr == file_address(a) && !piece->is_cold;
  }

  void add(size_t i, ExitKind kind, bool to_itself = false) {
    const x86::Insn& insn = code().insns[i].insn;
    const FileAddr at = file_address(insn.addr);
    found_.exits.push_back({.at = at,
                            .kind = kind,
                            .conditional = insn.flow == Flow::kCondJump,
                            .to_itself = to_itself,
                            .holder = *parts_.part_at(at)});
  }

  void give_up(size_t i, std::string_view why) {
    if (!found_.incomplete.empty()) return;
    found_.incomplete = fmt::format("it {} at {:#x}", why, file_address(code().insns[i].insn.addr).value);
  }

  // True if control may get from there to an exit. A child that clone makes pops too, from a stack of its
  // own.
  bool reaches_exit(size_t from) const {
    std::vector<bool> seen(code().insns.size());
    std::vector<size_t> todo{from};
    const auto go = [&](TargetAddr a) {
      const auto i = code().index_of(a);
      if (i && !seen[*i]) todo.push_back(*i);
    };
    while (!todo.empty()) {
      const size_t i = todo.back();
      todo.pop_back();
      seen[i] = true;
      const x86::Insn& insn = code().insns[i].insn;
      const FileAddr at = file_address(insn.addr);
      if (std::any_of(found_.exits.begin(), found_.exits.end(), [&](const Exit& e) { return e.at == at; }))
        return true;
      if (insn.target && insn.flow != Flow::kCall) go(*insn.target);
      if (!insn.ends_flow() && !x86::ends_the_thread(code(), i)) go(insn.end());
    }
    return false;
  }

  void look_at_return(size_t i) {
    if (depth_at(i).is(0)) return add(i, ExitKind::kReturn);
    give_up(i, depths_[i].known ? "returns with something left on the stack"
                                : "returns on a stack that is not known");
  }

  void look_at_indirect(size_t i) {
    const Verdict verdict = jumps_.verdict(i, depths_[i]);
    if (verdict == Verdict::kTail) return add(i, ExitKind::kTailJump);
    if (verdict == Verdict::kUnclear) return give_up(i, "jumps to an address that is not known");
    const x86::JumpSource& source = jumps_.source_of(i);
    for (const TargetAddr table : source.tables)
      for (const FileAddr entry : flow_.targets().entries_of(source.kind, table)) {
        if (parts_.part_at(entry)) continue;
        const elf::Function* piece = flow_.pieces.at(entry);
        const bool is_part = piece && (piece->is_cold || piece->is_nameless) &&
                             flow_.pieces.hint_at(entry) == code().insns[i].hint;
        if (!is_part) break;  // the table ended before
        take_in(*piece, true);
      }
  }

  void look_at_jump(size_t i, TargetAddr target) {
    if (parts_.is_own_entry(target) && depths_[i].is(0)) return add(i, ExitKind::kTailJump, true);
    if (parts_.part_at(file_address(target))) return;
    leave(i, file_address(target));
  }

  // Behind a call that is the end: the called function does not return.
  void look_at_end(size_t i) {
    size_t last = i;
    while (last > 0 && code().insns[last].insn.is_nop &&
           code().insns[last - 1].insn.end() == code().insns[last].insn.addr)
      --last;
    const Flow flow = code().insns[last].insn.flow;
    if (flow == Flow::kCall || flow == Flow::kIndirectCall) return;
    if (parts_.part_at(file_address(code().insns[i].insn.end())))
      return give_up(i, "runs into what is no instruction");
    const FileAddr behind = file_address(code().insns[i].insn.end());
    if (const elf::Function* next = flow_.pieces.at(behind)) return take_in(*next, false);
    if (const auto padding = flow_.pieces.padding_at(behind)) return take_in(*padding, false);
    give_up(i, "runs into code of no function");
  }

  // By a direct jump.
  void leave(size_t i, FileAddr target) {
    const StackDepth depth = depth_at(i);
    if (flow_.pieces.is_plt(target))
      return depth.is(0) ? add(i, ExitKind::kTailJump)
                         : give_up(i, "jumps to another function out of a frame");
    const elf::Function* piece = flow_.pieces.at(target);
    if (!piece) return give_up(i, "jumps to code of no function");
    if (piece->is_cold) return take_in(*piece, true);
    if (!flow_.pieces.is_entry(*piece, target)) return take_in(*piece, false);
    if (is_in_frame(code().insns[i], depths_[i])) return take_in(*piece, piece->is_nameless);
    if (!depth.is(0)) return give_up(i, "jumps away with a stack that is not known");
    if (piece->is_nameless && is_part(*piece)) return take_in(*piece, true);
    add(i, ExitKind::kTailJump);
  }

  // Entered without a frame, in a stripped file. A part comes back; or else is used by nobody but this
  // function.
  bool is_part(const elf::Function& piece) {
    const CodeUsers& users = flow_.users();
    if (parts_.any(
            [&](const elf::Function& part) { return users.jumps_inside(piece.range(), part.range()); }))
      return true;
    if (users.is_called(piece.addr) || flow_.targets().is_pointed_at(piece.addr)) return false;
    const std::vector<FileAddr> jumpers = users.jumpers_into(piece.range());
    return std::all_of(jumpers.begin(), jumpers.end(),
                       [&](FileAddr a) { return parts_.part_at(a) != nullptr; });
  }

  // The search begins again with it.
  void take_in(const elf::Function& piece, bool is_own) {
    if (!parts_.part_at(piece.addr)) parts_.take_in(piece, is_own);
  }

  const ModuleFlow& flow_;
  FunctionParts parts_;
  IndirectJumps jumps_;
  std::vector<StackDepth> depths_;
  std::vector<size_t> below_;  // instructions that run with the return address off the stack
  FunctionExits found_;
};

}  // namespace

FunctionExits search_exits(const ModuleFlow& flow, const elf::Function& function) {
  return ExitSearch(flow, function).run();
}

}  // namespace blip::probe
