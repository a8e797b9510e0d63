// SPDX-License-Identifier: MIT
#include "elf/demangle.h"

#define HAVE_DECL_BASENAME 1  // libiberty.h would declare it, and not as <string.h> does
#include <cxxabi.h>
#include <libiberty/demangle.h>

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

using Text = std::unique_ptr<char, decltype(&std::free)>;

Text demangle_rust(const char* mangled, bool with_hash) {
  return {rust_demangle(mangled, with_hash ? DMGL_VERBOSE : 0), &std::free};
}

Text demangle_cxx(const char* mangled) {
  int status = 0;
  return {abi::__cxa_demangle(mangled, nullptr, nullptr, &status), &std::free};
}

}  // namespace

bool is_rust_v0(std::string_view name) {
  return name.size() > 2 && name.starts_with("_R") &&
         ((name[2] >= 'A' && name[2] <= 'Z') || (name[2] >= '0' && name[2] <= '9'));
}

bool is_mangled(std::string_view name) {
  return name.starts_with("_Z") || name.starts_with("__Z") || is_rust_v0(name);
}

std::string demangle(std::string_view mangled) {
  if (!is_mangled(mangled) || mangled.size() > kLongestName) return std::string(mangled);
  std::string name(without_llvm_suffix(mangled));
  Text text(nullptr, &std::free);
  if (is_rust_v0(name) || is_rust_legacy(name)) text = demangle_rust(name.c_str(), false);
  if (!text && !is_rust_v0(name)) text = demangle_cxx(name.c_str());
  return text ? std::string(text.get()) : std::string(mangled);
}

std::optional<std::string> demangle_with_hash(std::string_view mangled) {
  std::string name(without_llvm_suffix(mangled));
  if (name.size() > kLongestName || !is_rust_legacy(name)) return std::nullopt;
  Text text = demangle_rust(name.c_str(), true);
  return text ? std::optional<std::string>(text.get()) : std::nullopt;
}

namespace {

// Behind the bracket that closes the one at `open`; the "->" of a function type closes nothing.
size_t bracket_end(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>' && text[i - 1] != '-' && --depth == 0) return i + 1;
  }
  return text.size();
}

}  // namespace

std::string without_rust_generics(std::string_view demangled) {
  std::string_view rest = demangled;
  std::string result;
  if (rest.starts_with('<')) {
    std::string_view self = rest.substr(0, bracket_end(rest, 0));
    rest.remove_prefix(self.size());
    bool is_inherent = self.find(" as ") == kNone && self.ends_with('>');
    result = is_inherent ? without_rust_generics(self.substr(1, self.size() - 2)) : std::string(self);
  }
  for (size_t at; (at = rest.find("::<")) != kNone;) {
    result += rest.substr(0, at);
    rest.remove_prefix(bracket_end(rest, at + 2));
  }
  return result += rest;
}

}  // namespace blip::elf
