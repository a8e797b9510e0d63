// SPDX-License-Identifier: MIT
// The operations of DWARF expressions, in groups: each says whether it knows the operation and could do it.
#include <dwarf.h>

#include <utility>

#include "dwarf/call_sites.h"
#include "dwarf/expression.h"
#include "machine/registers.h"

namespace blip::dwarf {

using script::Op;

namespace {

constexpr int kDeepest = 4;

}  // namespace

bool Expression::push_operand(const Dwarf_Op& op) {
  if (op.atom >= DW_OP_lit0 && op.atom <= DW_OP_lit31) return push(nodes_.constant(op.atom - DW_OP_lit0));
  switch (op.atom) {
    case DW_OP_addr:
      return push(nodes_.constant(op.number + surroundings_.load_bias));
    case DW_OP_addrx:
    case DW_OP_GNU_addr_index:
      return push_indexed(op, true);
    case DW_OP_constx:
    case DW_OP_GNU_const_index:
      return push_indexed(op, false);
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_const8u:
    case DW_OP_const8s:
    case DW_OP_constu:
    case DW_OP_consts:
      return push(nodes_.constant(op.number));  // libdw has extended it
    default:
      return false;
  }
}

bool Expression::push_indexed(const Dwarf_Op& op, bool is_address) {
  Dwarf_Attribute constant;
  if (!attribute_ || ::dwarf_getlocation_attr(attribute_, &op, &constant) != 0) return false;
  if (is_address) {
    Dwarf_Addr address = 0;
    if (::dwarf_formaddr(&constant, &address) != 0) return false;
    return push(nodes_.constant(address + surroundings_.load_bias));
  }
  Dwarf_Word value = 0;
  return ::dwarf_formudata(&constant, &value) == 0 && push(nodes_.constant(value));
}

bool Expression::push_general(unsigned number, uint64_t distance) {
  const auto here = machine::find_dwarf_register(machine::host().registers, number);
  if (!here) return false;
  if (surroundings_.frame) {
    const auto held = surroundings_.frame->general(number);
    return held && push(nodes_.plus(nodes_.append(*held), distance));
  }
  return push(nodes_.plus(nodes_.add({.op = Op::kRegister, .value = *here}), distance));
}

bool Expression::push_register(const Dwarf_Op& op) {
  if (op.atom >= DW_OP_reg0 && op.atom <= DW_OP_reg31) return set_register(op.atom - DW_OP_reg0);
  if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31)
    return push_general(op.atom - DW_OP_breg0, op.number);
  switch (op.atom) {
    case DW_OP_regx:
      return op.number < 64 && set_register(static_cast<unsigned>(op.number));
    case DW_OP_bregx:
      return op.number < 16 && push_general(static_cast<unsigned>(op.number), op.number2);
    case DW_OP_fbreg: {
      use_.frame_base = true;
      if (!push_frame(surroundings_.frame_base)) return false;
      stack_.back().node = nodes_.plus(stack_.back().node, op.number);
      return true;
    }
    case DW_OP_call_frame_cfa:
      use_.cfa = true;
      return push_frame(surroundings_.cfa);
    default:
      return false;
  }
}

// The result of another expression: a frame base that is a register means what is in it.
bool Expression::push_frame(const Operations* operations) {
  if (!operations || operations->empty() || nesting_ >= kDeepest) return false;
  std::vector<Value> outer;
  outer.swap(stack_);
  const Form form = std::exchange(form_, Form::kNone);
  ++nesting_;
  bool fine = true;
  for (const Dwarf_Op& op : *operations) fine = fine && op.atom != DW_OP_fbreg && step(op);
  --nesting_;
  if (fine && form_ == Form::kRegister) fine = push_general(register_);
  const auto result = form_ == Form::kMemory || form_ == Form::kValue ? pop() : std::nullopt;
  stack_.swap(outer);
  form_ = form;
  return fine && result && result->size == 0 && push(*result);
}

bool Expression::push_from_elsewhere(const Dwarf_Op& op) {
  switch (op.atom) {
    case DW_OP_form_tls_address:
    case DW_OP_GNU_push_tls_address: {
      const auto offset = pop();
      if (!surroundings_.tls_offset) why_ = Unknown::kThreadLocal;
      if (!offset || !surroundings_.tls_offset) return false;
      const Id thread = nodes_.add({.op = Op::kThreadPointer});
      const Id address = nodes_.binary(Op::kAdd, thread, offset->node);
      return push(nodes_.plus(address, 0 - *surroundings_.tls_offset));
    }
    case DW_OP_entry_value:
    case DW_OP_GNU_entry_value:
      return push_entry_value(op);
    case DW_OP_GNU_parameter_ref:
      return push_parameter(op);
    case DW_OP_deref:
    case DW_OP_deref_size: {
      const auto address = pop();
      const uint64_t size = op.atom == DW_OP_deref ? 8 : op.number;
      if (!address || address->size != 0 || (size != 1 && size != 2 && size != 4 && size != 8)) return false;
      return push(nodes_.add({.op = Op::kLoad, .width = static_cast<uint8_t>(size), .a = address->node}));
    }
    case DW_OP_nop:
      return true;
    default:
      return false;
  }
}

// A value of the entry is known at the entry itself, and to callers.
bool Expression::push_entry_value(const Dwarf_Op& op) {
  Dwarf_Attribute inner;
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (!attribute_ || ::dwarf_getlocation_attr(attribute_, &op, &inner) != 0) return false;
  if (::dwarf_getlocation(&inner, &ops, &count) != 0 || count != 1) return false;
  if (surroundings_.is_entry) {
    const Operations operations(ops, ops + count);
    return push_frame(&operations);
  }
  if (ops->atom >= DW_OP_reg0 && ops->atom <= DW_OP_reg31)
    return push_at_entry({.in_register = ops->atom - DW_OP_reg0});
  return ops->atom == DW_OP_regx && push_at_entry({.in_register = static_cast<unsigned>(ops->number)});
}

bool Expression::push_parameter(const Dwarf_Op& op) {
  Dwarf_Die parameter;
  if (!attribute_ || ::dwarf_getlocation_die(attribute_, &op, &parameter) != 0) return false;
  return push_at_entry({.parameter = parameter});
}

bool Expression::push_at_entry(const EntryOperand& what) {
  const auto told = surroundings_.frame ? surroundings_.frame->at_entry(what) : std::nullopt;
  return told && push(nodes_.append(*told));
}

bool Expression::shuffle(const Dwarf_Op& op) {
  const size_t size = stack_.size();
  const auto copy = [&](size_t depth) { return depth < size && push(stack_[size - 1 - depth]); };
  switch (op.atom) {
    case DW_OP_dup:
      return copy(0);
    case DW_OP_over:
      return copy(1);
    case DW_OP_pick:
      return copy(op.number);
    case DW_OP_drop:
      return pop().has_value();
    case DW_OP_swap:
      if (size < 2) return false;
      std::swap(stack_[size - 1], stack_[size - 2]);
      return true;
    case DW_OP_rot:
      if (size < 3) return false;
      std::swap(stack_[size - 1], stack_[size - 2]);
      std::swap(stack_[size - 2], stack_[size - 3]);
      return true;
    default:
      return false;
  }
}

}  // namespace blip::dwarf
