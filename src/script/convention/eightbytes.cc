// SPDX-License-Identifier: MIT
#include "script/convention/eightbytes.h"

#include <algorithm>
#include <bit>

namespace blip::script {

namespace {

using Class = EightbyteClass;

constexpr uint64_t kLargestInRegisters = 16;
constexpr int kDeepest = 16;  // of structures in structures; with 16 bytes nobody needs more
constexpr uint64_t kBitsOfWord = 64;

// psABI 3.2.3: classes of fields that share an eightbyte.
Class merge(Class a, Class b) {
  if (a == b || b == Class::kNothing) return a;
  if (a == Class::kNothing) return b;
  for (Class strong : {Class::kNotKnown, Class::kMemory, Class::kInteger})
    if (a == strong || b == strong) return strong;
  if (a == Class::kX87 || b == Class::kX87) return Class::kMemory;
  return Class::kSse;
}

// Arrays have no names, except those that stand for vector registers.
bool is_vector(const Type& type) { return type.kind == TypeKind::kArray && !type.name.empty(); }

class Classifier {
 public:
  void visit(const Type& named, uint64_t offset, int depth) {
    const Type& type = resolve(named);
    if (depth > kDeepest || offset > kLargestInRegisters) return put(0, 2 * kBitsOfWord, Class::kNotKnown);
    switch (type.kind) {
      case TypeKind::kInt:
      case TypeKind::kBool:
      case TypeKind::kChar:
      case TypeKind::kEnum:
      case TypeKind::kPointer:
      case TypeKind::kReference:
        return put_scalar(type, offset, Class::kInteger);
      case TypeKind::kFloat:
        return put_scalar(type, offset, type.size > 8 ? Class::kX87 : Class::kSse);
      case TypeKind::kArray:
        return visit_array(type, offset, depth);
      case TypeKind::kStruct:
      case TypeKind::kUnion:
        return visit_members(type, offset, depth);
      default:
        return put(0, 2 * kBitsOfWord, Class::kNotKnown);
    }
  }

  std::array<Class, 2> classes{};

 private:
  void put(uint64_t first_bit, uint64_t bits, Class value) {
    for (uint64_t word = first_bit / kBitsOfWord; word * kBitsOfWord < first_bit + bits; ++word)
      if (word < classes.size()) classes[word] = merge(classes[word], value);
  }

  void put_scalar(const Type& type, uint64_t offset, Class value) {
    if (type.size == 0 || !std::has_single_bit(type.size) || type.size > kLargestInRegisters)
      return put(0, 2 * kBitsOfWord, Class::kNotKnown);
    put(offset * 8, type.size * 8, offset % type.size == 0 ? value : Class::kMemory);
  }

  void visit_array(const Type& type, uint64_t offset, int depth) {
    if (is_vector(type)) {
      if (type.size != 8 && type.size != 16) return put(0, 2 * kBitsOfWord, Class::kNotKnown);
      put(offset * 8, kBitsOfWord, Class::kSse);
      if (type.size == 16) put(offset * 8 + kBitsOfWord, kBitsOfWord, Class::kSseUp);
      return;
    }
    if (!type.target || !type.count) return;  // a flexible array at the end
    const uint64_t size = resolve(*type.target).size;
    if (size == 0) return;
    for (uint64_t i = 0; i < std::min(*type.count, kLargestInRegisters); ++i)
      visit(*type.target, offset + i * size, depth + 1);
  }

  void visit_members(const Type& type, uint64_t offset, int depth) {
    for (const Member& member : type.members) {
      if (!member.type || member.offset > kLargestInRegisters)
        put(0, 2 * kBitsOfWord, Class::kNotKnown);
      else if (member.bit_size)
        put((offset + member.offset) * 8 + member.bit_offset, member.bit_size, Class::kInteger);
      else
        visit(*member.type, offset + member.offset, depth + 1);
    }
  }
};

// A vector of 32 or 64 bytes, or what holds nothing but one.
bool is_wide_vector(const Type& named, int depth = 0) {
  const Type& type = resolve(named);
  if (depth > kDeepest || (type.size != 32 && type.size != 64)) return false;
  if (is_vector(type)) return true;
  if (type.kind == TypeKind::kArray)
    return type.target && type.count == 1 && is_wide_vector(*type.target, depth + 1);
  if (type.kind != TypeKind::kStruct && type.kind != TypeKind::kUnion) return false;
  return !type.members.empty() && std::all_of(type.members.begin(), type.members.end(), [&](const Member& m) {
    return m.type && m.bit_size == 0 && resolve(*m.type).size == type.size &&
           is_wide_vector(*m.type, depth + 1);
  });
}

uint32_t alignment_of(const Type& named, int depth) {
  const Type& type = resolve(named);
  if (depth > kDeepest) return 1;
  if (type.kind == TypeKind::kArray && !is_vector(type))
    return type.target ? alignment_of(*type.target, depth + 1) : 1;
  if (type.kind == TypeKind::kStruct || type.kind == TypeKind::kUnion) {
    uint32_t most = 1;
    for (const Member& member : type.members) {
      if (!member.type) continue;
      const uint32_t alignment = alignment_of(*member.type, depth + 1);
      const bool is_packed = member.bit_size == 0 && member.offset % alignment != 0;
      if (is_packed || type.size % alignment != 0) return 1;
      most = std::max(most, alignment);
    }
    return most;
  }
  return type.size && std::has_single_bit(type.size) && type.size <= 64 ? static_cast<uint32_t>(type.size)
                                                                        : 1;
}

}  // namespace

Eightbytes classify(const Type& named) {
  const Type& type = resolve(named);
  Eightbytes result;
  result.is_wide_vector = is_wide_vector(type);
  if (result.is_wide_vector) return result;
  if (type.size > kLargestInRegisters && !is_vector(type)) {
    result.in_memory = true;
    result.is_known = type.kind == TypeKind::kStruct || type.kind == TypeKind::kUnion;
    return result;
  }
  Classifier classifier;
  classifier.visit(type, 0, 0);
  result.classes = classifier.classes;
  const auto any = [&](Class wanted) {
    return std::find(result.classes.begin(), result.classes.end(), wanted) != result.classes.end();
  };
  result.is_known = !any(Class::kNotKnown);
  result.in_memory = any(Class::kMemory);
  result.is_x87 = !result.in_memory && any(Class::kX87);
  // The upper half of a vector stays one only behind its lower half.
  if (result.classes[1] == Class::kSseUp && result.classes[0] != Class::kSse) result.classes[1] = Class::kSse;
  return result;
}

uint32_t natural_alignment(const Type& type) { return alignment_of(type, 0); }

}  // namespace blip::script
