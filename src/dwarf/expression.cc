// SPDX-License-Identifier: MIT
#include "dwarf/expression.h"

#include <dwarf.h>

#include <algorithm>
#include <cstring>

#include "machine/registers.h"
#include "script/convention/sysv_abi.h"

namespace blip::dwarf {

using script::Op;
using script::Place;

namespace {

constexpr size_t kMostOperations = 512;
constexpr size_t kDeepestStack = 64;
constexpr size_t kMostPieces = 64;
const machine::RegisterSet& kRegisters = machine::host().registers;

}  // namespace

Place Expression::place(std::span<const Dwarf_Op> operations, uint64_t size) {
  if (operations.empty() || operations.size() > kMostOperations) return {};
  form_ = Form::kNone;
  if (!run(operations, 0)) return script::unknown_place(why_);
  if (pieces_.empty()) return current(size);
  if (form_ != Form::kNone || !stack_.empty()) return {};  // something behind the last piece
  const bool all_out = std::all_of(pieces_.begin(), pieces_.end(), [](const Place::Piece& p) {
    return p.place.kind == Place::Kind::kOptimizedOut;
  });
  uint64_t sum = 0;
  for (const Place::Piece& piece : pieces_) sum += piece.size;
  if (all_out || size > (1U << 20)) return {};
  if (sum < size) pieces_.push_back({{}, static_cast<uint32_t>(size - sum)});
  return {.kind = Place::Kind::kPieces, .code = {}, .pieces = pieces_};
}

std::optional<script::Code> Expression::value(const Operations& operations) {
  if (operations.size() > kMostOperations) return std::nullopt;
  form_ = Form::kNone;
  if (!run(operations, 0)) return std::nullopt;
  if (form_ == Form::kRegister && !push_general(register_)) return std::nullopt;
  if (stack_.empty() || stack_.back().size != 0 || !pieces_.empty()) return std::nullopt;
  script::Code code = nodes_.extract(stack_.back().node);
  return code.nodes.empty() ? std::nullopt : std::optional(std::move(code));
}

bool Expression::run(std::span<const Dwarf_Op> operations, size_t at) {
  for (; at < operations.size(); ++at) {
    const uint8_t atom = operations[at].atom;
    if (atom == DW_OP_bra || atom == DW_OP_skip) return jump(operations, at);
    if (!step(operations[at])) return false;
  }
  return true;
}

// Both ways are followed to their ends, and a selection takes one of the results. Only forward: no loops.
bool Expression::jump(std::span<const Dwarf_Op> operations, size_t at) {
  constexpr uint64_t kSize = 3;
  constexpr int kMostBranches = 32;
  const uint64_t offset = operations[at].offset + kSize + operations[at].number;
  size_t to = at + 1;
  while (to < operations.size() && operations[to].offset < offset) ++to;
  if (offset <= operations[at].offset || (to < operations.size() && operations[to].offset != offset))
    return false;
  if (operations[at].atom == DW_OP_skip) return run(operations, to);
  const auto condition = pop();
  if (!condition || !pieces_.empty() || ++branches_ > kMostBranches) return false;
  const std::vector<Value> stack = stack_;
  const auto follow = [&](size_t from) {
    stack_ = stack;
    form_ = stack.empty() ? Form::kNone : Form::kMemory;
    const bool is_one = run(operations, from) && pieces_.empty() && !implicit_ && !stack_.empty();
    return is_one && (form_ == Form::kMemory || form_ == Form::kValue);
  };
  if (!follow(at + 1)) return false;
  const Value otherwise = stack_.back();
  const Form form = form_;
  if (!follow(to) || form_ != form || stack_.back().size != otherwise.size) return false;
  Value& result = stack_.back();
  result.node = nodes_.add({.op = Op::kSelect, .a = condition->node, .b = result.node, .c = otherwise.node});
  return true;
}

bool Expression::step(const Dwarf_Op& op) {
  if (op.atom == DW_OP_GNU_uninit) return true;  // nothing may have been stored there yet
  // A register or a value ends a location.
  const bool ends_piece = op.atom == DW_OP_piece || op.atom == DW_OP_bit_piece;
  if ((form_ == Form::kRegister || form_ == Form::kValue) && !ends_piece) return false;
  return push_operand(op) || push_register(op) || push_from_elsewhere(op) || shuffle(op) || calculate(op) ||
         compare(op) || convert(op) || finish_value(op) || finish_piece(op);
}

bool Expression::push(Value value) {
  if (stack_.size() >= kDeepestStack || nodes_.size() >= 4 * kMostOperations) return false;
  stack_.push_back(value);
  form_ = Form::kMemory;
  return true;
}

std::optional<Expression::Value> Expression::pop() {
  if (stack_.empty()) return std::nullopt;
  const Value value = stack_.back();
  stack_.pop_back();
  return value;
}

Place Expression::simple(Place::Kind kind, Id node) const {
  Place place{.kind = kind, .code = nodes_.extract(node), .pieces = {}};
  if (place.code.nodes.empty()) return {};
  return place;
}

// The place that the operations so far describe, for a value or piece of `size` bytes.
Place Expression::current(uint64_t size) {
  switch (form_) {
    case Form::kNone:
      return {};
    case Form::kRegister:
      return registers(size);
    case Form::kValue:
      if (implicit_) return constant_place({implicit_->data, implicit_->length}, size);
      if (stack_.empty() || size > sizeof(uint64_t)) return {};
      return simple(Place::Kind::kValue, stack_.back().node);
    case Form::kMemory:
      if (stack_.empty() || stack_.back().size != 0) return {};
      return simple(Place::Kind::kAddress, stack_.back().node);
  }
  return {};
}

Place Expression::registers(uint64_t size) const {
  constexpr uint64_t kWord = sizeof(uint64_t);
  if (register_ < kRegisters.dwarf_vector) {
    if (size > kWord) return {};
    Place place{.kind = Place::Kind::kValue};
    const auto number = machine::find_dwarf_register(kRegisters, register_);
    if (!number) return {};
    place.code.add({.op = Op::kRegister, .value = *number});
    return place;
  }
  return size <= 64 ? script::vector_place(register_ - kRegisters.dwarf_vector, size) : Place{};
}

Place constant_place(std::span<const uint8_t> bytes, uint64_t size) {
  constexpr uint64_t kWord = sizeof(uint64_t);
  if (size == 0 || bytes.size() < size || size > kMostPieces * kWord) return {};
  Place all{.kind = Place::Kind::kPieces};
  for (uint64_t at = 0; at < size; at += kWord) {
    const uint64_t count = std::min(kWord, size - at);
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, count);
    Place place{.kind = Place::Kind::kValue};
    place.code.constant(bits);
    if (size <= kWord) return place;
    all.pieces.push_back({std::move(place), static_cast<uint32_t>(count)});
  }
  return all;
}

bool Expression::set_register(unsigned number) {
  const bool is_vector =
      number >= kRegisters.dwarf_vector && number < kRegisters.dwarf_vector + kRegisters.vector_count;
  if (!is_vector && !machine::find_dwarf_register(kRegisters, number)) return false;
  if (!stack_.empty()) return false;
  register_ = number;
  form_ = Form::kRegister;
  return true;
}

bool Expression::finish_value(const Dwarf_Op& op) {
  if (op.atom == DW_OP_stack_value) {
    if (stack_.empty()) return false;
    form_ = Form::kValue;
    return true;
  }
  if (op.atom != DW_OP_implicit_value) return false;
  Dwarf_Block block;
  if (!attribute_ || ::dwarf_getlocation_implicit_value(attribute_, &op, &block) != 0) return false;
  implicit_ = block;
  form_ = Form::kValue;
  return true;
}

bool Expression::finish_piece(const Dwarf_Op& op) {
  uint64_t size = op.number;
  if (op.atom == DW_OP_bit_piece) {
    if (op.number % 8 != 0 || op.number2 != 0) return false;
    size /= 8;
  } else if (op.atom != DW_OP_piece) {
    return false;
  }
  if (size == 0 || size > (1U << 20) || pieces_.size() >= kMostPieces) return false;
  Place place = current(size);
  if (place.kind == Place::Kind::kPieces)
    pieces_.insert(pieces_.end(), place.pieces.begin(), place.pieces.end());
  else
    pieces_.push_back({std::move(place), static_cast<uint32_t>(size)});
  stack_.clear();
  implicit_.reset();
  form_ = Form::kNone;
  return true;
}

}  // namespace blip::dwarf
