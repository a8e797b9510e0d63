// SPDX-License-Identifier: MIT
#include "cli/options/probe_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "cli/options/values.h"
#include "elf/mark_spec.h"

namespace blip::cli {
namespace {

using elf::SpecKind;
using session::ProbeKind;
using session::ProbeRequest;

Error usage(std::string_view option, const std::string& value, const std::string& what) {
  return Error(ErrorKind::kUsage, fmt::format("{} '{}': {}", option, value, what));
}

Result<elf::Spec> spec_of(std::string_view option, const std::string& value) {
  auto spec = elf::parse_spec(value);
  if (!spec) return usage(option, value, spec.error().message());
  return *std::move(spec);
}

// f+0 is f.
Result<elf::Spec> functions_of(std::string_view option, const std::string& value) {
  TRY(elf::Spec spec, spec_of(option, value));
  if (spec.kind != SpecKind::kSymbolOffset) return spec;
  if (spec.offset != 0)
    return usage(option, value,
                 fmt::format("{} takes functions; a single instruction is --probe {}", option, value));
  spec.kind = SpecKind::kName;
  return spec;
}

Result<ProbeRequest> parse_instruction(const std::string& value) {
  TRY(elf::Spec spec, spec_of("--probe", value));
  if (spec.kind == SpecKind::kGlob)
    return usage("--probe", value,
                 fmt::format("a probe is one instruction; --function {} takes patterns, and so does "
                             "--every-instruction",
                             value));
  return ProbeRequest{.spec = std::move(spec), .kind = ProbeKind::kInstruction};
}

// FILE:LINE; a file may have colons in its name, a number has none.
Result<ProbeRequest> parse_line(const std::string& value) {
  const size_t colon = value.rfind(':');
  if (colon == std::string::npos)
    return usage("--line", value, "it is written FILE:LINE, as in parser.c:120");
  if (colon == 0) return usage("--line", value, "the file before ':' is missing");
  const auto line =
      parse_number(std::string_view(value).substr(colon + 1), 1, std::numeric_limits<int32_t>::max());
  if (!line) return usage("--line", value, "the number of the line behind ':': " + line.error().message());
  ProbeRequest request{.kind = ProbeKind::kLine, .line = static_cast<uint32_t>(*line)};
  request.spec.name = value.substr(0, colon);
  request.spec.text = value;
  return request;
}

Result<ProbeRequest> parse_mark(const std::string& value) {
  auto spec = elf::parse_mark_spec(value);
  if (!spec) return usage("--mark", value, spec.error().message());
  return ProbeRequest{.spec = *std::move(spec), .kind = ProbeKind::kMark};
}

}  // namespace

Result<ProbeRequest> parse_probe(OptionId option, const std::string& value) {
  if (option == OptionId::kProbe) return parse_instruction(value);
  if (option == OptionId::kLine) return parse_line(value);
  if (option == OptionId::kMark) return parse_mark(value);
  struct OfFunctions {
    OptionId option;
    std::string_view name;
    ProbeKind kind;
  };
  constexpr OfFunctions kOptions[] = {
      {OptionId::kFunction, "--function", ProbeKind::kFunction},
      {OptionId::kReturn, "--return", ProbeKind::kReturn},
      {OptionId::kEveryInstruction, "--every-instruction", ProbeKind::kEveryInstruction}};
  const auto it = std::find_if(std::begin(kOptions), std::end(kOptions),
                               [&](const OfFunctions& o) { return o.option == option; });
  TRY(elf::Spec spec, functions_of(it->name, value));
  return ProbeRequest{.spec = std::move(spec), .kind = it->kind};
}

}  // namespace blip::cli
