// SPDX-License-Identifier: MIT
// At the first instruction:
//
//     rsp      the return address
//     rsp+8    arguments that are in memory, in their order, each at a multiple of 8 (or of its alignment)
//     rdi rsi rdx rcx r8 r9    eightbytes of class INTEGER; rdi first of all for a result in memory
//     xmm0..7                  eightbytes of class SSE
//
// A value of two eightbytes is in registers as a whole or not at all.
#include "script/convention/sysv_abi.h"

#include <algorithm>
#include <array>

#include "machine/registers.h"
#include "script/convention/eightbytes.h"
#include "script/convention/rust_abi.h"

namespace blip::script {

namespace {

using Class = EightbyteClass;

const machine::CallingConvention& kConvention = machine::kX86_64.convention;
const uint64_t kRsp = machine::kX86_64.registers.stack_pointer;

Place value_of(Node node) {
  Place place{.kind = Place::Kind::kValue};
  place.code.add(node);
  return place;
}

Place general_register(uint64_t number) { return value_of({.op = Op::kRegister, .value = number}); }

Place vector_register(uint64_t number, uint64_t size, bool high = false) {
  return value_of({.op = high ? Op::kVectorHigh : Op::kVector,
                   .width = static_cast<uint8_t>(size == 4 ? 4 : 8),
                   .value = number});
}

// The place of the object that the pointer at `pointer` points to.
Place pointed_to(Place pointer) {
  if (pointer.kind == Place::Kind::kAddress) {
    const auto address = static_cast<uint32_t>(pointer.code.nodes.size() - 1);
    pointer.code.add({.op = Op::kLoad, .a = address});
  }
  pointer.kind = Place::Kind::kAddress;
  return pointer;
}

bool is_aggregate(const Type& type) {
  return type.kind == TypeKind::kStruct || type.kind == TypeKind::kUnion || type.kind == TypeKind::kArray;
}

// Rust's numbers of 16 bytes are nobody else's.
bool is_common(const Type& type) { return is_aggregate(type) || type.size <= sizeof(uint64_t); }

// The parts of a value, each where `take` puts it.
template <typename Take>
Place of_scalars(const std::vector<RustPassing::Scalar>& scalars, uint64_t size, Take take) {
  if (scalars.size() == 1) return take(scalars[0]);
  Place both{.kind = Place::Kind::kPieces};
  both.pieces.push_back({take(scalars[0]), static_cast<uint32_t>(scalars[1].offset)});
  both.pieces.push_back({take(scalars[1]), static_cast<uint32_t>(size - scalars[1].offset)});
  return both;
}

class Allocator {
 public:
  explicit Allocator(const AbiSignature& signature)
      : is_rust_(signature.is_rust),
        splits_wide_integers_(signature.splits_wide_integers),
        vector_size_(signature.vector_size) {}

  void hide_result(const AbiValue& result) {
    if (!result.type || resolve(*result.type).kind == TypeKind::kVoid) return;
    if (is_rust_ && is_aggregate(resolve(*result.type))) return hide_rust_result(*result.type);
    const Eightbytes bytes = classify(*result.type);
    if (!can_tell(result, bytes)) return;
    if (bytes.is_wide_vector && resolve(*result.type).size > vector_size_) lost_ = true;
    if (result.passing == AbiValue::Passing::kByReference || bytes.in_memory) ++integers_;
  }

  Place next(const AbiValue& argument) {
    if (lost_ || !argument.type) return lose();
    const Type& type = resolve(*argument.type);
    if (argument.passing == AbiValue::Passing::kByReference && is_aggregate(type))
      return pointed_to(pointer());
    if (is_rust_ && is_aggregate(type)) return of_rust(type);
    const Eightbytes bytes = classify(type);
    if (!can_tell(argument, bytes)) return {};
    if (bytes.is_wide_vector) return wide_vector(type);
    if (!bytes.in_memory && !bytes.is_x87) {
      if (bytes.classes[0] == Class::kNothing && bytes.classes[1] == Class::kNothing) return {};  // empty
      if (auto place = in_registers(bytes.classes, type.size)) return *std::move(place);
      const bool is_wide_integer = type.kind == TypeKind::kInt && type.size > sizeof(uint64_t);
      if (is_wide_integer && splits_wide_integers_) return lose();
    }
    return in_memory(type.size, std::max(argument.alignment, natural_alignment(type)));
  }

 private:
  void hide_rust_result(const Type& type) {
    const RustPassing passing = rust_result(type);
    if (passing.kind == RustPassing::Kind::kNotKnown) lost_ = true;
    if (passing.kind == RustPassing::Kind::kPointer) ++integers_;
  }

  Place of_rust(const Type& type) {
    using Kind = RustPassing::Kind;
    const RustPassing passing = rust_argument(type);
    switch (passing.kind) {
      case Kind::kScalars:
        return of_scalars(passing.scalars, type.size,
                          [&](const RustPassing::Scalar& s) { return one(s.is_float, s.size); });
      case Kind::kWord:
        return one(false, type.size);
      case Kind::kPointer:
        return pointed_to(pointer());
      case Kind::kNothing:
        return {};
      case Kind::kNotKnown:
        break;
    }
    return lose();
  }

  Place one(bool is_float, uint64_t size) {
    const Class kind = is_float ? Class::kSse : Class::kInteger;
    if (auto place = in_registers({kind, Class::kNothing}, size)) return *std::move(place);
    return in_memory(size, 8);
  }

  Place pointer() {
    if (auto place = in_registers({Class::kInteger, Class::kNothing}, 8)) return *std::move(place);
    return in_memory(8, 8);
  }

  Place lose() {
    lost_ = true;
    return {};
  }

  bool can_tell(const AbiValue& value, const Eightbytes& bytes) {
    const Type& type = resolve(*value.type);
    const bool doubtful = value.passing == AbiValue::Passing::kNotKnown && is_aggregate(type);
    if (!bytes.is_known || doubtful || (is_rust_ && !is_common(type))) lost_ = true;
    return !lost_;
  }

  std::optional<Place> in_registers(const std::array<Class, 2>& classes, uint64_t size) {
    const auto integers = std::count(classes.begin(), classes.end(), Class::kInteger);
    const auto vectors = std::count(classes.begin(), classes.end(), Class::kSse);
    if (integers_ + static_cast<size_t>(integers) > kConvention.arguments.size()) return std::nullopt;
    if (vectors_ + static_cast<size_t>(vectors) > kConvention.vector_arguments) return std::nullopt;
    if (vectors > 0 && only_integers_) return Place{};
    const Place low = take(classes[0], std::min<uint64_t>(size, 8));
    if (size <= 8) return low;
    Place both{.kind = Place::Kind::kPieces};
    both.pieces.push_back({low, 8});
    both.pieces.push_back({take(classes[1], size - 8), static_cast<uint32_t>(size - 8)});
    return both;
  }

  Place take(Class wanted, uint64_t size) {
    switch (wanted) {
      case Class::kInteger:
        return general_register(kConvention.arguments[integers_++]);
      case Class::kSse:
        return vector_register(vectors_++, size);
      case Class::kSseUp:
        return vector_register(vectors_ - 1, size, true);
      default:
        return {};
    }
  }

  // In a register or in memory: what comes behind it in either is not certain.
  Place wide_vector(const Type& type) {
    if (type.size <= vector_size_ && !only_integers_ && vectors_ < kConvention.vector_arguments)
      return vector_place(vectors_++, type.size);
    only_integers_ = true;
    return {};
  }

  Place in_memory(uint64_t size, uint64_t alignment) {
    if (only_integers_) return {};
    alignment = std::max<uint64_t>(alignment, 8);
    const uint64_t offset = (stack_ + alignment - 1) / alignment * alignment;
    if (alignment > 16) return lose();  // where the stack's own alignment does not tell
    stack_ = offset + (size + 7) / 8 * 8;
    return entry_stack_slot(static_cast<int64_t>(sizeof(uint64_t) + offset));
  }

  bool is_rust_, splits_wide_integers_;
  uint32_t vector_size_;
  bool only_integers_ = false;  // in registers, are certain
  bool lost_ = false;           // from here on nothing is certain
  size_t integers_ = 0;
  size_t vectors_ = 0;
  uint64_t stack_ = 0;
};

Place result_part(Class wanted, uint64_t size, size_t& integers, size_t& vectors) {
  switch (wanted) {
    case Class::kInteger:
      if (integers++ == 0) return value_of({.op = Op::kResult});
      return general_register(kConvention.results[1]);
    case Class::kSse:
      return vector_register(vectors++, size);
    case Class::kSseUp:
      return vector_register(vectors - 1, size, true);
    default:
      return {};
  }
}

}  // namespace

Place vector_place(uint64_t number, uint64_t size) {
  constexpr uint32_t kWord = sizeof(uint64_t);
  if (size <= kWord) return vector_register(number, size);
  Place all{.kind = Place::Kind::kPieces};
  const auto high = static_cast<uint32_t>(std::min<uint64_t>(size, 2 * kWord) - kWord);
  all.pieces.push_back({vector_register(number, kWord), kWord});
  all.pieces.push_back({vector_register(number, kWord, true), high});
  if (size > 2 * kWord)
    all.pieces.push_back({unknown_place(Unknown::kUpperHalf), static_cast<uint32_t>(size - 2 * kWord)});
  return all;
}

Place entry_stack_slot(int64_t distance) {
  Place place{.kind = Place::Kind::kAddress};
  const uint32_t rsp = place.code.add({.op = Op::kRegister, .value = kRsp});
  const uint32_t by = place.code.constant(static_cast<uint64_t>(distance));
  place.code.add({.op = Op::kAdd, .a = rsp, .b = by});
  return place;
}

std::vector<Place> argument_places(const AbiSignature& signature) {
  Allocator allocator(signature);
  allocator.hide_result(signature.result);
  std::vector<Place> places;
  places.reserve(signature.arguments.size());
  for (const AbiValue& argument : signature.arguments) places.push_back(allocator.next(argument));
  return places;
}

Place rust_result_place(const Type& named) {
  using Kind = RustPassing::Kind;
  const Type& type = resolve(named);
  if (!is_aggregate(type)) return type.size <= sizeof(uint64_t) ? result_place({.type = &type}) : Place{};
  const RustPassing passing = rust_result(type);
  Place place = value_of({.op = Op::kResult});
  size_t integers = 0, vectors = 0;
  switch (passing.kind) {
    case Kind::kScalars:
      return of_scalars(passing.scalars, type.size, [&](const RustPassing::Scalar& s) {
        return result_part(s.is_float ? Class::kSse : Class::kInteger, s.size, integers, vectors);
      });
    case Kind::kWord:
      return place;
    case Kind::kPointer:
      place.kind = Place::Kind::kAddress;
      return place;
    default:
      return {};
  }
}

Place result_place(const AbiValue& result, uint32_t vector_size) {
  if (!result.type || result.passing == AbiValue::Passing::kNotKnown) return {};
  const Type& type = resolve(*result.type);
  const Eightbytes bytes = classify(type);
  if (bytes.is_wide_vector) return type.size <= vector_size ? vector_place(0, type.size) : Place{};
  if (bytes.is_known && bytes.is_x87) return unknown_place(Unknown::kInX87);
  if (!bytes.is_known) return {};
  if (bytes.in_memory || result.passing == AbiValue::Passing::kByReference) {
    Place place = value_of({.op = Op::kResult});
    place.kind = Place::Kind::kAddress;
    return place;
  }
  size_t integers = 0, vectors = 0;
  Place low = result_part(bytes.classes[0], std::min<uint64_t>(type.size, 8), integers, vectors);
  if (type.size <= 8) return low;
  Place both{.kind = Place::Kind::kPieces};
  both.pieces.push_back({low, 8});
  both.pieces.push_back({result_part(bytes.classes[1], type.size - 8, integers, vectors),
                         static_cast<uint32_t>(type.size - 8)});
  return both;
}

}  // namespace blip::script
