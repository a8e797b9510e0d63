// SPDX-License-Identifier: MIT
#include "script/access.h"

#include <fmt/core.h>

#include <bit>

#include "script/diagnostics.h"
#include "script/members.h"

namespace blip::script {

namespace {

using Kind = Operand::Kind;

constexpr uint64_t kWord = 8;

bool is_word_part(uint64_t size) { return size == 1 || size == 2 || size == 4 || size == 8; }

}  // namespace

Error not_this(const Operand& operand, std::string_view what) {
  if (operand.kind == Kind::kText) return refusal(fmt::format("a text {}", what));
  if (operand.kind == Kind::kSlice) return refusal(fmt::format("a slice {}", what));
  return refusal(fmt::format("its type is {}: it {}", to_string(*operand.type), what));
}

Operand Access::variable(const Variable& variable) {
  static const Type kUntold;
  return at_place(variable.type ? *variable.type : kUntold, variable.place);
}

Operand Access::at_place(const Type& type, const Place& place) {
  Operand result{.type = &type};
  if (place.kind == Place::Kind::kPieces) {
    result.kind = Kind::kPieces;
    for (const Place::Piece& piece : place.pieces) {
      Place only = piece.place;
      only.pieces.clear();
      if (only.kind == Place::Kind::kPieces) only.kind = Place::Kind::kOptimizedOut;
      Operand part{.type = &type};
      part.node = only.kind == Place::Kind::kOptimizedOut ? kNone : builder_.append(only.code);
      if (part.node != kNone) part.kind = only.kind == Place::Kind::kAddress ? Kind::kMemory : Kind::kValue;
      result.pieces.push_back({std::move(part), piece.size});
    }
    return follow(std::move(result));
  }
  if (place.kind == Place::Kind::kOptimizedOut) return result;
  result.node = builder_.append(place.code);
  if (result.node == kNone) return result;
  result.kind = place.kind == Place::Kind::kAddress ? Kind::kMemory : Kind::kValue;
  return follow(std::move(result));
}

Operand Access::memory(uint32_t address, const Type& type) {
  return follow({.kind = Kind::kMemory, .type = &type, .node = address});
}

Operand Access::follow(Operand operand) {
  constexpr int kMost = 4;  // a reference to a reference is none of C++'s
  for (int i = 0; i < kMost; ++i) {
    const Type& type = resolve(*operand.type);
    if (type.kind != TypeKind::kReference || !type.target) break;
    const auto address = bits(operand);
    if (!address) return {.type = type.target};
    operand = {.kind = Kind::kMemory, .type = type.target, .node = *address};
  }
  return operand;
}

Operand Access::part(const Operand& whole, uint64_t offset, const Type& type) {
  Operand result{.type = &type};
  const uint64_t size = resolve(type).size;
  switch (whole.kind) {
    case Kind::kMemory:
      result.kind = Kind::kMemory;
      result.node = builder_.add(Op::kAdd, whole.node, builder_.constant(offset));
      break;
    case Kind::kValue:
      if (offset >= kWord) return result;
      result.kind = Kind::kValue;
      result.node = builder_.add(Op::kShr, whole.node, builder_.constant(8 * offset));
      break;
    case Kind::kPieces: {
      result.kind = Kind::kPieces;
      uint64_t begin = 0;
      for (const Operand::Piece& piece : whole.pieces) {
        const uint64_t end = begin + piece.size;
        if (offset >= begin && offset + size <= end) return part(piece.part, offset - begin, type);
        if (end > offset && begin < offset + size) {
          const uint64_t from = offset > begin ? offset - begin : 0;
          Operand some = part(piece.part, from, type);
          result.pieces.push_back({std::move(some), std::min(end, offset + size) - begin - from});
        }
        begin = end;
      }
      break;
    }
    default:
      return result;
  }
  return follow(std::move(result));
}

Result<Operand> Access::member(const Operand& whole, std::string_view name) {
  const Type& type = resolve(*whole.type);
  if (!is_aggregate(type)) return not_this(whole, "has no members");
  const auto found = find_member(type, name);
  if (!found) {
    std::vector<std::string> names;
    for (const FoundMember& m : members_of(type)) names.push_back(m.member->name);
    if (names.empty())
      return refusal(fmt::format("nothing is known about the members of {}", to_string(*whole.type)));
    return refusal(fmt::format("{} has no member '{}'; it has {}", to_string(*whole.type), name,
                               list_names(std::move(names), name)));
  }
  if (found->member->bit_size == 0) return part(whole, found->offset, *found->member->type);
  // A field's bytes are those it touches: its type may be larger than what is left of the structure.
  const uint64_t bits = found->offset * 8 + found->member->bit_offset;
  const uint64_t first = bits / 8, touched = (bits % 8 + found->member->bit_size + 7) / 8;
  const Type& bytes = int_type(std::bit_ceil(std::min(touched, kWord)), false);
  Operand field = part(whole, first, bytes);
  field.type = found->member->type;
  field.bit_offset = static_cast<uint32_t>(bits % 8);
  field.bit_size = found->member->bit_size;
  const uint64_t unit = resolve(*field.type).size;
  if (field.kind != Kind::kMemory || !is_word_part(unit)) return field;
  // Compilers keep fields within a unit of their type: one load will do.
  const uint64_t unit_start = first / unit * unit, at = bits - unit_start * 8;
  if (at + field.bit_size > unit * 8 || unit_start + unit > type.size) return field;
  field.node = builder_.add(Op::kAdd, whole.node, builder_.constant(unit_start));
  field.bit_offset = static_cast<uint32_t>(at);
  return field;
}

Result<Operand> Access::dereference(const Operand& pointer) {
  if (pointer.kind == Kind::kText || pointer.kind == Kind::kSlice)
    return not_this(pointer, "points to nothing");
  const Type& type = resolve(*pointer.type);
  if (type.kind == TypeKind::kArray && type.target) return part(pointer, 0, *type.target);
  if (type.kind != TypeKind::kPointer) return not_this(pointer, "is no pointer");
  const TypeKind target = type.target ? resolve(*type.target).kind : TypeKind::kVoid;
  if (target == TypeKind::kVoid)
    return refusal("it points to void: say what it is, as in *(int *)p or ((struct s *)p)->member");
  if (target == TypeKind::kFunction) return not_this(pointer, "points to code, not to data");
  TRY(const uint32_t node, bits(pointer));
  return memory(node, *type.target);
}

Result<uint32_t> Access::address(const Operand& operand) {
  switch (operand.kind) {
    case Kind::kMemory:
      if (operand.bit_size) return refusal("a bit-field has no address");
      return operand.node;
    case Kind::kOptimizedOut:
      return refusal("it is optimized out: it is nowhere at this place");
    case Kind::kSlice:
      return operand.node;
    case Kind::kText:
      return refusal("a text of an expression has no address");
    default:
      return refusal("it is in registers here: it has no address");
  }
}

Result<uint32_t> Access::bits(const Operand& operand) {
  if (operand.kind == Kind::kText || operand.kind == Kind::kSlice) return not_this(operand, "is no number");
  const Type& type = resolve(*operand.type);
  if (type.kind == TypeKind::kArray || type.kind == TypeKind::kFunction) return address(operand);
  if (operand.kind == Kind::kOptimizedOut)
    return refusal("it is optimized out: it has no value at this place");
  if (is_aggregate(type)) return not_this(operand, "is no number");
  if (operand.bit_size) return extract(operand);
  const uint64_t size =
      type.kind == TypeKind::kPointer || type.kind == TypeKind::kReference ? kWord : type.size;
  if (type.kind == TypeKind::kVoid || type.kind == TypeKind::kUnknown)
    return not_this(operand, "has no value");
  if (!is_word_part(size)) return not_this(operand, "can be shown, but not computed with");
  if (operand.kind == Kind::kPieces) return refusal("it is scattered over several places here");
  if (operand.kind == Kind::kValue) return operand.node;
  const bool is_number = type.kind != TypeKind::kPointer && type.kind != TypeKind::kFloat;
  return builder_.load(operand.node, size, is_number && type.is_signed && size < kWord);
}

// The bytes of a bit-field; more than 8 of them only if it is packed that way: byte by byte then.
uint32_t Access::bytes_of(const Operand& field) {
  const uint32_t touched = (field.bit_offset + field.bit_size + 7) / 8;
  const uint64_t unit = resolve(*field.type).size;
  if (is_word_part(unit) && touched <= unit && field.bit_offset >= 8) return builder_.load(field.node, unit);
  if (is_word_part(touched)) return builder_.load(field.node, touched);
  uint32_t all = builder_.constant(0);
  for (uint32_t i = 0; i < std::min<uint32_t>(touched, kWord); ++i) {
    const uint32_t at = builder_.add(Op::kAdd, field.node, builder_.constant(i));
    const uint32_t byte = builder_.add(Op::kShl, builder_.load(at, 1), builder_.constant(uint64_t{8} * i));
    all = i == 0 ? byte : builder_.add(Op::kOr, all, byte);
  }
  return all;
}

uint32_t Access::extract(const Operand& field) {
  const uint32_t bytes = field.kind == Kind::kMemory ? bytes_of(field) : field.node;
  const uint64_t above = 64 - std::min<uint64_t>(64, field.bit_offset + field.bit_size);
  const uint32_t left = builder_.add(Op::kShl, bytes, builder_.constant(above));
  const uint64_t down = 64 - std::min<uint64_t>(64, field.bit_size);
  return builder_.add(Op::kShr, left, builder_.constant(down), resolve(*field.type).is_signed);
}

Result<uint32_t> Access::number(const Operand& operand) {
  TRY(const uint32_t raw, bits(operand));
  const Type& type = resolve(*operand.type);
  switch (type.kind) {
    case TypeKind::kFloat:
      return type.size == 4 ? builder_.add(Op::kWiden, raw) : raw;
    case TypeKind::kInt:
    case TypeKind::kBool:
    case TypeKind::kChar:
    case TypeKind::kEnum:
      return operand.bit_size ? raw : builder_.extend(raw, type.size, type.is_signed);
    default:
      return raw;
  }
}

}  // namespace blip::script
