// SPDX-License-Identifier: MIT
// Any text that a user types gives a SPEC or an error, and the index finds the same functions as a walk over
// all names.
#include "base/check.h"
#include "elf/function_index.h"
#include "elf/spec.h"

namespace {

using namespace blip::elf;

constexpr std::string_view kNames[] = {"main",
                                       "parse",
                                       "_ZN2ns5parseEv",
                                       "_ZN2ns5parseEi",
                                       "_ZN2v85parseEv",
                                       "_Znwm",
                                       "_ZdlPv",
                                       "_ZTv0_n24_N1A1fEv",
                                       "_ZNSt6vectorIiSaIiEE9push_backEOi",
                                       "_ZN3foo17h0123456789abcdefE",
                                       "_RNvCs1234_7mycrate3foo",
                                       "main.work",
                                       "net/http.(*conn).serve",
                                       "_ZNKSt8functionIFvvEEclEv",
                                       "_ZplRK1AS1_",
                                       "f.cold",
                                       "f.part.0",
                                       ""};

const std::vector<Function>& functions() {
  static const std::vector<Function> all = [] {
    std::vector<Function> list;
    for (std::string_view name : kNames) list.push_back({.name = name, .addr = blip::FileAddr(list.size())});
    return list;
  }();
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto spec = parse_spec(text);
  if (!spec) {
    CHECK(!spec.error().message().empty());
    return 0;
  }
  CHECK(spec->text == text);
  if (spec->kind == SpecKind::kAddress) return 0;
  FunctionIndex index(functions(), {&spec->name, 1});
  const FunctionMatcher matcher(*spec);
  std::vector<const Function*> found;
  for (const Function& f : functions())
    if (matcher.matches(f)) found.push_back(&f);
  if (spec->kind != SpecKind::kName) return 0;
  const auto indexed = index.matching(matcher);
  CHECK(std::equal(indexed.begin(), indexed.end(), found.begin(), found.end()));
  return 0;
}
