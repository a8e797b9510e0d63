// SPDX-License-Identifier: MIT
// Any text as the operands of a mark: as many arguments as texts, each of a known size, and code that runs.
#include "base/check.h"
#include "script/convention/mark_operands.h"
#include "script/ir/test_programs.h"
#include "script/test_place.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace blip::script;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto known = [](std::string_view name) { return std::optional<uint64_t>(name.size()); };
  const std::vector<Variable> all = mark_arguments(text, {known, known});
  CHECK(all.size() == mark_operand_texts(text).size());
  const TestMachine machine;
  for (const Variable& v : all) {
    CHECK(v.type && v.type->size >= 1 && v.type->size <= 8);
    if (v.place.kind != Place::Kind::kOptimizedOut) CHECK(!v.place.code.nodes.empty());
    (void)bytes_at(v.place, v.type->size, machine);
  }
  return 0;
}
