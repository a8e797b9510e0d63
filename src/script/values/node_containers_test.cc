// SPDX-License-Identifier: MIT
#include "script/values/node_containers.h"

#include <gtest/gtest.h>

#include "script/test_scope.h"
#include "script/types/alignment.h"

namespace blip::script {
namespace {

TEST(Alignment, follows_from_the_members) {
  TestTypes types;
  const Type& pair = types.structure("pair", 16, {{"a", &builtin("char"), 0}, {"b", &builtin("long"), 8}});
  EXPECT_EQ(alignment_of(pair), 8U);
  EXPECT_EQ(alignment_of(types.array(pair, 3)), 8U);
  EXPECT_EQ(alignment_of(builtin("short")), 2U);
  const Type& packed = types.structure("packed", 9, {{"a", &builtin("char"), 0}, {"b", &builtin("long"), 1}});
  EXPECT_EQ(alignment_of(packed), 1U);
  Type wide{.kind = TypeKind::kStruct, .size = 64, .members = {{"a", &builtin("int"), 0}}};
  wide.alignment = 64;
  EXPECT_EQ(alignment_of(wide), 64U);
}

TEST(Alignment, a_type_in_itself_has_an_end) {
  TestTypes types;
  auto& self = const_cast<Type&>(types.structure("self", 8, {}));
  self.members = {{"me", &self, 0}, {"me_too", &self, 0}};
  EXPECT_EQ(alignment_of(self), 1U);
}

TEST(NodeContainers, a_pair_that_no_debugging_information_tells) {
  TypeArena types;
  const Type& pair = types.pair_of(builtin("char"), builtin("double"));
  EXPECT_EQ(pair.size, 16U);
  EXPECT_EQ(pair.members[1].offset, 8U);
}

// std::list<int> as libstdc++ has it.
Type list_of(TestTypes& types, const Type* element) {
  const Type& pointer = types.pointer(builtin("void"));
  const Type& base =
      types.structure("_List_node_base", 16, {{"_M_next", &pointer, 0}, {"_M_prev", &pointer, 8}});
  const Type& node =
      types.structure("_List_node_header", 24,
                      {{.name = "", .type = &base, .is_base = true}, {"_M_size", &builtin("long"), 16}});
  Type list{.kind = TypeKind::kStruct,
            .name = "std::__cxx11::list<int>",
            .size = 24,
            .members = {{"_M_node", &node, 0}}};
  list.arguments = {element};
  return list;
}

TEST(NodeContainers, by_the_names_of_members) {
  TestTypes types;
  TypeArena arena;
  const Type list = list_of(types, &builtin("int"));
  const auto found = find_node_container(list, arena);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->element, &builtin("int"));
  EXPECT_EQ(found->size_offset, 16U);
  EXPECT_EQ(found->step.where, collect::Where::kChain);
  EXPECT_EQ(found->step.value_offset, 16U);
}

TEST(NodeContainers, others_are_structures) {
  TestTypes types;
  TypeArena arena;
  EXPECT_FALSE(find_node_container(list_of(types, nullptr), arena));
  Type none = list_of(types, &builtin("int"));
  none.arguments.clear();
  EXPECT_FALSE(find_node_container(none, arena));
  Type other = list_of(types, &builtin("int"));
  other.name = "my::list_of<int>";
  EXPECT_FALSE(find_node_container(other, arena));
  other.name = "my::list<int>";
  other.members.clear();
  EXPECT_FALSE(find_node_container(other, arena));
}

}  // namespace
}  // namespace blip::script
