// SPDX-License-Identifier: MIT
#include "cli/options/memory_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cli/options/usage_error.h"
#include "cli/options/values.h"

namespace blip::cli {
namespace {

using session::MemoryContext;
using Kind = MemoryContext::Kind;

constexpr uint32_t kMostBytes = 1024;

struct MemoryType {
  std::string_view name;
  Kind kind;
  uint32_t size;
  bool is_signed;
};
constexpr MemoryType kTypes[] = {
    {"int8", Kind::kInt, 1, true},         {"int16", Kind::kInt, 2, true},
    {"int32", Kind::kInt, 4, true},        {"int64", Kind::kInt, 8, true},
    {"uint8", Kind::kInt, 1, false},       {"uint16", Kind::kInt, 2, false},
    {"uint32", Kind::kInt, 4, false},      {"uint64", Kind::kInt, 8, false},
    {"int", Kind::kInt, 4, true},          {"long", Kind::kInt, 8, true},
    {"float", Kind::kFloat, 4, true},      {"double", Kind::kFloat, 8, true},
    {"pointer", Kind::kPointer, 8, false}, {"string", Kind::kString, 0, false},
};
constexpr std::string_view kBytesName = "bytes[N]";

Result<MemoryContext> parse_type(std::string_view name) {
  for (const MemoryType& type : kTypes)
    if (type.name == name)
      return MemoryContext{.kind = type.kind, .size = type.size, .is_signed = type.is_signed};
  constexpr std::string_view kOpen = "bytes[";
  if (name.starts_with(kOpen) && name.ends_with(']')) {
    const auto size = parse_number(name.substr(kOpen.size(), name.size() - kOpen.size() - 1), 1, kMostBytes);
    if (!size) return size.error().with_context(std::string(name));
    return MemoryContext{.kind = Kind::kBytes, .size = static_cast<uint32_t>(*size)};
  }
  return usage(fmt::format("unknown type '{}': use one of {}", name, fmt::join(memory_types(), " ")));
}

bool is_name(std::string_view text) {
  const auto is_word = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), is_word);
}

}  // namespace

Result<MemoryContext> parse_memory_context(std::string_view text) {
  const size_t first = text.find(':');
  const size_t second = text.find(':', first + 1);
  const std::string_view type = text.substr(0, first);
  TRY(MemoryContext memory, parse_type(type));
  if (second == std::string_view::npos)
    return usage(fmt::format("'{}': it is written TYPE:NAME:ADDR, as in {}:counter:0x404040", text, type));
  memory.name = text.substr(first + 1, second - first - 1);
  memory.address = text.substr(second + 1);
  if (!is_name(memory.name))
    return usage(fmt::format("'{}': the field's name is letters, digits and _, not '{}'", text, memory.name));
  if (memory.address.empty())
    return usage(fmt::format("'{}': the address is missing: a number, or SYMBOL+OFFSET", text));
  return memory;
}

std::vector<std::string_view> memory_types() {
  std::vector<std::string_view> names;
  for (const MemoryType& type : kTypes) names.push_back(type.name);
  names.push_back(kBytesName);
  return names;
}

}  // namespace blip::cli
