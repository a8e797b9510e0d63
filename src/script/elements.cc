// SPDX-License-Identifier: MIT
#include "script/elements.h"

#include <fmt/core.h>

#include "script/types/diagnostics.h"

namespace blip::script {

namespace {

// Nothing is mapped there, nor near it.
constexpr uint64_t kNowhere = uint64_t{1} << 63;

}  // namespace

Result<Elements> find_elements(Access& access, const Operand& whole, const FindType& find_type) {
  if (is_text(whole)) return not_this(whole, "has no elements");
  if (const auto view = find_view(access, whole, find_type))
    return Elements{access.value(view->data, access.types().pointer_to(*view->element)), view->length};
  Elements found{.first = whole};
  if (const auto array = find_std_array(access, whole)) found.first = *array;
  const Type& type = resolve(*found.first.type);
  if (type.kind != TypeKind::kPointer && type.kind != TypeKind::kArray) return not_this(whole, "is no array");
  if (type.length) found.length = access.builder().append(*type.length);
  if (type.count.value_or(0) != 0 && !whole.may_go_on) found.length = access.builder().constant(*type.count);
  return found;
}

Error no_such_element(Builder& builder, const Elements& all) {
  const auto length = builder.constant_of(all.length);
  return refusal(fmt::format("the array has {} elements, and this is beyond them", length.value_or(0)));
}

// A load finds out in little code that an address leads nowhere.
Result<uint32_t> address_within(Builder& b, const Elements& all, uint32_t index, uint32_t address,
                                bool is_loaded) {
  const uint32_t is_within = b.add(Op::kLess, index, all.length);
  const auto known = b.constant_of(is_within);
  if (known && *known == 0) return no_such_element(b, all);
  const uint32_t none = is_loaded ? b.constant(kNowhere) : b.add(Op::kDiv, b.constant(1), is_within);
  return b.add({.op = Op::kSelect, .a = is_within, .b = address, .c = none});
}

Result<uint32_t> end_within(Builder& b, const Elements& all, uint32_t from, uint32_t to) {
  const uint32_t is_within = b.add(Op::kLessEqual, to, all.length, true);
  const auto known = b.constant_of(is_within);
  const auto first = b.constant_of(from);
  if ((known && *known == 0) || (first && static_cast<int64_t>(*first) < 0)) return no_such_element(b, all);
  const uint32_t end = b.add({.op = Op::kSelect, .a = is_within, .b = to, .c = all.length});
  const uint32_t begins = b.add(Op::kLessEqual, b.constant(0), from, true);
  return b.add({.op = Op::kSelect, .a = begins, .b = end, .c = from});
}

}  // namespace blip::script
