// SPDX-License-Identifier: MIT
// rustc calls it Abi::ScalarPair. An enum without a tag of its own keeps it in a value that one of its
// variants cannot have (a niche): it is passed as that variant.
#include "script/convention/rust_abi.h"

#include <algorithm>

#include "script/values/variants.h"

namespace blip::script {

namespace {

constexpr int kDeepest = 16;
constexpr size_t kMostScalars = 2;

constexpr uint64_t kWord = 8, kTwoWords = 16;

// i64 and u64 are not the same, nor is a pointer a number: an enum that has either is no scalar.
struct Scalar {
  RustPassing::Scalar place;
  bool is_signed = false;
  bool is_pointer = false;
  bool operator==(const Scalar&) const = default;
};
using Scalars = std::vector<Scalar>;

// False: it is more than two scalars, or has parts that are none.
bool collect(const Type& named, uint64_t offset, int depth, Scalars& all);

bool collect_members(const Type& type, uint64_t offset, int depth, Scalars& all) {
  return std::all_of(type.members.begin(), type.members.end(), [&](const Member& m) {
    return m.type && collect(*m.type, offset + m.offset, depth + 1, all);
  });
}

bool collect_enum(const Type& type, const Member& tag, uint64_t offset, int depth, Scalars& all) {
  const Scalar tag_scalar{{offset + tag.offset, resolve(*tag.type).size}, resolve(*tag.type).is_signed};
  Scalars common;
  size_t with_data = 0;
  for (const Member& variant : type.members) {
    if (&variant == &tag) continue;
    Scalars own;
    if (!variant.type || !collect(*variant.type, offset + variant.offset, depth + 1, own)) return false;
    if (own.empty()) continue;
    if (with_data++ != 0 && own != common) return false;
    common = own;
  }
  const bool in_niche = std::any_of(common.begin(), common.end(), [&](const Scalar& s) {
    return s.place.offset == tag_scalar.place.offset;
  });
  if (in_niche ? with_data > 1 : common.size() > 1) return false;
  if (!in_niche) all.push_back(tag_scalar);
  all.insert(all.end(), common.begin(), common.end());
  return all.size() <= kMostScalars;
}

bool collect(const Type& named, uint64_t offset, int depth, Scalars& all) {
  const Type& type = resolve(named);
  if (depth > kDeepest) return false;
  switch (type.kind) {
    case TypeKind::kStruct:
      if (const Member* tag = tag_of(type)) return collect_enum(type, *tag, offset, depth, all);
      return collect_members(type, offset, depth, all);
    case TypeKind::kInt:
    case TypeKind::kBool:
    case TypeKind::kChar:
    case TypeKind::kFloat:
    case TypeKind::kEnum:
      all.push_back({{offset, type.size, type.kind == TypeKind::kFloat}, type.is_signed});
      break;
    case TypeKind::kPointer:
    case TypeKind::kReference:
      all.push_back({{offset, kWord}, false, true});
      break;
    default:
      return type.kind == TypeKind::kVoid;
  }
  return all.size() <= kMostScalars;
}

bool has_enum(const Type& named, int depth = 0) {
  const Type& type = resolve(named);
  if (tag_of(type)) return true;
  return depth < kDeepest && type.kind == TypeKind::kStruct &&
         std::any_of(type.members.begin(), type.members.end(),
                     [&](const Member& m) { return m.type && has_enum(*m.type, depth + 1); });
}

std::vector<RustPassing::Scalar> places_of(const Type& type) {
  Scalars all;
  std::vector<RustPassing::Scalar> places;
  if (!collect(type, 0, 0, all)) return places;
  for (const Scalar& scalar : all) places.push_back(scalar.place);
  std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  return places;
}

}  // namespace

RustPassing rust_argument(const Type& named) {
  using Kind = RustPassing::Kind;
  const Type& type = resolve(named);
  if (type.kind != TypeKind::kStruct) return {};
  if (type.size == 0) return {Kind::kNothing};
  std::vector<RustPassing::Scalar> scalars = places_of(type);
  const bool is_scalars = !scalars.empty() && scalars[0].offset == 0 &&
                          std::all_of(scalars.begin(), scalars.end(),
                                      [](const auto& s) { return s.size != 0 && s.size <= kWord; });
  const bool is_one = is_scalars && scalars.size() == 1 && scalars[0].size == type.size;
  const bool are_words = is_scalars && scalars.size() == 2 && type.size == kTwoWords &&
                         scalars[1].offset == kWord && !scalars[0].is_float && !scalars[1].is_float;
  if (is_one || are_words || (is_scalars && has_enum(type))) return {Kind::kScalars, std::move(scalars)};
  if (!has_enum(type) || !scalars.empty()) return {};
  return {type.size <= kWord ? Kind::kWord : Kind::kPointer};
}

RustPassing rust_result(const Type& named) {
  const RustPassing passing = rust_argument(named);
  const bool is_large = resolve(named).kind == TypeKind::kStruct && resolve(named).size > kTwoWords;
  if (passing.kind == RustPassing::Kind::kNotKnown && is_large) return {RustPassing::Kind::kPointer};
  return passing;
}

}  // namespace blip::script
