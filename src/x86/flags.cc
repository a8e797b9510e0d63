// SPDX-License-Identifier: MIT
#include "x86/flags.h"

#include <vector>

#include "x86/decode.h"

namespace blip::x86 {
namespace {

constexpr int kMaxInsns = 64;

class FlagWalk {
 public:
  FlagWalk(std::span<const uint8_t> code, TargetAddr base) : code_(code), base_(base) {}

  bool live_from(TargetAddr start) {
    pending_.push_back({start, 0});
    while (!pending_.empty()) {
      Path path = pending_.back();
      pending_.pop_back();
      if (path_reads_flags(path)) return true;
    }
    return false;
  }

 private:
  struct Path {
    TargetAddr at;
    uint32_t written;
  };

  bool inside(TargetAddr a) const { return a - base_ < code_.size(); }
  bool path_reads_flags(Path path);

  std::span<const uint8_t> code_;
  TargetAddr base_;
  std::vector<Path> pending_;
  int walked_ = 0;
};

bool FlagWalk::path_reads_flags(Path path) {
  while (inside(path.at)) {
    if (++walked_ > kMaxInsns) return true;
    auto insn = decode(code_.subspan(path.at - base_), path.at);
    if (!insn || (insn->flags_read & ~path.written)) return true;
    path.written |= insn->flags_written;
    if (path.written == kStatusFlags) return false;
    path.at = insn->end();
    switch (insn->flow) {
      case Flow::kNext:
      case Flow::kSyscall:
        break;
      case Flow::kCondJump:
        if (inside(*insn->target)) pending_.push_back({*insn->target, path.written});
        break;
      case Flow::kJump:
        path.at = *insn->target;
        break;
      case Flow::kOther:
        return true;
      default:
        return false;
    }
  }
  return false;
}

}  // namespace

bool flags_live(std::span<const uint8_t> code, TargetAddr base, TargetAddr start) {
  return FlagWalk(code, base).live_from(start);
}

}  // namespace blip::x86
