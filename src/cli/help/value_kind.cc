// SPDX-License-Identifier: MIT
#include "cli/help/value_kind.h"

namespace blip::cli {
namespace {

struct Named {
  std::string_view name;
  ValueKind kind;
};
constexpr Named kKinds[] = {
    {"SPEC", ValueKind::kFunction},
    {"GLOB", ValueKind::kFunction},
    {"TYPE[,TYPE]", ValueKind::kContext},
    {"PID", ValueKind::kPid},
    {"DIR", ValueKind::kDirectory},
    {"NAME", ValueKind::kProcessName},
    {"FILE", ValueKind::kFile},
    {"WHEN", ValueKind::kColor},
    {"CMD", ValueKind::kCommand},
    {"\"CMD\"", ValueKind::kCommand},
    {"N", ValueKind::kFree},
    {"TIME", ValueKind::kFree},
    {"SIZE", ValueKind::kFree},
    {"CLOCK", ValueKind::kFree},
    {"BACKEND", ValueKind::kFree},
    {"FILE:LINE", ValueKind::kFree},
    {"EXPR", ValueKind::kFree},
    {"TID", ValueKind::kFree},
    {"LIST", ValueKind::kFree},
    {"WHAT", ValueKind::kFree},
    {"MS", ValueKind::kFree},
    {"PROVIDER:NAME", ValueKind::kFree},
    {"TEXT", ValueKind::kFree},
    {"LANG", ValueKind::kFree},
    {"NAME=VALUE", ValueKind::kFree},
    {"FORMAT", ValueKind::kFree},
    {"POINT", ValueKind::kFree},
};

bool mentions(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

}  // namespace

std::optional<ValueKind> find_value_kind(std::string_view name) {
  for (const Named& named : kKinds)
    if (named.name == name) return named.kind;
  return std::nullopt;
}

ValueKind value_kind(const OptionFact& fact) {
  return find_value_kind(fact.value).value_or(ValueKind::kFree);
}

Operands operands_of(const VerbFact& verb) {
  Operands operands;
  operands.command = mentions(verb.synopsis, "-- CMD");
  if (mentions(verb.synopsis, "| FILE")) {
    operands.first = ValueKind::kFile;
  } else if (verb.synopsis.ends_with(" [DIR]") && !mentions(verb.synopsis, "-o DIR")) {
    operands.first = ValueKind::kDirectory;
  }
  return operands;
}

}  // namespace blip::cli
