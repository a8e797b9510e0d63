// SPDX-License-Identifier: MIT
// Each condition is made of the tag anew: machine code keeps no values between outputs.
#include "script/values/variants.h"

#include <algorithm>

#include "script/types/members.h"
#include "script/types/type_names.h"

namespace blip::script {

namespace {

constexpr size_t kMostVariants = 16;
constexpr size_t kMostChoices = 8;  // that one for all other cases is compared with

bool is_tag(const Member& member) {
  const TypeKind kind = resolve(*member.type).kind;
  const bool is_number = kind == TypeKind::kInt || kind == TypeKind::kBool || kind == TypeKind::kChar;
  return member.name.empty() && !member.is_base && is_number;
}

std::optional<Operand> data_operand(Access& access, const Operand& whole, const Member& variant) {
  uint64_t offset = 0;
  const Member* data = data_of(variant, offset);
  return data ? std::optional(access.part(whole, offset, *data->type)) : std::nullopt;
}

class VariantFinder {
 public:
  VariantFinder(Access& access, const Operand& whole)
      : access_(access), builder_(access.builder()), whole_(whole), type_(resolve(*whole.type)) {}

  std::optional<Variants> run() {
    const Member* tag = tag_of(type_);
    if (!tag || type_.members.size() > kMostVariants) return std::nullopt;
    const auto bits = access_.bits(access_.part(whole_, tag->offset, *tag->type));
    if (!bits) return std::nullopt;
    size_ = resolve(*tag->type).size;
    tag_ = builder_.extend(*bits, size_, false);
    found_ = {.all = {}, .which = tag_, .size = static_cast<uint32_t>(size_), .names = type_.enumerators};
    for (const Member& member : type_.members)
      if (!member.name.empty() && !add(member)) return std::nullopt;
    return std::move(found_);
  }

 private:
  uint32_t equals(const Enumerator& e) {
    const auto value = static_cast<uint64_t>(e.value);
    const uint64_t mask = size_ < sizeof value ? (uint64_t{1} << 8 * size_) - 1 : UINT64_MAX;
    return builder_.add(Op::kEqual, tag_, builder_.constant(value & mask));
  }

  bool add(const Member& member) {
    uint32_t is_there = kNone;
    for (const Enumerator& e : type_.enumerators)
      if (e.name == member.name)
        is_there = is_there == kNone ? equals(e) : builder_.add(Op::kOr, is_there, equals(e));
    if (is_there == kNone) {
      if (type_.enumerators.size() > kMostChoices) return false;
      is_there = otherwise(member.name);
    }
    found_.all.push_back({member.name, data_operand(access_, whole_, member), is_there});
    return true;
  }

  // The tag has no value for it: variants are counted instead.
  uint32_t otherwise(const std::string& name) {
    uint32_t others = builder_.constant(0);
    found_.which = builder_.constant(0);
    found_.size = 1;
    found_.names = {{name, 0}};
    for (const Enumerator& e : type_.enumerators) {
      const auto number = static_cast<int64_t>(found_.names.size());
      found_.names.push_back({e.name, number});
      others = builder_.add(Op::kOr, others, equals(e));
      found_.which = builder_.add({.op = Op::kSelect,
                                   .a = equals(e),
                                   .b = builder_.constant(static_cast<uint64_t>(number)),
                                   .c = found_.which});
    }
    return builder_.add(Op::kLogicalNot, others);
  }

  Access& access_;
  Builder& builder_;
  const Operand& whole_;
  const Type& type_;
  uint64_t size_ = 0;
  uint32_t tag_ = kNone;
  Variants found_;
};

// std::variant: all alternatives lie at one place, and an index tells which it is; what has none is there
// while it is changed.
std::optional<Variants> std_variant(Access& access, const Operand& whole) {
  const Type& type = resolve(*whole.type);
  if (bare_name(type.name) != "variant" || type.arguments.empty() || type.arguments.size() > kMostVariants)
    return std::nullopt;
  auto index = find_member_within(type, "_M_index"), data = find_member_within(type, "_M_u");
  if (!index || !data) {
    index = find_member_within(type, "__index");
    data = find_member_within(type, "__data");
  }
  if (!index || !data) return std::nullopt;
  const auto which = access.number(access.part(whole, index->offset, *index->member->type));
  const uint64_t size = resolve(*index->member->type).size;
  if (!which || size == 0 || size > sizeof(uint64_t)) return std::nullopt;
  Builder& b = access.builder();
  Variants found{
      .all = {}, .which = b.extend(*which, size, false), .size = static_cast<uint32_t>(size), .names = {}};
  for (const Type* alternative : type.arguments) {
    const uint64_t number = found.all.size();
    const std::string name = to_string(*alternative);
    found.names.push_back({name, static_cast<int64_t>(number)});
    Variants::One one{
        .name = name, .value = {}, .is_there = b.add(Op::kEqual, found.which, b.constant(number))};
    if (resolve(*alternative).size != 0) one.value = access.part(whole, data->offset, *alternative);
    found.all.push_back(std::move(one));
  }
  found.names.push_back({"valueless", size == sizeof(uint64_t) ? -1 : (int64_t{1} << 8 * size) - 1});
  return found;
}

}  // namespace

const Member* tag_of(const Type& named) {
  const Type& type = resolve(named);
  const auto tag = std::find_if(type.members.begin(), type.members.end(), is_tag);
  const bool has_one =
      type.kind == TypeKind::kStruct && !type.enumerators.empty() && tag != type.members.end();
  return has_one ? &*tag : nullptr;
}

const Member* data_of(const Member& variant, uint64_t& offset) {
  const Type& type = resolve(*variant.type);
  offset = variant.offset;
  if (type.kind != TypeKind::kStruct) return &variant;
  if (type.members.empty()) return nullptr;
  const Member& only = type.members.front();
  if (type.members.size() > 1 || only.bit_size != 0 || only.name != "__0") return &variant;
  offset += only.offset;
  return &only;
}

std::optional<Variants> find_variants(Access& access, const Operand& operand) {
  if (operand.kind != Operand::Kind::kMemory && operand.kind != Operand::Kind::kValue &&
      operand.kind != Operand::Kind::kPieces)
    return std::nullopt;
  if (auto found = std_variant(access, operand)) return found;
  return VariantFinder(access, operand).run();
}

}  // namespace blip::script
