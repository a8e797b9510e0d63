// SPDX-License-Identifier: MIT
#include "probe/exits.h"

#include <fmt/core.h>

#include <algorithm>

#include "probe/every_instruction.h"
#include "x86/decode.h"

namespace blip::probe {

class ExitFinder::Impl {
 public:
  explicit Impl(const Module& module) : module_(module) {}

  FunctionExits exits_of(const elf::Function& function) const {
    FunctionExits found;
    const auto bytes = module_.file().bytes(function.range());
    for (const x86::Insn& insn : decode_all(bytes, module_.to_target(function.addr))) {
      Exit exit{.at = module_.to_file(insn.addr), .holder = function};
      if (insn.flow == x86::Flow::kReturn) {
        found.exits.push_back(exit);
      } else if (insn.flow == x86::Flow::kIndirectJump) {
        found.incomplete = fmt::format("it jumps through a register at {:#x}", exit.at.value);
      } else if (insn.target && insn.flow != x86::Flow::kCall &&
                 !function.range().contains(module_.to_file(*insn.target))) {
        exit.kind = ExitKind::kTailJump;
        exit.conditional = insn.flow == x86::Flow::kCondJump;
        found.exits.push_back(exit);
      }
    }
    return found;
  }

 private:
  const Module& module_;
};

ExitFinder::ExitFinder(const Module& module) : impl_(std::make_unique<Impl>(module)) {}

ExitFinder::~ExitFinder() = default;

FunctionExits ExitFinder::exits_of(const elf::Function& function) { return impl_->exits_of(function); }

}  // namespace blip::probe
