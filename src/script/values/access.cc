// SPDX-License-Identifier: MIT
#include "script/values/access.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "script/types/diagnostics.h"
#include "script/types/members.h"

namespace blip::script {

namespace {

using Kind = Operand::Kind;

constexpr uint64_t kWord = 8, kBitsOfWord = 64;

bool is_word_part(uint64_t size) { return size == 1 || size == 2 || size == 4 || size == 8; }

// As far as alignment lets see.
bool is_last(const Operand& whole, const FoundMember& found) {
  const Type &outer = resolve(*whole.type), &type = resolve(*found.member->type);
  return whole.kind == Kind::kMemory && outer.kind == TypeKind::kStruct && type.kind == TypeKind::kArray &&
         type.count.value_or(0) <= 1 && found.offset + type.size + kWord > outer.size;
}

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
      part.why = only.why;
      if (part.node != kNone) part.kind = only.kind == Place::Kind::kAddress ? Kind::kMemory : Kind::kValue;
      result.pieces.push_back({std::move(part), piece.size});
    }
    return follow(std::move(result));
  }
  result.why = place.why;
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
    if (!address) return {.type = type.target, .why = operand.why};
    operand = {.kind = Kind::kMemory, .type = type.target, .node = *address};
  }
  return operand;
}

Operand Access::part(const Operand& whole, uint64_t offset, const Type& type) {
  Operand result = cut(whole, offset, resolve(type).size);
  result.type = &type;
  return follow(std::move(result));
}

// Some bytes, whatever they are. Those of pieces stay pieces unless one piece has them all.
Operand Access::cut(const Operand& whole, uint64_t offset, uint64_t size) {
  Operand result{.type = whole.type, .why = whole.why};
  switch (whole.kind) {
    case Kind::kMemory:
      result.kind = Kind::kMemory;
      result.node = builder_.add(Op::kAdd, whole.node, builder_.constant(offset));
      return result;
    case Kind::kValue:
      if (offset >= kWord) return result;
      result.kind = Kind::kValue;
      result.node = builder_.add(Op::kShr, whole.node, builder_.constant(8 * offset));
      return result;
    case Kind::kPieces:
      return cut_pieces(whole, offset, size);
    default:
      return result;
  }
}

Operand Access::cut_pieces(const Operand& whole, uint64_t offset, uint64_t size) {
  Operand result{.kind = Kind::kPieces, .type = whole.type};
  uint64_t begin = 0;
  for (const Operand::Piece& piece : whole.pieces) {
    const uint64_t end = begin + piece.size;
    if (offset >= begin && offset + size <= end) return cut(piece.part, offset - begin, size);
    if (end > offset && begin < offset + size) {
      const uint64_t from = offset > begin ? offset - begin : 0;
      const uint64_t count = std::min(end, offset + size) - begin - from;
      result.pieces.push_back({cut(piece.part, from, count), count});
    }
    begin = end;
  }
  const bool is_anywhere = std::any_of(result.pieces.begin(), result.pieces.end(), [](const auto& piece) {
    return piece.part.kind != Kind::kOptimizedOut;
  });
  if (is_anywhere) return result;
  return {.type = whole.type, .why = result.pieces.empty() ? whole.why : result.pieces[0].part.why};
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
  return member(whole, *found);
}

Operand Access::member(const Operand& whole, const FoundMember& found) {
  const Member& member = *found.member;
  if (member.bit_size == 0) {
    Operand result = part(whole, found.offset, *member.type);
    result.may_go_on = is_last(whole, found);
    return result;
  }
  // A field's bytes are those it touches: its type may be larger than what is left of the structure.
  const uint64_t bits = found.offset * 8 + member.bit_offset;
  const uint64_t first = bits / 8, touched = (bits % 8 + member.bit_size + 7) / 8;
  Operand field = cut(whole, first, touched);
  field.type = member.type;
  field.bit_offset = static_cast<uint32_t>(bits % 8);
  field.bit_size = member.bit_size;
  const uint64_t unit = resolve(*field.type).size;
  if (whole.kind != Kind::kMemory || !is_word_part(unit)) return field;
  // Compilers keep fields within a unit of their type: one load will do.
  const uint64_t unit_start = first / unit * unit, at = bits - unit_start * 8;
  if (at + field.bit_size > unit * 8 || unit_start + unit > resolve(*whole.type).size) return field;
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
      return refusal(fmt::format("it is {}: it is nowhere at this place", text_of(operand.why)));
    case Kind::kSlice:
      return operand.node;
    case Kind::kText:
      return refusal("a text in an expression has no address");
    default:
      return refusal("it is in registers here: it has no address");
  }
}

Result<uint32_t> Access::bits(const Operand& operand) {
  if (operand.kind == Kind::kText || operand.kind == Kind::kSlice) return not_this(operand, "is no number");
  const Type& type = resolve(*operand.type);
  if (type.kind == TypeKind::kArray || type.kind == TypeKind::kFunction) return address(operand);
  if (operand.kind == Kind::kOptimizedOut)
    return refusal(fmt::format("it is {}: it has no value at this place", text_of(operand.why)));
  if (is_aggregate(type)) return not_this(operand, "is no number");
  if (operand.bit_size) return extract(operand);
  const uint64_t size =
      type.kind == TypeKind::kPointer || type.kind == TypeKind::kReference ? kWord : type.size;
  if (type.kind == TypeKind::kVoid || type.kind == TypeKind::kUnknown)
    return not_this(operand, "has no value");
  if (!is_word_part(size)) return not_this(operand, "can be shown, but not computed with");
  if (operand.kind == Kind::kPieces) return low_bytes(operand, size);
  if (operand.kind == Kind::kValue) return operand.node;
  const bool is_number = type.kind != TypeKind::kPointer && type.kind != TypeKind::kFloat;
  return builder_.load(operand.node, size, is_number && type.is_signed && size < kWord);
}

// The first bytes, at most 8; those above them are zeros.
Result<uint32_t> Access::low_bytes(const Operand& operand, uint64_t size) {
  switch (operand.kind) {
    case Kind::kMemory:
      return load_bytes(operand.node, size);
    case Kind::kValue: {
      if (is_word_part(size)) return builder_.extend(operand.node, size, false);
      const uint32_t above = builder_.constant(8 * (kWord - size));
      return builder_.add(Op::kShr, builder_.add(Op::kShl, operand.node, above), above);
    }
    case Kind::kPieces:
      return join(operand, size);
    default:
      return refusal(fmt::format("a part of it is {}: it has no value at this place", text_of(operand.why)));
  }
}

Result<uint32_t> Access::join(const Operand& operand, uint64_t size) {
  uint32_t all = builder_.constant(0);
  uint64_t at = 0;
  for (const Operand::Piece& piece : operand.pieces) {
    if (at >= size) break;
    TRY(const uint32_t some, low_bytes(piece.part, std::min(piece.size, size - at)));
    const uint32_t moved = builder_.add(Op::kShl, some, builder_.constant(8 * at));
    all = at == 0 ? moved : builder_.add(Op::kOr, all, moved);
    at += piece.size;
  }
  if (at < size) return refusal("a part of it is optimized out: it has no value at this place");
  return all;
}

uint32_t Access::load_bytes(uint32_t address, uint64_t size) {
  if (is_word_part(size)) return builder_.load(address, size);
  uint32_t all = kNone;
  for (uint64_t at = 0; at < size;) {
    const uint64_t count = std::bit_floor(size - at);
    const uint32_t some = builder_.load(builder_.add(Op::kAdd, address, builder_.constant(at)), count);
    const uint32_t moved = builder_.add(Op::kShl, some, builder_.constant(8 * at));
    all = at == 0 ? moved : builder_.add(Op::kOr, all, moved);
    at += count;
  }
  return all;
}

Result<uint32_t> Access::extract(const Operand& field) {
  const uint64_t end = field.bit_offset + field.bit_size, unit = resolve(*field.type).size;
  const bool is_unit = field.kind == Kind::kMemory && field.bit_offset >= 8;
  TRY(uint32_t from, low_bytes(field, is_unit ? unit : std::min((end + 7) / 8, kWord)));
  uint64_t above = kBitsOfWord - std::min(end, kBitsOfWord);
  if (end > kBitsOfWord) {  // packed: it touches nine bytes
    TRY(const uint32_t ninth, low_bytes(cut(field, kWord, 1), 1));
    const uint32_t high = builder_.add(Op::kShl, ninth, builder_.constant(kBitsOfWord - field.bit_offset));
    from = builder_.add(Op::kOr, builder_.add(Op::kShr, from, builder_.constant(field.bit_offset)), high);
    above = kBitsOfWord - field.bit_size;
  }
  const uint32_t left = builder_.add(Op::kShl, from, builder_.constant(above));
  const uint32_t down = builder_.constant(kBitsOfWord - std::min<uint64_t>(kBitsOfWord, field.bit_size));
  return builder_.add(Op::kShr, left, down, resolve(*field.type).is_signed);
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
