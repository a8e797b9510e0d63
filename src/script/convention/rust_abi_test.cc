// SPDX-License-Identifier: MIT
#include "script/convention/rust_abi.h"

#include <gtest/gtest.h>

#include "script/test_scope.h"

namespace blip::script {
namespace {

using Kind = RustPassing::Kind;

// An enum whose variants hold one value each, behind a tag of four bytes.
const Type& tagged(TestTypes& types, uint64_t size, std::vector<const Type*> values) {
  Type type{.kind = TypeKind::kStruct, .name = "E", .size = size};
  type.members.push_back({.name = "", .type = &builtin("unsigned int")});
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string name = "V" + std::to_string(i);
    type.enumerators.push_back({name, static_cast<int64_t>(i)});
    const uint64_t at = values[i] && values[i]->size == 4 ? 4 : 8;
    const Type& held =
        values[i] ? types.structure(name, size, {{"__0", values[i], at}}) : types.structure(name, size, {});
    type.members.push_back({.name = name, .type = &held});
  }
  return types.add(std::move(type));
}

TEST(RustAbi, enums_of_a_tag_and_a_number) {
  TestTypes types;
  const Type &u64 = builtin("unsigned long"), &i64 = builtin("long"), &u32 = builtin("unsigned int");
  const RustPassing option = rust_argument(tagged(types, 16, {nullptr, &u64}));
  ASSERT_EQ(option.kind, Kind::kScalars);
  EXPECT_EQ(option.scalars, (std::vector<RustPassing::Scalar>{{0, 4}, {8, 8}}));
  EXPECT_EQ(rust_argument(tagged(types, 8, {&u32, &u32})).kind, Kind::kScalars);
  EXPECT_EQ(rust_argument(tagged(types, 16, {&u64, &i64})).kind, Kind::kPointer) << "not the same number";
  EXPECT_EQ(rust_argument(tagged(types, 16, {&u64, &types.pointer(u64)})).kind, Kind::kPointer);
  EXPECT_EQ(rust_argument(tagged(types, 8, {&u32, &builtin("float")})).kind, Kind::kWord);
}

TEST(RustAbi, what_c_does_the_same) {
  TestTypes types;
  const Type &u64 = builtin("unsigned long"), &real = builtin("double");
  const Type& pair = types.structure("P", 16, {{"a", &u64, 0}, {"b", &u64, 8}});
  EXPECT_EQ(rust_argument(pair).kind, Kind::kScalars);
  EXPECT_EQ(rust_argument(types.structure("F", 16, {{"a", &real, 0}, {"b", &u64, 8}})).kind, Kind::kNotKnown);
  const Type& large = types.structure("L", 24, {{"a", &u64, 0}, {"b", &u64, 8}, {"c", &u64, 16}});
  EXPECT_EQ(rust_argument(large).kind, Kind::kNotKnown) << "extern C has it on the stack";
  EXPECT_EQ(rust_result(large).kind, Kind::kPointer);
  EXPECT_EQ(rust_argument(types.structure("Z", 0, {})).kind, Kind::kNothing);
}

}  // namespace
}  // namespace blip::script
