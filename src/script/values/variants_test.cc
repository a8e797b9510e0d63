// SPDX-License-Identifier: MIT
#include "script/values/variants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "script/test_compile.h"
#include "script/test_render.h"
#include "script/test_scope.h"

namespace blip::script {
namespace {

constexpr uint64_t kObject = 0x1000;

class VariantsTest : public testing::Test {
 protected:
  std::string shown(const Type& type, uint64_t tag_word, uint64_t data) {
    const uint64_t words[] = {tag_word, data};
    machine.put(kObject, words, sizeof words);
    scope.variables.clear();
    scope.in_memory("v", type, kObject);
    const HitScopes site{.scope = &scope};
    const auto captured = compile_capture("v", site, {});
    EXPECT_TRUE(captured);
    const auto outputs = captured ? run(captured->program, machine) : std::nullopt;
    return outputs ? Renderer(*outputs).field(captured->fields[0]) : "";
  }

  TestTypes types;
  const Type& word = builtin("unsigned long");
  const Type& byte = builtin("unsigned char");
  const Type& number = builtin("int");
  const Type& nothing = types.structure("Empty", 16, {});
  const Type& one = types.structure("Circle", 16, {{"__0", &number, 8}});
  const Type& two = types.structure("Rect", 16, {{"w", &number, 8}, {"h", &number, 12}});
  TestScope scope;
  TestMachine machine;
};

TEST_F(VariantsTest, the_one_that_is_there) {
  const Type& shape =
      types.add({.kind = TypeKind::kStruct,
                 .name = "Shape",
                 .size = 16,
                 .members = {{"", &byte, 0}, {"Empty", &nothing}, {"Circle", &one}, {"Rect", &two}},
                 .enumerators = {{"Empty", 0}, {"Circle", 1}, {"Rect", 255}}});
  const uint64_t data = uint64_t{4} << 32 | 3, rest = 0xabcdef00;  // other bytes of the tag's word
  EXPECT_EQ(shown(shape, rest | 0, data), "v={variant=Empty, Circle=[], Rect=[]}");
  EXPECT_EQ(shown(shape, rest | 1, data), "v={variant=Circle, Circle=[3], Rect=[]}");
  EXPECT_EQ(shown(shape, rest | 255, data), "v={variant=Rect, Circle=[], Rect=[{w=3, h=4}]}");
  EXPECT_EQ(shown(shape, rest | 7, data), "v={variant=7, Circle=[], Rect=[]}");
}

// Option<&T>: the pointer itself is the tag.
TEST_F(VariantsTest, without_a_value_of_its_own) {
  const Type& some = types.structure("Some", 8, {{"__0", &types.pointer(number), 0}});
  const Type& option = types.add({.kind = TypeKind::kStruct,
                                  .name = "Option<&i32>",
                                  .size = 8,
                                  .members = {{"", &word, 0}, {"None", &nothing}, {"Some", &some}},
                                  .enumerators = {{"None", 0}}});
  EXPECT_EQ(shown(option, 0, 0), "v={variant=None, Some=[]}");
  EXPECT_EQ(shown(option, 0x1234, 0), "v={variant=Some, Some=[0x1234]}");
}

TEST_F(VariantsTest, other_structures_are_none) {
  const Type& plain = types.structure("plain", 16, {{"n", &word, 0}, {"m", &word, 8}});
  EXPECT_EQ(shown(plain, 1, 2), "v={n=1, m=2}");
}

}  // namespace
}  // namespace blip::script
