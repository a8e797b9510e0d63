// SPDX-License-Identifier: MIT
#include "elf/spec.h"

#include <fmt/core.h>

#include <charconv>

#include "elf/match.h"

namespace blip::elf {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr size_t kNone = std::string_view::npos;

Error wrong(std::string_view text, const std::string& what) {
  return Error(ErrorKind::kUsage, fmt::format("'{}': {}", text, what));
}

// The offset of the single ':' that separates the module. Of three in a row it is the first one ("m:::f" is
// "::f" in m); inside brackets none separates ("f[abi:cxx11]").
size_t find_separator(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']' && depth > 0) --depth;
    if (text[i] != ':') continue;
    size_t run = text.find_first_not_of(':', i);
    run = (run == kNone ? text.size() : run) - i;
    if (run % 2 == 1 && depth == 0) return i;
    i += run - 1;
  }
  return kNone;
}

bool looks_like_number(std::string_view text) {
  if (text.empty() || kDigits.find(text[0]) == kNone) return false;
  if (text.starts_with("0x") || text.starts_with("0X"))
    return text.find_first_not_of("0123456789abcdefABCDEF", 2) == kNone;
  return text.find_first_not_of(kDigits) == kNone;
}

// For what looks_like_number(); the error is the part of a sentence after the number.
Result<uint64_t> parse_number(std::string_view spec, std::string_view text) {
  int base = 10;
  std::string_view digits = text;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    digits.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
  }
  uint64_t value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error == std::errc::result_out_of_range)
    return wrong(spec, fmt::format("the number {} is too large", text));
  if (error != std::errc() || end != digits.data() + digits.size())
    return wrong(spec, fmt::format("{} is not a number (octal 0NNN, decimal NNN or hex 0xNNN)", text));
  return value;
}

// "main+", "main+x" and "main+-4" are slips; "operator+", "f<(1)+(2)>" and "+[Class method]" are names.
bool has_misplaced_plus(std::string_view name) {
  size_t plus = name.find('+');
  if (plus == kNone || name.find_first_of("<([") != kNone) return false;
  return !name.substr(0, plus).ends_with("operator");
}

Result<Spec> finish_address(Spec spec, std::string_view base) {
  TRY(uint64_t address, parse_number(spec.text, base));
  if (spec.module)
    return wrong(
        spec.text,
        fmt::format("a run-time address takes no module; an address of the file's own is written {}+{}",
                    *spec.module, base));
  if (address > UINT64_MAX - spec.offset) return wrong(spec.text, "the address is too large");
  spec.kind = SpecKind::kAddress;
  spec.offset += address;
  spec.name.clear();
  return spec;
}

Result<Spec> finish_name(Spec spec, bool has_offset) {
  if (has_offset && is_glob(spec.name))
    return wrong(spec.text, "a pattern cannot have an offset; name one function");
  if (is_glob(spec.name)) {
    spec.kind = SpecKind::kGlob;
    return spec;
  }
  if (!has_offset && has_misplaced_plus(spec.name))
    return wrong(spec.text, "a number must follow '+' (octal 0NNN, decimal or hex 0xNNN)");
  spec.kind = has_offset ? SpecKind::kSymbolOffset : SpecKind::kName;
  return spec;
}

}  // namespace

Result<Spec> parse_spec(std::string_view text) {
  Spec spec;
  spec.text = text;
  if (text.find_first_not_of(" \t\n") == kNone) return wrong(text, "the name of a function is missing");

  std::string_view name = text;
  if (size_t separator = find_separator(text); separator != kNone) {
    spec.module = text.substr(0, separator);
    name = text.substr(separator + 1);
    if (spec.module->empty()) return wrong(text, "the module before ':' is missing");
    if (name.empty()) return wrong(text, "the name of a function after ':' is missing");
  }

  size_t plus = name.rfind('+');
  bool has_offset = plus != kNone && looks_like_number(name.substr(plus + 1));
  if (has_offset) {
    TRY(spec.offset, parse_number(text, name.substr(plus + 1)));
    name = name.substr(0, plus);
    if (name.empty()) return wrong(text, "the symbol before '+' is missing");
  }
  if (name.starts_with("::")) name.remove_prefix(2);
  if (name.empty()) return wrong(text, "the name of a function is missing");

  spec.name = name;
  if (looks_like_number(name)) return finish_address(std::move(spec), name);
  return finish_name(std::move(spec), has_offset);
}

}  // namespace blip::elf
