// SPDX-License-Identifier: MIT
#include "bt/c_types.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "script/types/alignment.h"
#include "script/types/builtin_types.h"

namespace blip::bt {

namespace {

using script::TypeKind;

constexpr unsigned kDeepest = 16;
constexpr uint64_t kLargest = 1 << 20;

struct PlainName {
  std::string_view name;
  uint64_t size;
  bool is_signed;
};
constexpr std::array<PlainName, 8> kPlain{{{"uint8", 1, false},
                                           {"int8", 1, true},
                                           {"uint16", 2, false},
                                           {"int16", 2, true},
                                           {"uint32", 4, false},
                                           {"int32", 4, true},
                                           {"uint64", 8, false},
                                           {"int64", 8, true}}};

// Of C's own headers and the kernel's, which mean the same everywhere.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kAliases{{{"u8", "uint8"},
                                                                                  {"s8", "int8"},
                                                                                  {"u16", "uint16"},
                                                                                  {"s16", "int16"},
                                                                                  {"u32", "uint32"},
                                                                                  {"s32", "int32"},
                                                                                  {"u64", "uint64"},
                                                                                  {"s64", "int64"},
                                                                                  {"__u8", "uint8"},
                                                                                  {"__u16", "uint16"},
                                                                                  {"__u32", "uint32"},
                                                                                  {"__u64", "uint64"}}};

constexpr std::array<std::string_view, 9> kWords = {"unsigned", "signed", "long",   "short", "int",
                                                    "char",     "float",  "double", "void"};

bool is_word_of_c(std::string_view word) {
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

uint64_t alignment(const script::Type& type, bool is_packed) {
  return is_packed ? 1 : std::max<uint64_t>(1, script::alignment_of(type));
}

}  // namespace

const script::Type* plain_type(std::string_view name) {
  for (const auto& [alias, of] : kAliases)
    if (alias == name) name = of;
  for (const PlainName& plain : kPlain)
    if (plain.name == name) return &script::int_type(plain.size, plain.is_signed);
  return name == "bool" ? script::builtin_type("bool") : nullptr;
}

const script::Type* CTypes::find(std::string_view name) const {
  const auto found = names_.find(name);
  if (found != names_.end()) return found->second;
  if (const script::Type* plain = plain_type(name)) return plain;
  return script::builtin_type(name);
}

std::optional<CTypes::Label> CTypes::find_label(std::string_view name) const {
  for (const script::Type& type : types_)
    for (const script::Enumerator& e : type.enumerators)
      if (e.name == name) return Label{&type, e.value};
  return std::nullopt;
}

const script::Type& CTypes::pointer_to(const script::Type& type) {
  return make({.kind = TypeKind::kPointer, .size = 8, .target = &type});
}

const script::Type& CTypes::array_of(const script::Type& type, uint64_t count) {
  return make(
      {.kind = TypeKind::kArray, .size = resolve(type).size * count, .target = &type, .count = count});
}

Status CTypes::add(std::string_view source, Range range) {
  Scanner scan(source.substr(0, range.end));
  scan.go_to(range.begin);
  is_packed_ = source.substr(range.begin, range.end - range.begin).find("packed") != std::string_view::npos;
  TRY([[maybe_unused]] script::Type * type, definition(scan));
  return {};
}

void CTypes::skip_attribute(Scanner& scan, bool&) {
  while (scan.accept_word("__attribute__")) {
    unsigned depth = 0;
    do {
      scan.skip_layout();
      depth += scan.peek() == '(' ? 1 : 0;
      depth -= scan.peek() == ')' && depth > 0 ? 1 : 0;
      scan.advance();
    } while (depth > 0 && !scan.at_end());
  }
}

// struct NAME { ... }
Result<script::Type*> CTypes::definition(Scanner& scan) {
  const auto word = scan.accept_name();
  skip_attribute(scan, is_packed_);
  const auto name = scan.accept_name();
  const std::string full = *word + " " + name.value_or("");
  script::Type* type = nullptr;
  const auto known = name ? names_.find(full) : names_.end();
  if (known != names_.end()) {
    type = known->second;
  } else {
    type = &make({.kind = *word == "enum"    ? TypeKind::kEnum
                          : *word == "union" ? TypeKind::kUnion
                                             : TypeKind::kStruct,
                  .name = name.value_or("")});
    if (name) names_[full] = names_[*name] = type;
  }
  if (!scan.accept("{")) return type;
  if (type->size != 0 || !type->members.empty() || !type->enumerators.empty())
    return scan.error(fmt::format("'{}' is defined twice", full));
  if (++depth_ > kDeepest) return scan.error("definitions are nested too deep");
  if (*word == "enum") {
    TRY_OK(enumerators(scan, *type));
  } else {
    TRY_OK(members(scan, *type));
  }
  --depth_;
  return type;
}

Status CTypes::enumerators(Scanner& scan, script::Type& type) {
  type.size = 4;
  int64_t next = 0;
  while (!scan.accept("}")) {
    auto name = scan.accept_name();
    if (!name) return scan.error("a name is missing here");
    if (scan.accept("=")) {
      const bool is_negative = scan.accept("-");
      if (const auto label = find_label(scan.peek_word())) {
        scan.accept_name();
        next = label->value;
      } else {
        TRY(const uint64_t value, number(scan));
        next = static_cast<int64_t>(is_negative ? 0 - value : value);
      }
      // Sums of labels and shifts.
      while (scan.accept("<<")) {
        TRY(const uint64_t by, number(scan));
        next = by < 64 ? static_cast<int64_t>(static_cast<uint64_t>(next) << by) : 0;
      }
    }
    if (next < 0) type.is_signed = true;
    if (next > UINT32_MAX || next < INT32_MIN) type.size = 8;
    type.enumerators.push_back({*std::move(name), next++});
    if (!scan.accept(",")) {
      if (!scan.accept("}")) return scan.error("a '}' is missing here");
      break;
    }
  }
  return {};
}

Result<uint64_t> CTypes::number(Scanner& scan) {
  scan.skip_layout();
  if (scan.peek() < '0' || scan.peek() > '9') return scan.error("a number is missing here");
  return scan.number();
}

Result<const script::Type*> CTypes::base_type(Scanner& scan) {
  while (scan.accept_word("const") || scan.accept_word("volatile")) {
  }
  const std::string_view word = scan.peek_word();
  if (word == "struct" || word == "union" || word == "enum") {
    TRY(script::Type * type, definition(scan));
    return static_cast<const script::Type*>(type);
  }
  const size_t begin = scan.at();
  std::string words;
  while (is_word_of_c(scan.peek_word())) words += (words.empty() ? "" : " ") + *scan.accept_name();
  if (words.empty()) {
    const auto name = scan.accept_name();
    if (!name) return scan.error("a type is missing here");
    if (const script::Type* found = find(*name)) return found;
    return scan.error(begin, fmt::format("there is no type '{}'", *name));
  }
  const auto has = [&](std::string_view w) { return words.find(w) != std::string::npos; };
  const bool is_unsigned = has("unsigned");
  if (words == "char") return script::builtin_type("char");
  if (has("char")) return &script::int_type(1, !is_unsigned);
  if (has("short")) return &script::int_type(2, !is_unsigned);
  if (has("double") || has("float")) return script::builtin_type(has("double") ? "double" : "float");
  if (has("void")) return script::builtin_type("void");
  return &script::int_type(has("long") ? 8 : 4, !is_unsigned);
}

// Stars, name, arrays, bits: one member of `of`.
Status CTypes::declarator(Scanner& scan, const script::Type& base, script::Type& of) {
  const script::Type* type = &base;
  bool is_function = false;
  if (scan.accept("(")) {  // void (*name)(int)
    is_function = true;
    type = script::builtin_type("void");
  }
  while (scan.accept("*")) {
    type = &pointer_to(*type);
    while (scan.accept_word("const") || scan.accept_word("restrict")) {
    }
  }
  auto name = scan.accept_name();
  if (is_function) {
    if (!scan.accept(")") || !scan.accept("(")) return scan.error("a ')' is missing here");
    while (!scan.at_end() && scan.peek() != ')') scan.advance();
    scan.accept(")");
  }
  std::vector<uint64_t> counts;
  while (scan.accept("[")) {
    uint64_t count = 0;
    if (!scan.accept("]")) {
      TRY(count, number(scan));
      if (!scan.accept("]")) return scan.error("a ']' is missing here");
    }
    if (count > kLargest) return scan.error("the array is too large");
    counts.push_back(count);
  }
  for (size_t i = counts.size(); i-- > 0;) type = &array_of(*type, counts[i]);
  script::Member member{.name = name.value_or(""), .type = type};
  uint64_t bits = 0;
  if (scan.accept(":")) {
    TRY(bits, number(scan));
  }
  skip_attribute(scan, is_packed_);
  const uint64_t size = resolve(*type).size, align = alignment(*type, is_packed_);
  if (size > kLargest || of.size > kLargest) return scan.error("the structure is too large");
  if (of.kind == TypeKind::kUnion) {
    member.bit_size = static_cast<uint8_t>(bits);
    of.size = std::max(of.size, size);
  } else if (bits > 0) {
    if (bits > size * 8) return scan.error("it has fewer bits");
    // Bits go on in the unit of the one before, if there is room.
    uint64_t first = of.size * 8;
    if (!of.members.empty() && of.members.back().bit_size > 0) {
      const script::Member& last = of.members.back();
      first = last.offset * 8 + last.bit_offset + last.bit_size;
    }
    if (first / (size * 8) != (first + bits - 1) / (size * 8)) first = (first / (size * 8) + 1) * size * 8;
    member.offset = first / (size * 8) * size;
    member.bit_offset = static_cast<uint8_t>(first - member.offset * 8);
    member.bit_size = static_cast<uint8_t>(bits);
    of.size = std::max(of.size, (first + bits + 7) / 8);
  } else {
    member.offset = (of.size + align - 1) / align * align;
    of.size = member.offset + size;
  }
  of.alignment = std::max(of.alignment, align);
  of.members.push_back(std::move(member));
  return {};
}

Status CTypes::members(Scanner& scan, script::Type& type) {
  while (!scan.accept("}")) {
    if (scan.at_end()) return scan.error("a '}' is missing here");
    TRY(const script::Type* base, base_type(scan));
    if (scan.skip_layout(); scan.peek() == ';' || scan.peek() == '}') {
      const uint64_t align = alignment(*base, is_packed_);
      const uint64_t offset = type.kind == TypeKind::kUnion ? 0 : (type.size + align - 1) / align * align;
      type.members.push_back({.name = "", .type = base, .offset = offset});
      type.size = std::max(type.size, offset + base->size);
      type.alignment = std::max(type.alignment, align);
    } else {
      do TRY_OK(declarator(scan, *base, type));
      while (scan.accept(","));
    }
    if (!scan.accept(";")) {
      if (!scan.accept("}")) return scan.error("a ';' is missing here");
      break;
    }
  }
  const uint64_t align = std::max<uint64_t>(1, type.alignment);
  type.size = (type.size + align - 1) / align * align;
  return {};
}

}  // namespace blip::bt
