// SPDX-License-Identifier: MIT
// A second opinion: what libdw says about the caller of a frame, calculated on registers and memory that are
// made up.
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <libelf.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/fd.h"
#include "unwind/walk.h"

namespace blip::unwind {

// Every word of memory has a number of its own.
struct MadeUpMemory {
  static uint64_t at(uint64_t address) {
    uint64_t n = (address + 1) * 0x9e3779b97f4a7c15;
    n = (n ^ (n >> 29)) * 0xbf58476d1ce4e5b9;
    return (n ^ (n >> 32)) | 1;
  }
  abi::SafeWord read(uint64_t address) const { return {at(address), 1}; }
};

class LibdwFrames {
 public:
  explicit LibdwFrames(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    ::elf_version(EV_CURRENT);
    elf_ = ::elf_begin(fd_.get(), ELF_C_READ, nullptr);
    cfi_ = ::dwarf_getcfi_elf(elf_);
    CHECK(cfi_);
  }
  ~LibdwFrames() {
    ::dwarf_cfi_end(cfi_);
    ::elf_end(elf_);
  }

  struct Caller {
    bool is_known = false;      // there is a frame
    bool is_outermost = false;  // without a return address
    bool is_signal = false;
    std::optional<uint64_t> cfa, rip, rbp;  // nothing: needs registers that are not given
    bool rbp_undefined = false;
  };

  Caller caller_at(uint64_t address, const Registers& registers) {
    registers_ = registers;
    registers_.rip = address;
    Caller caller;
    Dwarf_Frame* frame = nullptr;
    if (::dwarf_cfi_addrframe(cfi_, address, &frame) != 0) return caller;
    caller.is_known = true;
    ::dwarf_frame_info(frame, nullptr, nullptr, &caller.is_signal);
    Dwarf_Op* ops = nullptr;
    size_t count = 0;
    if (::dwarf_frame_cfa(frame, &ops, &count) == 0 && count > 0)
      caller.cfa = evaluate(ops, count, std::nullopt);
    caller.rip = saved(frame, 16, registers_.rip, caller.cfa, caller.is_outermost);
    caller.rbp = saved(frame, 6, registers_.rbp, caller.cfa, caller.rbp_undefined);
    ::free(frame);
    return caller;
  }

 private:
  std::optional<uint64_t> saved(Dwarf_Frame* frame, int which, uint64_t same, std::optional<uint64_t> cfa,
                                bool& is_undefined) {
    Dwarf_Op memory[3];
    Dwarf_Op* ops = nullptr;
    size_t count = 0;
    if (::dwarf_frame_register(frame, which, memory, &ops, &count) != 0) return std::nullopt;
    is_undefined = count == 0 && ops == memory;
    if (count == 0) return is_undefined ? std::nullopt : std::optional(same);
    const bool is_value = ops[count - 1].atom == DW_OP_stack_value;
    const auto place = evaluate(ops, is_value ? count - 1 : count, cfa);
    if (!place || is_value) return place;
    return MadeUpMemory::at(*place);
  }

  std::optional<uint64_t> of_register(uint64_t number) const {
    if (number == 6) return registers_.rbp;
    if (number == 7) return registers_.rsp;
    if (number == 16) return registers_.rip;
    return std::nullopt;
  }

  std::optional<uint64_t> evaluate(const Dwarf_Op* ops, size_t count, std::optional<uint64_t> cfa) const {
    std::vector<uint64_t> stack;
    const auto pop = [&] {
      const uint64_t top = stack.back();
      stack.pop_back();
      return top;
    };
    for (size_t i = 0; i < count; ++i) {
      const Dwarf_Op& op = ops[i];
      if (op.atom >= DW_OP_lit0 && op.atom <= DW_OP_lit31) {
        stack.push_back(op.atom - DW_OP_lit0);
      } else if ((op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31) || op.atom == DW_OP_bregx) {
        const bool is_x = op.atom == DW_OP_bregx;
        const auto base = of_register(is_x ? op.number : op.atom - DW_OP_breg0);
        if (!base) return std::nullopt;
        stack.push_back(*base + (is_x ? op.number2 : op.number));
      } else if (op.atom == DW_OP_call_frame_cfa) {
        if (!cfa) return std::nullopt;
        stack.push_back(*cfa);
      } else if (op.atom == DW_OP_plus_uconst) {
        stack.back() += op.number;
      } else if (op.atom == DW_OP_deref) {
        stack.back() = MadeUpMemory::at(stack.back());
      } else if (!binary(op.atom, stack, pop)) {
        return std::nullopt;
      }
    }
    return stack.empty() ? std::nullopt : std::optional(stack.back());
  }

  template <typename Pop>
  static bool binary(uint8_t atom, std::vector<uint64_t>& stack, const Pop& pop) {
    if (atom != DW_OP_and && atom != DW_OP_ge && atom != DW_OP_shl && atom != DW_OP_plus) return false;
    const uint64_t b = pop(), a = pop();
    if (atom == DW_OP_and) stack.push_back(a & b);
    if (atom == DW_OP_ge) stack.push_back(static_cast<int64_t>(a) >= static_cast<int64_t>(b));
    if (atom == DW_OP_shl) stack.push_back(a << b);
    if (atom == DW_OP_plus) stack.push_back(a + b);
    return true;
  }

  Fd fd_;
  Elf* elf_ = nullptr;
  Dwarf_CFI* cfi_ = nullptr;
  Registers registers_{};
};

}  // namespace blip::unwind
