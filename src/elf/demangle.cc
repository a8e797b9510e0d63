// SPDX-License-Identifier: MIT
#include "elf/demangle.h"

#include <cxxabi.h>

#include <array>
#include <cstdlib>
#include <memory>

namespace blip::elf {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kHashSize = 19;  // "17h" and 16 hex digits

// Longer names are left alone: the demangler needs memory and time far beyond their length.
constexpr size_t kLongestName = 4096;

// ThinLTO's mark for a promoted local: it is the function itself, not a variant.
std::string_view without_llvm_suffix(std::string_view name) {
  size_t at = name.rfind(".llvm.");
  bool number = at != kNone && name.find_first_not_of("0123456789", at + 6) == kNone;
  return number ? name.substr(0, at) : name;
}

bool is_rust_legacy(std::string_view mangled) {
  if (!mangled.starts_with("_ZN") || mangled.size() < kHashSize + 4 || mangled.back() != 'E') return false;
  std::string_view hash = mangled.substr(mangled.size() - 1 - kHashSize, kHashSize);
  return hash.starts_with("17h") && hash.find_first_not_of("0123456789abcdef", 3) == kNone;
}

struct Escape {
  std::string_view code;
  std::string_view text;
};
constexpr std::array kRustEscapes = std::to_array<Escape>({
    {"$SP$", "@"},  {"$BP$", "*"},  {"$RF$", "&"},  {"$LT$", "<"},  {"$GT$", ">"},
    {"$LP$", "("},  {"$RP$", ")"},  {"$C$", ","},   {"$u20$", " "}, {"$u22$", "\""},
    {"$u27$", "'"}, {"$u2b$", "+"}, {"$u3b$", ";"}, {"$u5b$", "["}, {"$u5d$", "]"},
    {"$u7b$", "{"}, {"$u7d$", "}"}, {"$u7e$", "~"}, {"..", "::"},
});

// Identifiers that begin with an escape have a '_' put before it.
std::string decode_rust_escapes(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    bool at_start = result.empty() || result.ends_with("::");
    if (at_start && text.starts_with("_$")) text.remove_prefix(1);
    bool decoded = false;
    for (const Escape& escape : kRustEscapes) {
      if (!text.starts_with(escape.code)) continue;
      result += escape.text;
      text.remove_prefix(escape.code.size());
      decoded = true;
      break;
    }
    if (decoded) continue;
    result += text[0];
    text.remove_prefix(1);
  }
  return result;
}

std::string demangle_rust(std::string demangled) {
  demangled.resize(demangled.size() - (kHashSize - 2) - 2);  // "::h" and 16 digits
  return decode_rust_escapes(demangled);
}

}  // namespace

bool is_mangled(std::string_view name) { return name.starts_with("_Z") || name.starts_with("__Z"); }

std::string demangle(std::string_view mangled) {
  if (!is_mangled(mangled) || mangled.size() > kLongestName) return std::string(mangled);
  std::string name(without_llvm_suffix(mangled));
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || !text) return std::string(mangled);
  return is_rust_legacy(name) ? demangle_rust(text.get()) : std::string(text.get());
}

}  // namespace blip::elf
