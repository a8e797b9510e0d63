// SPDX-License-Identifier: MIT
// Any text: it is a script, or an error says where it is none. What is accepted lowers to programs that keep their rules.
#include <string_view>

#include "base/check.h"
#include "bt/probes.h"
#include "bt/script.h"
#include "script/blocks/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace blip;
  constexpr size_t kMost = 1 << 14;
  if (size > kMost) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const script::ParsedScript parsed = bt::parse_script({.name = "fuzz", .text = text});
  if (!parsed.script) return 0;
  script::Program program;
  for (size_t i = 0; i < (*parsed.script)->probes().size(); ++i) {
    if (!bt::runs_without_hit((*parsed.script)->probes()[i])) continue;
    auto lowered = (*parsed.script)->lower(i, nullptr, program);
    if (!lowered) return 0;
    program.functions.push_back(lowered->function);
  }
  CHECK(script::verify(program).has_value());
  return 0;
}
