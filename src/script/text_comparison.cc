// SPDX-License-Identifier: MIT
#include "script/text_comparison.h"

#include "script/types/diagnostics.h"

namespace blip::script {

namespace {

bool is_bytes(const Type& element) { return resolve(element).size == 1; }

}  // namespace

Result<uint32_t> compare_text(Access& access, const Operand& a, const std::string& text, bool is_prefix,
                              const FindType& find_type) {
  Builder& b = access.builder();
  if (is_text(a)) return refusal("both sides are texts: compare a text with a value of the program");
  if (a.kind == Operand::Kind::kOptimizedOut) return access.address(a).error();
  const uint64_t index = b.text(text);
  const auto bytes = [&](uint32_t data, uint32_t length) {
    return b.add({.op = Op::kBytesEqual, .a = data, .b = length, .value = index});
  };
  const uint32_t size = b.constant(text.size());
  if (const auto view = find_view(access, a, find_type); view && is_bytes(*view->element)) {
    if (!is_prefix) return bytes(view->data, view->length);
    return b.add(Op::kLogicalAnd, b.add(Op::kLessEqual, size, view->length), bytes(view->data, size));
  }
  const Type& type = resolve(*a.type);
  const bool is_array = type.kind == TypeKind::kArray, is_pointer = type.kind == TypeKind::kPointer;
  if ((!is_array && !is_pointer) || !type.target || !is_bytes(*type.target) ||
      resolve(*type.target).kind == TypeKind::kBool)
    return not_this(a, "cannot be compared with a text");
  if (text.find('\0') != std::string::npos) return refusal("no C string has a NUL in it");
  TRY(const uint32_t at, access.bits(a));
  if (is_array && type.count && text.size() >= *type.count) {
    if (text.size() > *type.count) return b.constant(0);
    return bytes(at, size);
  }
  return b.add({.op = is_prefix ? Op::kTextPrefix : Op::kTextEqual, .a = at, .value = index});
}

}  // namespace blip::script
