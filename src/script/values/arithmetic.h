// SPDX-License-Identifier: MIT
// C's operators on typed operands: promotions, usual conversions, pointers. Errors are refusals.
#pragma once

#include "script/values/access.h"

namespace blip::script {

class Arithmetic {
 public:
  explicit Arithmetic(Access& access) : access_(access), builder_(access.builder()) {}

  Result<Operand> unary(std::string_view sign, const Operand& a);
  // All but && and ||, which need not look at both sides.
  Result<Operand> binary(std::string_view sign, const Operand& a, const Operand& b);
  Result<Operand> logical(std::string_view sign, const Operand& a, const Operand& b);
  Result<Operand> conditional(const Operand& test, const Operand& yes, const Operand& no);
  Result<Operand> cast(const Operand& a, const Type& type);

  // 0 or not 0.
  Result<uint32_t> truth(const Operand& a);

 private:
  struct Number {
    uint32_t node = kNone;
    const Type* type = nullptr;  // resolved; arrays and functions are pointers
    bool is_pointer = false, is_float = false;
  };
  Result<Number> number(const Operand& a);
  Number converted(const Number& n, uint64_t size, bool is_signed);
  // is_float: rounded to a float, as C converts an integer that meets one.
  Result<uint32_t> as_double(const Number& n, bool is_float);
  Operand integer(uint32_t node, uint64_t size, bool is_signed);
  Operand truth_value(uint32_t node) { return integer(node, 4, true); }

  Result<Operand> compare(std::string_view sign, const Number& a, const Number& b);
  Result<Operand> compare_floats(std::string_view sign, const Number& a, const Number& b);
  Result<Operand> move_pointer(std::string_view sign, const Number& pointer, const Number& by);
  Result<Operand> distance(const Number& a, const Number& b);
  Result<Operand> of_integers(std::string_view sign, const Number& a, const Number& b);
  Status check_range(const Number& a, const Number& b) const;

  Access& access_;
  Builder& builder_;
};

}  // namespace blip::script
