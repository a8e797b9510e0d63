// SPDX-License-Identifier: MIT
// Whatever is in a file of blocks, and whatever is changed in a valid program: an error that says something, or a program that is
// printed and read as the same and ends after a bounded number of steps.
#include "base/check.h"
#include "script/blocks/test_change_blocks.h"
#include "script/blocks/test_random_blocks.h"
#include "script/blocks/text.h"
#include "script/ir/test_programs.h"
#include "script/run/test_run.h"

namespace {

using namespace blip::script;

constexpr RunLimits kLimits{.budget = 2000, .depth = 8, .texts = 1 << 16};
constexpr uint64_t kMostPerNode = 128;  // instructions: a list may have 32 faults to look for

void run(const Program& program) {
  static auto& machine = *new TestMachine;
  TestSink sink;
  std::vector<blip::state::Map> maps = maps_of(program);
  Interpreter interpreter(program, maps, sink, kLimits);
  for (uint32_t i = 0; i < program.functions.size(); ++i) {
    if (program.functions[i].parameters > 0) continue;
    const uint64_t before = interpreter.instructions();
    interpreter.run(i, {.machine = &machine});
    CHECK(interpreter.instructions() - before <= kMostPerNode * (kLimits.budget + kMaxFunctionNodes));
  }
}

void check(const Program& program) {
  const blip::Status valid = verify(program);
  if (!valid) {
    CHECK(valid.error().kind() == blip::ErrorKind::kInvalid && !valid.error().message().empty());
    return;
  }
  const std::string text = print(program);
  const auto again = parse_program(text);
  CHECK(again && print(*again) == text);
  run(program);
}

void check_text(std::string_view text) {
  const auto program = parse_program(text);
  if (program)
    check(*program);
  else
    CHECK(!program.error().message().empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  if (data[0] != 0) {
    check_text({reinterpret_cast<const char*>(data), size});
    return 0;
  }
  size_t at = 1;
  const auto next = [&] { return at < size ? data[at++] : uint8_t{0}; };
  std::mt19937_64 random(next());
  Program program = RandomBlocks(random).make();
  while (at < size) change(program, next);
  check(program);
  return 0;
}
