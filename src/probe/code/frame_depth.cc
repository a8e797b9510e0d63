// SPDX-License-Identifier: MIT
#include "probe/code/frame_depth.h"

namespace blip::probe {

using Base = x86::StackHint::Base;

namespace {

bool contradicts(const x86::StackHint& hint, const x86::StackDepth& depth) {
  return hint.base == Base::kFromRsp && depth.known && hint.depth != depth.bytes;
}

}  // namespace

bool hint_is_frame(const x86::StackHint& hint) {
  return hint.base == Base::kFromRbp || hint.base == Base::kOther ||
         (hint.base == Base::kFromRsp && hint.depth > 0);
}

bool is_in_frame(const x86::FlowInsn& insn, const x86::StackDepth& depth) {
  if (contradicts(insn.hint, depth)) return false;
  return depth.known ? depth.bytes > 0 : hint_is_frame(insn.hint);
}

x86::StackDepth agreed_depth(const x86::FlowInsn& insn, const x86::StackDepth& depth) {
  if (contradicts(insn.hint, depth)) return {.reached = depth.reached};
  if (!depth.known && insn.hint.base == Base::kFromRsp)
    return {.reached = depth.reached, .known = true, .bytes = insn.hint.depth};
  return depth;
}

}  // namespace blip::probe
