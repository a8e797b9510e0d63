// SPDX-License-Identifier: MIT
#include "jit/filter_code.h"

#include "jit/shadow_code.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names
using namespace shadow;       // NOLINT: offsets

namespace {

asmjit::InstId jump_if(FilterOp op, bool is_signed) {
  switch (op) {
    case FilterOp::kEqual:
      return Inst::kIdJe;
    case FilterOp::kNotEqual:
      return Inst::kIdJne;
    case FilterOp::kLess:
      return is_signed ? Inst::kIdJl : Inst::kIdJb;
    case FilterOp::kLessEqual:
      return is_signed ? Inst::kIdJle : Inst::kIdJbe;
    case FilterOp::kGreater:
      return is_signed ? Inst::kIdJg : Inst::kIdJa;
    default:
      return is_signed ? Inst::kIdJge : Inst::kIdJae;
  }
}

FilterOp opposite(FilterOp op) {
  switch (op) {
    case FilterOp::kEqual:
      return FilterOp::kNotEqual;
    case FilterOp::kNotEqual:
      return FilterOp::kEqual;
    case FilterOp::kLess:
      return FilterOp::kGreaterEqual;
    case FilterOp::kLessEqual:
      return FilterOp::kGreater;
    case FilterOp::kGreater:
      return FilterOp::kLessEqual;
    default:
      return FilterOp::kLess;
  }
}

class FilterCode {
 public:
  FilterCode(Assembler& a, const Filter& filter, const FilterPlaces& places)
      : a_(a), filter_(filter), places_(places) {}

  // One of the labels is bound right behind it: if passes_next, `pass`.
  void emit(uint32_t at, asmjit::Label pass, asmjit::Label fail, bool passes_next) {
    const FilterNode& n = filter_[at];
    if (n.op == FilterOp::kNot) {
      emit(n.left, fail, pass, !passes_next);
    } else if (n.op == FilterOp::kAnd || n.op == FilterOp::kOr) {
      const bool is_and = n.op == FilterOp::kAnd;
      asmjit::Label second = a_.newLabel();
      emit(n.left, is_and ? second : pass, is_and ? fail : second, is_and);
      a_.bind(second);
      emit(n.right, pass, fail, passes_next);
    } else {
      emit_load(n);
      a_.mov(rdx, n.value);
      a_.cmp(rax, rdx);
      const FilterOp jumps = passes_next ? opposite(n.op) : n.op;
      a_.emit(jump_if(jumps, n.type != FilterType::kUnsigned), passes_next ? fail : pass);
    }
  }

 private:
  void emit_load(const FilterNode& n) {
    switch (n.field) {
      case FilterField::kResult:
        if (places_.result < 0) {
          a_.xor_(eax, eax);
        } else if (n.type == FilterType::kInt) {
          a_.movsxd(rax, dword_ptr(rsp, places_.result));
        } else {
          a_.mov(rax, qword_ptr(rsp, places_.result));
        }
        return;
      case FilterField::kLatency:
        a_.mov(rax, qword_ptr(rsi, kTime));
        return;
      case FilterField::kDepth:
        a_.movzx(eax, word_ptr(rsi, kOuter));
        return;
      case FilterField::kTail:
        a_.mov(eax, uint32_t{places_.is_tail});
        return;
    }
  }

  Assembler& a_;
  const Filter& filter_;
  const FilterPlaces& places_;
};

}  // namespace

void emit_filter(Assembler& a, const Filter& filter, const FilterPlaces& places, asmjit::Label fails) {
  if (filter.empty()) return;
  FilterCode code(a, filter, places);
  if (mentions(filter, FilterField::kLatency)) emit_latency(a);
  asmjit::Label passes = a.newLabel();
  code.emit(static_cast<uint32_t>(filter.size() - 1), passes, fails, true);
  a.bind(passes);
}

}  // namespace blip::jit
