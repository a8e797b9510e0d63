// SPDX-License-Identifier: MIT
// Does for a moment what the fuzzer does for long: expressions are put together at random.
#include <gtest/gtest.h>

#include "script/ir/interpret.h"
#include "script/ir/verify.h"
#include "script/test_compile.h"
#include "script/test_scope.h"

namespace blip::script {
namespace {

constexpr std::string_view kWords[] = {"req",       "n",
                                       "copy",      "numbers",
                                       "array",     "pair",
                                       "gone",      "self",
                                       "->id",      "->path",
                                       ".name",     "->next",
                                       "[1]",       "[0..n]",
                                       "(",         ")",
                                       "(int)",     "*",
                                       "&",         "-",
                                       "+",         "&&",
                                       "||",        "==",
                                       "<",         "1",
                                       "0",         "1.5",
                                       "\"a\"",     "'c'",
                                       "?",         ":",
                                       ",",         "$rax",
                                       "entry(",    "ret",
                                       "depth",     "!",
                                       "~",         "<<",
                                       "/",         "sizeof(",
                                       "x = ",      "%",
                                       "->ratio",   "(struct request *)",
                                       "(char *)",  "startswith(",
                                       "->headers", "->state",
                                       "DONE",      ".flags",
                                       "->level"};

TEST(RandomExpressions, become_valid_programs_or_errors) {
  std::mt19937_64 random(11);
  TestProgram program;
  program.machine.entries = {1, 2};
  int valid = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (size_t n = 1 + random() % 9; n > 0; --n) text += kWords[random() % std::size(kWords)];
    const bool is_return = random() % 2;
    const HitScopes site{
        .scope = &program.scope, .is_return = is_return, .entry = is_return ? &program.scope : nullptr};
    const auto captured = compile_capture(text, site, {});
    if (!captured) {
      ASSERT_EQ(captured.error().kind(), ErrorKind::kUsage) << text << captured.error().message();
      continue;
    }
    ++valid;
    ASSERT_TRUE(verify(captured->program)) << text;
    ASSERT_TRUE(run(captured->program, program.machine)) << text;
  }
  EXPECT_GT(valid, 500);
}

}  // namespace
}  // namespace blip::script
