// SPDX-License-Identifier: MIT
// The layouts of standard libraries, as their debugging information has them.
#include "script/values/containers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "script/test_compile.h"
#include "script/test_render.h"
#include "script/test_scope.h"

namespace blip::script {
namespace {

constexpr uint64_t kObject = 0x1000, kData = 0x2000;

class Containers : public testing::Test {
 protected:
  Containers() {
    machine.put(kData, "hello, world", 13);
    const int32_t values[] = {7, -8, 9};
    machine.put(kData + 0x100, values, sizeof values);
  }

  // `words` are the object.
  void object(const Type& type, std::vector<uint64_t> words) {
    machine.put(kObject, words.data(), words.size() * 8);
    scope.variables.clear();
    scope.in_memory("v", type, kObject);
  }

  std::string shown(const std::string& list) {
    const HitScopes site{.scope = &scope};
    const auto captured = compile_capture(list, site, {.string_max = 32});
    EXPECT_TRUE(captured) << list << (captured ? "" : captured.error().message());
    const auto outputs = captured ? run(captured->program, machine) : std::nullopt;
    return outputs ? Renderer(*outputs).field(captured->fields[0]) : "";
  }

  TestTypes types;
  const Type& text = types.pointer(builtin("char"));
  const Type& word = builtin("unsigned long");
  TestScope scope;
  TestMachine machine;
};

TEST_F(Containers, string_of_libstdcxx) {
  const Type& hider = types.structure("_Alloc_hider", 8, {{"_M_p", &text, 0}});
  for (const char* name :
       {"basic_string<char, std::char_traits<char>, std::allocator<char> >",
        "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"}) {
    const Type& string =
        types.structure(name, 32, {{"_M_dataplus", &hider, 0}, {"_M_string_length", &word, 8}});
    object(types.alias("string", string), {kData, 5, 0, 0});
    EXPECT_EQ(shown("v"), "v=\"hello\"");
    EXPECT_EQ(shown("v == \"hello\""), "v == \"hello\"=1");
    EXPECT_EQ(shown("v == \"hell\""), "v == \"hell\"=0");
    EXPECT_EQ(shown("v != \"hello\""), "v != \"hello\"=0");
    EXPECT_EQ(shown("startswith(v, \"he\")"), "startswith(v, \"he\")=1");
    EXPECT_EQ(shown("v[1]"), "v[1]='e'");
    EXPECT_EQ(shown("v._M_string_length"), "v._M_string_length=5");
    // Inside of a structure it is still a text, and a reference to it too.
    const Type& holder = types.structure("holder", 40, {{"n", &word, 0}, {"s", &string, 8}});
    object(holder, {3, kData, 5, 0, 0});
    EXPECT_EQ(shown("v"), "v={n=3, s=\"hello\"}");
    object(types.reference(string), {kObject + 8, kData, 4, 0, 0});
    EXPECT_EQ(shown("v"), "v=\"hell\"");
  }
  const Type& wide = types.structure("basic_string<wchar_t>", 16, {{"_M_dataplus", &hider, 0}});
  object(wide, {kData, 0});
  EXPECT_EQ(shown("v"), "v={_M_dataplus={_M_p=\"hello, world\"}}");
}

TEST_F(Containers, string_of_libstdcxx_before_cxx11) {
  const Type& hider = types.structure("_Alloc_hider", 8, {{"_M_p", &text, 0}});
  object(types.structure("basic_string<char>", 8, {{"_M_dataplus", &hider, 0}}),
         {kObject + 32, 3, 3, 0, 0x636261});
  EXPECT_EQ(shown("v"), "v=\"abc\"");
}

TEST_F(Containers, string_of_libcxx) {
  const Type& byte = builtin("unsigned char");
  const Type& large = types.structure("__long", 24,
                                      {{.name = "__is_long_", .type = &word, .bit_size = 1},
                                       {.name = "__cap_", .type = &word, .bit_offset = 1, .bit_size = 63},
                                       {"__size_", &word, 8},
                                       {"__data_", &text, 16}});
  const Type& small = types.structure("__short", 24,
                                      {{.name = "__is_long_", .type = &byte, .bit_size = 1},
                                       {.name = "__size_", .type = &byte, .bit_offset = 1, .bit_size = 7},
                                       {"__data_", &types.array(builtin("char"), 23), 1}});
  const Type& rep =
      types.add({.kind = TypeKind::kUnion, .size = 24, .members = {{"__s", &small, 0}, {"__l", &large, 0}}});
  const Type& value = types.structure("__rep", 24, {{"", &rep, 0}});
  const Type& pair = types.structure("__compressed_pair_elem", 24, {{"__value_", &value, 0}});
  const Type& string = types.structure("std::__1::basic_string<char>", 24, {{"__r_", &pair, 0}});
  object(string, {0x41, 12, kData});
  EXPECT_EQ(shown("v"), "v=\"hello, world\"");
  object(string, {0x63626106, 0, 0});
  EXPECT_EQ(shown("v"), "v=\"abc\"");
  EXPECT_EQ(shown("v == \"abc\""), "v == \"abc\"=1");
}

TEST_F(Containers, string_view_of_both) {
  object(types.structure("basic_string_view<char, std::char_traits<char> >", 16,
                         {{"_M_len", &word, 0}, {"_M_str", &text, 8}}),
         {4, kData});
  EXPECT_EQ(shown("v"), "v=\"hell\"");
  object(types.structure("basic_string_view<char>", 16, {{"__data_", &text, 0}, {"__size_", &word, 8}}),
         {kData, 3});
  EXPECT_EQ(shown("v"), "v=\"hel\"");
}

// What is behind the end is not read.
TEST_F(Containers, sequences_of_texts) {
  const Type& view =
      types.structure("basic_string_view<char>", 16, {{"_M_len", &word, 0}, {"_M_str", &text, 8}});
  const Type& views = types.pointer(view);
  const Type& vector = types.structure("vector<std::string_view, std::allocator<std::string_view> >", 24,
                                       {{"_M_start", &views, 0}, {"_M_finish", &views, 8}});
  object(vector, {kObject + 24, kObject + 24 + 48, 0, 5, kData, 1, kData + 1, 0, 0});
  EXPECT_EQ(shown("v"), "v=[\"hello\", \"e\", \"\"]");
  object(vector, {kObject + 24, kObject + 24 + 16, 0, 5, kData});
  EXPECT_EQ(shown("v"), "v=[\"hello\"]");
  object(vector, {0, 0, 0});
  EXPECT_EQ(shown("v"), "v=[]");
}

TEST_F(Containers, string_view_passed_in_registers) {
  const Type& view =
      types.structure("basic_string_view<char>", 16, {{"_M_len", &word, 0}, {"_M_str", &text, 8}});
  Place place{.kind = Place::Kind::kPieces};
  place.pieces.push_back({TestScope::register_place(7), 8});
  place.pieces.push_back({TestScope::register_place(6), 8});
  scope.variables.push_back({"v", &view, place, true});
  machine.registers[7] = 5;
  machine.registers[6] = kData;
  EXPECT_EQ(shown("v"), "v=\"hello\"");
  EXPECT_EQ(shown("v == \"hello\""), "v == \"hello\"=1");
}

TEST_F(Containers, vector_of_both) {
  const Type& numbers = types.pointer(builtin("int"));
  const Type& data =
      types.structure("_Vector_impl_data", 24, {{"_M_start", &numbers, 0}, {"_M_finish", &numbers, 8}});
  const Type& impl = types.structure("_Vector_impl", 24, {{.name = "", .type = &data, .is_base = true}});
  const Type& base = types.structure("_Vector_base", 24, {{"_M_impl", &impl, 0}});
  const Type& vector = types.structure("vector<int, std::allocator<int> >", 24,
                                       {{.name = "", .type = &base, .is_base = true}});
  object(vector, {kData + 0x100, kData + 0x10c, 0});
  EXPECT_EQ(shown("v"), "v=[7, -8, 9]");
  EXPECT_EQ(shown("v[1]"), "v[1]=-8");
  EXPECT_EQ(shown("v[1..3]"), "v[1..3]=[-8, 9]");
  object(types.structure("std::__1::vector<int>", 24, {{"__begin_", &numbers, 0}, {"__end_", &numbers, 8}}),
         {kData + 0x100, kData + 0x108, 0});
  EXPECT_EQ(shown("v"), "v=[7, -8]");
}

TEST_F(Containers, optional_and_unique_ptr) {
  const Type& storage =
      types.add({.kind = TypeKind::kUnion,
                 .size = 4,
                 .members = {{"_M_empty", &builtin("char"), 0}, {"_M_value", &builtin("int"), 0}}});
  const Type& payload = types.structure("_Optional_payload_base<int>", 8,
                                        {{"_M_payload", &storage, 0}, {"_M_engaged", &builtin("bool"), 4}});
  const Type& optional = types.structure("std::optional<int>", 8, {{"_M_payload", &payload, 0}});
  object(optional, {uint64_t{1} << 32 | 77});
  EXPECT_EQ(shown("v"), "v={has_value=true, value=77}");
  EXPECT_EQ(shown("*v"), "*v=77");
  object(optional, {77});  // not engaged: what lies there is nobody's
  EXPECT_EQ(shown("v"), "v={has_value=false, value=0}");
  const Type& head = types.structure("_Head_base", 8, {{"_M_head_impl", &types.pointer(builtin("int")), 0}});
  // The deleter comes first, and its part is called the same.
  const Type& deleter = types.structure("default_delete<int>", 1, {});
  const Type& other = types.structure("_Head_base<1>", 1, {{"_M_head_impl", &deleter, 0}});
  const Type& tuple = types.structure(
      "tuple", 8,
      {{.name = "", .type = &other, .is_base = true}, {.name = "", .type = &head, .is_base = true}});
  object(types.structure("unique_ptr<int, std::default_delete<int> >", 8, {{"_M_t", &tuple, 0}}),
         {kData + 0x104});
  EXPECT_EQ(shown("v"), "v=0x2104");
  EXPECT_EQ(shown("*v"), "*v=-8");
}

TEST_F(Containers, optional_of_more_than_a_number) {
  const auto optional = [&](const Type& value) -> const Type& {
    return types.structure(
        "optional", 40,
        {{"_M_payload",
          &types.structure("_Optional_payload_base", 40,
                           {{"_M_value", &value, 0}, {"_M_engaged", &builtin("bool"), 32}}),
          0}});
  };
  const Type& point = types.structure("point", 16, {{"x", &word, 0}, {"y", &word, 8}});
  object(optional(point), {3, 4, 0, 0, 1});
  EXPECT_EQ(shown("v"), "v={has_value=true, value=[{x=3, y=4}]}");
  object(optional(point), {3, 4, 0, 0, 0});
  EXPECT_EQ(shown("v"), "v={has_value=false, value=[]}");
  const Type& view =
      types.structure("basic_string_view<char>", 16, {{"_M_len", &word, 0}, {"_M_str", &text, 8}});
  object(optional(view), {5, kData, 0, 0, 1});
  EXPECT_EQ(shown("v"), "v={has_value=true, value=\"hello\"}");
  object(optional(view), {5, 1, 0, 0, 0});  // 1 is no address
  EXPECT_EQ(shown("v"), "v={has_value=false, value=\"\"}");
}

TEST_F(Containers, rust) {
  const Type& byte = types.add({.kind = TypeKind::kInt, .name = "u8", .size = 1});
  const Type& bytes = types.pointer(byte);
  object(types.structure("&str", 16, {{"data_ptr", &bytes, 0}, {"length", &word, 8}}), {kData, 5});
  EXPECT_EQ(shown("v"), "v=\"hello\"");
  EXPECT_EQ(shown("v == \"hello\""), "v == \"hello\"=1");
  object(types.structure("&[u8]", 16, {{"data_ptr", &bytes, 0}, {"length", &word, 8}}), {kData, 2});
  EXPECT_EQ(shown("v"), "v=[104, 101]");
  // The pointer of newer ones is to bytes, whatever the vector is of.
  const Type& unique = types.structure(
      "Unique<u8>", 8, {{"pointer", &types.structure("NonNull<u8>", 8, {{"pointer", &bytes, 0}}), 0}});
  const Type& raw = types.structure("RawVecInner", 16, {{"ptr", &unique, 0}, {"cap", &word, 8}});
  const auto vec = [&](const char* name) -> const Type& {
    return types.structure(
        name, 24, {{"buf", &types.structure("RawVec", 16, {{"inner", &raw, 0}}), 0}, {"len", &word, 16}});
  };
  object(types.structure("alloc::string::String", 24, {{"vec", &vec("Vec<u8, alloc::alloc::Global>"), 0}}),
         {kData, 16, 12});
  EXPECT_EQ(shown("v"), "v=\"hello, world\"");
  Type reference = types.pointer(*scope.variables[0].type);
  reference.name = "&alloc::string::String";
  machine.put(0x3000, "\0\x10\0\0\0\0\0", 8);  // to the object
  scope.in_memory("r", reference, 0x3000);
  EXPECT_EQ(shown("r"), "r=\"hello, world\"");
  EXPECT_EQ(shown("r == \"hello, world\""), "r == \"hello, world\"=1");
  scope.types = {{"i32", &builtin("int")}};
  object(vec("alloc::vec::Vec<i32, alloc::alloc::Global>"), {kData + 0x100, 4, 2});
  EXPECT_EQ(shown("v"), "v=[7, -8]");
}

TEST_F(Containers, go) {
  const Type& bytes = types.pointer(builtin("uint8_t"));
  object(types.structure("string", 16, {{"str", &bytes, 0}, {"len", &builtin("long"), 8}}), {kData, 5});
  EXPECT_EQ(shown("v"), "v=\"hello\"");
  object(types.structure("[]int32", 24,
                         {{"array", &types.pointer(builtin("int")), 0},
                          {"len", &builtin("long"), 8},
                          {"cap", &builtin("long"), 16}}),
         {kData + 0x100, 3, 3});
  EXPECT_EQ(shown("v"), "v=[7, -8, 9]");
}

TEST_F(Containers, what_only_has_the_name_is_a_structure) {
  object(types.structure("vector", 8, {{"x", &word, 0}}), {5});
  EXPECT_EQ(shown("v"), "v={x=5}");
  object(types.structure("string", 8, {{"x", &word, 0}}), {6});
  EXPECT_EQ(shown("v"), "v={x=6}");
  object(types.structure("optional", 8, {{"x", &word, 0}}), {7});
  EXPECT_EQ(shown("v"), "v={x=7}");
}

}  // namespace
}  // namespace blip::script
