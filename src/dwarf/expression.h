// SPDX-License-Identifier: MIT
// DWARF expressions (DWARF 5, 2.5 and 2.6) to places. They are computed with nodes instead of numbers; what
// is not understood, or cannot be known without the caller, is optimized out.
#pragma once

#include <elfutils/libdw.h>

#include <optional>
#include <span>
#include <vector>

#include "dwarf/units/nodes.h"
#include "script/types/scope.h"

namespace blip::dwarf {

using Operations = std::vector<Dwarf_Op>;

struct EntryOperand;

// Answers what expressions ask about the frame of their function.
class EntryValues {
 public:
  virtual ~EntryValues() = default;
  // The value that the operand had when the function was entered; nullopt if unknown.
  virtual std::optional<script::Code> at_entry(const EntryOperand& what) = 0;
  // The value that a register, in DWARF's numbers, holds in the frame; nullopt if unknown.
  virtual std::optional<script::Code> general(unsigned dwarf_register) = 0;
};

// Everything an expression may ask for besides its own operands.
struct ExpressionSurroundings {
  uint64_t load_bias = 0;
  bool is_entry = false;               // before the first instruction of the function
  std::optional<uint64_t> tls_offset;  // of the module's block, below the thread pointer
  const Operations* frame_base = nullptr;
  const Operations* cfa = nullptr;
  EntryValues* frame = nullptr;  // null: registers are as they are, and what was before is not known
};

// Records what an expression has made use of.
struct ExpressionUse {
  bool frame_base = false;
  bool cfa = false;
};

// The first `size` of these bytes; optimized out if there are fewer.
script::Place constant_place(std::span<const uint8_t> bytes, uint64_t size);

class Expression {
 public:
  // `attribute`: where the operations are from; some need it for their operands.
  Expression(const ExpressionSurroundings& surroundings, Dwarf_Attribute* attribute)
      : surroundings_(surroundings), attribute_(attribute) {}

  // The value that the operations leave on the stack, or in a register; nullopt if unknown.
  std::optional<script::Code> value(const Operations& operations);
  // The place of a value of `size` bytes.
  script::Place place(std::span<const Dwarf_Op> operations, uint64_t size);
  const ExpressionUse& use() const { return use_; }

 private:
  using Id = Nodes::Id;
  // A number on the stack. Without a size: an address, or what is calculated with them.
  struct Value {
    Id node = 0;
    uint8_t size = 0;
    bool is_signed = false;
    bool is_bit = false;  // LLVM's type of one bit, which DWARF gives a byte
  };
  // The kinds of one location, or one piece of it, besides an address on the stack.
  enum class Form : uint8_t { kMemory, kRegister, kValue, kNone };

  // From operation `at` to the end.
  bool run(std::span<const Dwarf_Op> operations, size_t at);
  bool jump(std::span<const Dwarf_Op> operations, size_t at);
  bool step(const Dwarf_Op& op);
  bool push_operand(const Dwarf_Op& op);
  bool push_register(const Dwarf_Op& op);
  bool push_from_elsewhere(const Dwarf_Op& op);
  bool shuffle(const Dwarf_Op& op);
  bool calculate(const Dwarf_Op& op);
  bool compare(const Dwarf_Op& op);
  bool convert(const Dwarf_Op& op);
  bool finish_value(const Dwarf_Op& op);
  bool finish_piece(const Dwarf_Op& op);

  bool push(Id node) { return push(Value{node}); }
  bool push(Value value);
  std::optional<Value> pop();
  bool push_general(unsigned dwarf_register, uint64_t distance = 0);
  bool push_frame(const Operations* operations);
  bool push_entry_value(const Dwarf_Op& op);
  bool push_at_entry(const EntryOperand& what);
  bool push_parameter(const Dwarf_Op& op);
  bool push_indexed(const Dwarf_Op& op, bool is_address);
  bool set_register(unsigned dwarf_register);
  bool unary(const Dwarf_Op& op);
  bool binary(script::Op op, bool is_signed);
  Value typed(Id node, const Value& like);
  std::optional<Value> base_type(const Dwarf_Op& op);

  script::Place current(uint64_t size);
  script::Place registers(uint64_t size) const;
  script::Place simple(script::Place::Kind kind, Id node) const;

  const ExpressionSurroundings& surroundings_;
  Dwarf_Attribute* attribute_;
  Nodes nodes_;
  ExpressionUse use_;
  std::vector<Value> stack_;
  Form form_ = Form::kMemory;
  unsigned register_ = 0;
  std::optional<Dwarf_Block> implicit_;
  std::vector<script::Place::Piece> pieces_;
  int nesting_ = 0;  // frame bases and entry values in expressions
  int branches_ = 0;
  Unknown why_ = Unknown::kOptimizedOut;
};

}  // namespace blip::dwarf
