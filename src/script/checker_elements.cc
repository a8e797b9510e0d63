// SPDX-License-Identifier: MIT
// Elements that are there: an index beyond the known length of an array or a container finds something else.
// Pointers know no length, and an array of one element or none that ends a structure may have any.
#include <fmt/core.h>

#include "script/checker.h"
#include "script/types/diagnostics.h"

namespace blip::script {

namespace {

// Nothing is mapped there, nor near it.
constexpr uint64_t kNowhere = uint64_t{1} << 63;

}  // namespace

Result<Checker::Elements> Checker::elements(const Operand& a) {
  if (is_text(a)) return not_this(a, "has no elements");
  if (const auto view = find_view(access_, a, type_finder()))
    return Elements{access_.value(view->data, types_.pointer_to(*view->element)), view->length};
  Elements found{.first = a};
  if (const auto array = find_std_array(access_, a)) found.first = *array;
  const Type& type = resolve(*found.first.type);
  if (type.kind != TypeKind::kPointer && type.kind != TypeKind::kArray) return not_this(a, "is no array");
  if (type.length) found.length = access_.builder().append(*type.length);
  if (type.count.value_or(0) != 0 && !a.may_go_on) found.length = access_.builder().constant(*type.count);
  return found;
}

Error Checker::no_element(const Elements& all) {
  const auto length = access_.builder().constant_of(all.length);
  return refusal(fmt::format("the array has {} elements, and this is beyond them", length.value_or(0)));
}

// The address of an element. If there is no such element it leads nowhere, which a load finds out in little
// code; where the address itself is wanted it is none.
Result<uint32_t> Checker::within(const Elements& all, uint32_t index, uint32_t address, bool is_loaded) {
  Builder& b = access_.builder();
  const uint32_t is_within = b.add(Op::kLess, index, all.length);
  const auto known = b.constant_of(is_within);
  if (known && *known == 0) return no_element(all);
  const uint32_t none = is_loaded ? b.constant(kNowhere) : b.add(Op::kDiv, b.constant(1), is_within);
  return b.add({.op = Op::kSelect, .a = is_within, .b = address, .c = none});
}

// The end of a slice, which has no elements if it begins before the first one.
Result<uint32_t> Checker::end_within(const Elements& all, uint32_t from, uint32_t to) {
  Builder& b = access_.builder();
  const uint32_t is_within = b.add(Op::kLessEqual, to, all.length, true);
  const auto known = b.constant_of(is_within);
  const auto first = b.constant_of(from);
  if ((known && *known == 0) || (first && static_cast<int64_t>(*first) < 0)) return no_element(all);
  const uint32_t end = b.add({.op = Op::kSelect, .a = is_within, .b = to, .c = all.length});
  const uint32_t begins = b.add(Op::kLessEqual, b.constant(0), from, true);
  return b.add({.op = Op::kSelect, .a = begins, .b = end, .c = from});
}

}  // namespace blip::script
