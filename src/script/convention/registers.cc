// SPDX-License-Identifier: MIT
#include "script/convention/registers.h"

#include <charconv>
#include <iterator>

namespace blip::script {

namespace {

constexpr uint64_t kNamed = 8;  // the rest have numbers
constexpr std::string_view kHalf[] = {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi"};
constexpr std::string_view kWord[] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
constexpr std::string_view kByte[] = {"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil"};
constexpr std::string_view kHigh[] = {"ah", "ch", "dh", "bh"};

std::optional<uint64_t> number(std::string_view digits) {
  uint64_t n = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  const bool is_all = failed == std::errc() && end == digits.data() + digits.size();
  return is_all && n < kGeneralRegisters.size() ? std::optional(n) : std::nullopt;
}

// r8 to r15, with d, w or b behind.
std::optional<RegisterPart> numbered(std::string_view name) {
  if (!name.starts_with('r')) return std::nullopt;
  name.remove_prefix(1);
  uint64_t size = 8;
  if (name.ends_with('d')) size = 4;
  if (name.ends_with('w')) size = 2;
  if (name.ends_with('b')) size = 1;
  if (size < 8) name.remove_suffix(1);
  const auto n = number(name);
  if (!n || *n < kNamed) return std::nullopt;
  return RegisterPart{.number = *n, .size = size};
}

}  // namespace

std::optional<RegisterPart> general_register(std::string_view name) {
  for (uint64_t i = 0; i < kNamed; ++i) {
    if (name == kGeneralRegisters[i]) return RegisterPart{.number = i};
    if (name == kHalf[i]) return RegisterPart{.number = i, .size = 4};
    if (name == kWord[i]) return RegisterPart{.number = i, .size = 2};
    if (name == kByte[i]) return RegisterPart{.number = i, .size = 1};
    if (i < std::size(kHigh) && name == kHigh[i]) return RegisterPart{.number = i, .size = 1, .shift = 8};
  }
  return numbered(name);
}

std::optional<uint64_t> vector_register(std::string_view name) {
  if (!name.starts_with("xmm")) return std::nullopt;
  return number(name.substr(3));
}

}  // namespace blip::script
