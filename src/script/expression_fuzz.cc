// SPDX-License-Identifier: MIT
// Whatever the user types: a valid program that the interpreter runs, or an error that says something.
#include "base/check.h"
#include "script/ir/interpret.h"
#include "script/ir/verify.h"
#include "script/test_compile.h"
#include "script/test_scope.h"

namespace {

using namespace blip::script;

void check(const blip::Result<Captured>& captured, const TestProgram& program) {
  if (!captured) {
    CHECK(captured.error().kind() == blip::ErrorKind::kUsage);
    CHECK(!captured.error().message().empty());
    return;
  }
  CHECK(verify(captured->program).has_value());
  CHECK(verify(captured->entry).has_value());
  const auto outputs = run(captured->program, program.machine);
  CHECK(!outputs || outputs->size() == captured->program.outputs.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static auto& program = *new TestProgram;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const HitScopes entry{.scope = &program.scope};
  const HitScopes exit{.scope = &program.scope, .is_return = true, .entry = &program.scope};
  for (const HitScopes& site : {entry, exit}) {
    check(compile_filter(text, site), program);
    check(compile_capture(text, site, {}), program);
  }
  return 0;
}
