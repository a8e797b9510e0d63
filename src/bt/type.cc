// SPDX-License-Identifier: MIT
#include "bt/type.h"

#include <fmt/core.h>

#include <algorithm>

namespace blip::bt {

namespace {

using Kind = Type::Kind;
using state::ValueType;

constexpr const char* kNames[] = {
    "none",    "unknown", "int",   "bool",   "string", "buffer",   "pointer",   "struct",  "tuple",
    "record",  "array",   "enum",  "ustack", "usym",   "username", "timestamp", "inet",    "mac_address",
    "count_t", "sum_t",   "min_t", "max_t",  "avg_t",  "stats_t",  "hist_t",    "lhist_t", "tseries_t"};

void add_leaves(const Type& type, std::vector<ValueType>& leaves) {
  switch (type.kind) {
    case Kind::kText:
    case Kind::kBuffer:
    case Kind::kInet:
    case Kind::kMac:
      leaves.push_back(ValueType::kText);
      return;
    case Kind::kTuple:
    case Kind::kRecord:
    case Kind::kArray:
      for (const Field& f : type.fields) add_leaves(f.type, leaves);
      return;
    case Kind::kUstack:
    case Kind::kUsym:
      leaves.insert(leaves.end(), 2, ValueType::kNumber);
      return;
    default:
      leaves.push_back(ValueType::kNumber);
  }
}

Type common_integer(const Type& a, const Type& b) {
  Type result = a.size >= b.size ? a : b;
  result.is_flexible = a.is_flexible && b.is_flexible;
  if (a.is_flexible != b.is_flexible)
    result.is_signed = a.is_flexible ? b.is_signed : a.is_signed;
  else
    result.is_signed = a.is_signed || b.is_signed;
  if (a.is_signed != b.is_signed && !a.is_flexible && !b.is_flexible) result.size = 8;
  return result;
}

Type common_fields(const Type& a, const Type& b) {
  if (a.fields.size() != b.fields.size()) return {};
  Type result = a;
  for (size_t i = 0; i < a.fields.size(); ++i) {
    const auto other = a.kind != Kind::kRecord
                           ? b.fields.begin() + static_cast<ptrdiff_t>(i)
                           : std::find_if(b.fields.begin(), b.fields.end(),
                                          [&](const Field& f) { return f.name == a.fields[i].name; });
    if (other == b.fields.end()) return {};
    result.fields[i].type = common_type(a.fields[i].type, other->type);
    if (result.fields[i].type.kind == Kind::kNothing) return {};
  }
  return result;
}

}  // namespace

bool Type::is_number() const {
  return kind == Kind::kInteger || kind == Kind::kBool || kind == Kind::kPointer || kind == Kind::kEnum ||
         kind == Kind::kUnknown || kind == Kind::kUser;
}

std::vector<ValueType> leaves_of(const Type& type) {
  std::vector<ValueType> leaves;
  add_leaves(type, leaves);
  return leaves;
}

size_t count_leaves(const Type& type) { return leaves_of(type).size(); }

std::string to_string(const Type& type) {
  if (type.kind == Kind::kInteger) return fmt::format("{}int{}", type.is_signed ? "" : "u", type.size * 8);
  if ((type.kind == Kind::kPointer || type.kind == Kind::kTarget || type.kind == Kind::kEnum) && type.target)
    return script::to_string(*type.target) + (type.kind == Kind::kPointer ? " *" : "");
  if (!type.is_several()) return kNames[static_cast<size_t>(type.kind)];
  std::string result;
  for (const Field& f : type.fields) {
    result += result.empty() ? "" : ",";
    if (type.kind == Kind::kRecord) result += '.' + f.name + '=';
    result += to_string(f.type);
  }
  return '(' + result + ')';
}

Type integer(uint8_t size, bool is_signed) {
  return {.kind = Kind::kInteger, .is_signed = is_signed, .size = size};
}

Type text_type(uint32_t most) { return {.kind = Kind::kText, .most = most}; }
Type of_kind(Type::Kind kind) { return {.kind = kind}; }

Type common_type(const Type& a, const Type& b) {
  if (a.is_unknown()) return b;
  if (b.is_unknown()) return a;
  if (a.kind == Kind::kInteger && b.kind == Kind::kInteger) return common_integer(a, b);
  const bool is_enum = (a.kind == Kind::kEnum || b.kind == Kind::kEnum) && a.is_number() && b.is_number();
  if (is_enum && a.kind != b.kind) return a.kind == Kind::kEnum ? integer() : integer();
  if (a.kind != b.kind) return {};
  if (a.is_several()) return common_fields(a, b);
  Type result = a;
  if (a.kind == Kind::kText || a.kind == Kind::kBuffer) result.most = a.most == b.most ? a.most : 0;
  if (a.is_aggregate()) result.is_signed = a.is_signed || b.is_signed;
  if (a.kind == Kind::kPointer && a.target != b.target && b.target)
    result.target = a.target ? a.target : b.target;
  return result;
}

Type from_target(const script::Type& type) {
  const script::Type& t = script::resolve(type);
  switch (t.kind) {
    case script::TypeKind::kVoid:
      return of_kind(Kind::kNothing);
    case script::TypeKind::kInt:
    case script::TypeKind::kChar:
      return integer(static_cast<uint8_t>(t.size), t.is_signed || t.kind == script::TypeKind::kChar);
    case script::TypeKind::kBool:
      return of_kind(Kind::kBool);
    case script::TypeKind::kEnum: {
      Type result = of_kind(Kind::kEnum);
      result.target = &t;
      result.is_signed = false;
      return result;
    }
    case script::TypeKind::kPointer:
    case script::TypeKind::kReference: {
      Type result = of_kind(Kind::kPointer);
      result.target = t.target;
      return result;
    }
    default: {
      Type result = of_kind(Kind::kTarget);
      result.target = &type;
      return result;
    }
  }
}

}  // namespace blip::bt
