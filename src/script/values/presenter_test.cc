// SPDX-License-Identifier: MIT
#include "script/values/presenter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "script/test_compile.h"
#include "script/test_render.h"
#include "script/test_scope.h"

namespace blip::script {
namespace {

std::string shown(const std::string& text, TestProgram& program, const Limits& limits = {}) {
  const HitScopes site{.scope = &program.scope};
  const auto captured = compile_capture(text, site, limits);
  EXPECT_TRUE(captured) << text << (captured ? "" : captured.error().message());
  if (!captured) return "";
  const auto outputs = run(captured->program, program.machine);
  EXPECT_TRUE(outputs);
  std::string all;
  for (const Field& s : captured->fields) all += (all.empty() ? "" : "; ") + Renderer(*outputs).field(s);
  return all;
}

TEST(Presenter, scalars_and_texts) {
  TestProgram p;
  EXPECT_EQ(shown("n, req->path, req->state", p), "n=5; req->path=\"/admin\"; req->state=DONE");
  EXPECT_EQ(shown("req->name, c = req->name[1]", p), "req->name=\"worker\"; c='o'");
  EXPECT_EQ(shown("req->next", p), "req->next=0x10000");
  EXPECT_EQ(shown("req->as_float, req->ratio", p), "req->as_float=2.5; req->ratio=0.25");
  EXPECT_EQ(shown("req->flags, req->level, req->rest", p), "req->flags=5; req->level=-2; req->rest=11259375");
  EXPECT_EQ(shown("(bool)n, n == 6", p), "(bool)n=true; n == 6=0");
  EXPECT_EQ(shown("gone", p), "gone=<optimized out>");
  EXPECT_EQ(shown("*(int *)0, (char *)1", p), "*(int *)0=<fault>; (char *)1=<fault>");
  EXPECT_EQ(shown("req->path", p, {.string_max = 3}), "req->path=\"/ad\"...");
}

// As those of libstdc++ lie in memory.
TEST(Presenter, tuples_in_an_array) {
  TestProgram p;
  const Type& head = p.types.structure("_Head_base", 4, {{"_M_head_impl", &builtin("int"), 0}});
  const Type& tuple = p.types.structure("tuple<int, int>", 8,
                                        {{.name = "", .type = &head, .is_base = true},
                                         {.name = "", .type = &head, .offset = 4, .is_base = true}});
  p.scope.in_memory("tuples", p.types.array(tuple, 2), TestProgram::kArray);
  EXPECT_EQ(shown("tuples", p), "tuples=[{[0]=-20, [1]=10}, {[0]=40, [1]=30}]");
}

// As those of libc++ do.
TEST(Presenter, tuples_of_libcpp) {
  TestProgram p;
  const Type& leaf = p.types.structure("__tuple_leaf<0, int, false>", 4, {{"__value_", &builtin("int"), 0}});
  const Type& all = p.types.structure("__tuple_impl<int, int>", 8,
                                      {{.name = "", .type = &leaf, .is_base = true},
                                       {.name = "", .type = &leaf, .offset = 4, .is_base = true}});
  const Type& tuple = p.types.structure("tuple<int, int>", 8, {{"__base_", &all, 0}});
  p.scope.in_memory("tuples", p.types.array(tuple, 2), TestProgram::kArray);
  EXPECT_EQ(shown("tuples", p), "tuples=[{[0]=10, [1]=-20}, {[0]=30, [1]=40}]");
}

// The length is in memory, too.
TEST(Presenter, an_array_whose_length_is_computed) {
  TestProgram p;
  Type type{.kind = TypeKind::kArray, .target = &builtin("int")};
  Code length;
  length.add({.op = Op::kLoad, .width = 4, .a = length.constant(TestProgram::kGlobals + 24)});
  type.length = std::make_shared<const Code>(length);
  p.scope.in_memory("some", p.types.add(type), TestProgram::kArray);
  p.put(TestProgram::kGlobals + 24, int32_t{3});
  EXPECT_EQ(shown("some, some[2], some[3], sizeof(some)", p),
            "some=[10, -20, 30]; some[2]=30; some[3]=<fault>; sizeof(some)=12");
  EXPECT_EQ(shown("some[1..9]", p), "some[1..9]=[-20, 30]");
}

// struct { int a : 12; long b : 40; long c; } in two registers, and the same with the first word in two
// places.
TEST(Presenter, bit_fields_of_a_structure_in_pieces) {
  TestProgram p;
  const Type& type =
      p.types.structure("fields", 16,
                        {{.name = "a", .type = &builtin("int"), .bit_size = 12},
                         {.name = "b", .type = &builtin("long"), .bit_offset = 12, .bit_size = 40},
                         {"c", &builtin("long"), 8}});
  const uint64_t word = (5U & 0xfff) | ((static_cast<uint64_t>(-7) & 0xffffffffff) << 12);
  p.machine.registers[8] = word | (uint64_t{0xfff} << 52);
  p.machine.registers[9] = 11;
  p.put(TestProgram::kGlobals + 24, word >> 24);
  Place two{.kind = Place::Kind::kPieces};
  two.pieces = {{TestScope::register_place(8), 8}, {TestScope::register_place(9), 8}};
  Place memory{.kind = Place::Kind::kAddress};
  memory.code.constant(TestProgram::kGlobals + 24);
  Place three{.kind = Place::Kind::kPieces};
  three.pieces = {{TestScope::register_place(8), 3}, {memory, 5}, {TestScope::register_place(9), 8}};
  Place half{.kind = Place::Kind::kPieces};
  half.pieces = {{TestScope::register_place(8), 3}, {{}, 5}, {TestScope::register_place(9), 8}};
  p.scope.variables.push_back({"two", &type, two, true});
  p.scope.variables.push_back({"three", &type, three, true});
  p.scope.variables.push_back({"half", &type, half, true});
  EXPECT_EQ(shown("two", p), "two={a=5, b=-7, c=11}");
  EXPECT_EQ(shown("three", p), "three={a=5, b=-7, c=11}");
  EXPECT_EQ(shown("half", p),
            "half={a=5, b=<a part of it is optimized out: it has no value at this place>, c=11}");
  EXPECT_EQ(shown("two.b == -7, three.b == -7, two.a + two.c", p),
            "two.b == -7=1; three.b == -7=1; two.a + two.c=16");
}

// Packed: unsigned head : 4, then 62 bits, of nine bytes.
TEST(Presenter, a_bit_field_that_touches_nine_bytes) {
  TestProgram p;
  const Type& type = p.types.structure(
      "packed", 16,
      {{.name = "head", .type = &builtin("unsigned int"), .bit_size = 4},
       {.name = "long_one", .type = &builtin("long"), .bit_offset = 4, .bit_size = 62},
       {.name = "tail", .type = &builtin("long"), .offset = 8, .bit_offset = 2, .bit_size = 62}});
  const uint64_t value = static_cast<uint64_t>(-5);
  const uint64_t words[] = {3 | value << 4, ((value >> 60) & 3) | uint64_t{9} << 2};
  p.put(TestProgram::kGlobals + 32, words);
  p.scope.in_memory("there", type, TestProgram::kGlobals + 32);
  p.machine.registers[8] = words[0];
  p.machine.registers[9] = words[1];
  Place two{.kind = Place::Kind::kPieces};
  two.pieces = {{TestScope::register_place(8), 8}, {TestScope::register_place(9), 8}};
  p.scope.variables.push_back({"here", &type, two, true});
  EXPECT_EQ(shown("there", p), "there={head=3, long_one=-5, tail=9}");
  EXPECT_EQ(shown("here", p), "here={head=3, long_one=-5, tail=9}");
  EXPECT_EQ(shown("there.long_one, here.tail", p), "there.long_one=-5; here.tail=9");
}

// No reader of traces has a character of two bytes.
TEST(Presenter, a_character_that_lies_across_two_bytes_is_a_number) {
  TestProgram p;
  const Type& type = p.types.structure(
      "packed", 8, {{.name = "c", .type = &builtin("unsigned char"), .bit_offset = 7, .bit_size = 8}});
  p.put(TestProgram::kGlobals + 32, uint64_t{'a'} << 7);
  p.scope.in_memory("there", type, TestProgram::kGlobals + 32);
  EXPECT_EQ(shown("there", p), "there={c=97}");
}

TEST(Presenter, numbers_in_pieces) {
  TestProgram p;
  p.machine.registers[8] = 0xaaaaaaaa11223344;
  p.machine.registers[9] = 0xbbbbbbbb55667788;
  Place two{.kind = Place::Kind::kPieces};
  two.pieces = {{TestScope::register_place(8), 4}, {TestScope::register_place(9), 4}};
  p.scope.variables.push_back({"split", &builtin("unsigned long"), two, true});
  p.scope.variables.push_back({"text", &p.types.pointer(builtin("char")), two, true});
  two.pieces = {{TestScope::register_place(8), 8}, {TestScope::register_place(9), 8}};
  const Type& huge = p.types.add({.kind = TypeKind::kInt, .name = "__int128", .size = 16});
  p.scope.variables.push_back({"huge", &huge, two, true});
  EXPECT_EQ(shown("split == 0x5566778811223344, text", p), "split == 0x5566778811223344=1; text=<fault>");
  EXPECT_EQ(shown("huge", p), "huge={[0]=12297829379897176900, [1]=13527612319003473800}");
}

TEST(Presenter, arrays_and_slices) {
  TestProgram p;
  EXPECT_EQ(shown("array", p), "array=[10, -20, 30, 40, 50]");
  EXPECT_EQ(shown("array", p, {.elements = 3}), "array=[10, -20, 30, ...]");
  EXPECT_EQ(shown("numbers[1..3]", p), "numbers[1..3]=[-20, 30]");
  EXPECT_EQ(shown("numbers[0..n]", p), "numbers[0..n]=[10, -20, 30, 40, 50]");
  EXPECT_EQ(shown("numbers[0..n]", p, {.elements = 2}), "numbers[0..n]=[10, -20]...");
  EXPECT_EQ(shown("numbers[n..0]", p), "numbers[n..0]=[]");
  EXPECT_EQ(shown("req->path[1..4]", p), "req->path[1..4]=\"adm\"");
}

TEST(Presenter, structures) {
  TestProgram p;
  const std::string all =
      "{id=-5, flags=5, level=-2, rest=11259375, path=\"/admin\", headers=[{name=\"admin\", "
      "size=100}, {name=\"admin\", size=101}, {name=\"admin\", size=102}, {name=\"admin\", size=103}], "
      "name=\"worker\", state=DONE, "
      "as_int=1075838976, as_float=2.5, next=0x10000, ratio=0.25, data=0x30000}";
  EXPECT_EQ(shown("*req", p), "*req=" + all);
  EXPECT_EQ(shown("copy", p), "copy=" + all);
  EXPECT_EQ(shown("pair", p), "pair={x=1432778632, y=13124, p=0x10000}");
  EXPECT_EQ(shown("req->headers[1]", p), "req->headers[1]={name=\"admin\", size=101}");
  EXPECT_EQ(shown("copy", p, {.bytes = 24}),
            "copy={id=-5, flags=5, level=-2, rest=11259375, path=0x20000, ...=cut}");
  const Type& inner = p.types.structure("inner", 4, {{"x", &builtin("int"), 0}});
  const Type& middle = p.types.structure("middle", 4, {{"inner", &inner, 0}});
  p.scope.in_memory("outer", p.types.structure("outer", 4, {{"middle", &middle, 0}}), TestProgram::kArray);
  EXPECT_EQ(shown("outer", p), "outer={middle={inner={x=10}}}");
  EXPECT_EQ(shown("outer", p, {.depth = 2}), "outer={middle={inner={...}}}");
  p.scope.in_register("held", inner, 0);
  EXPECT_EQ(shown("held", p), "held={x=1432778632}");
}

TEST(Presenter, arrays_in_registers) {
  TestProgram p;
  Place place{.kind = Place::Kind::kPieces};
  place.pieces.push_back({TestScope::register_place(7), 8});
  place.pieces.push_back({TestScope::register_place(6), 4});
  p.scope.variables.push_back({"three", &p.types.array(builtin("int"), 3), place, true});
  p.machine.registers[7] = uint64_t{2} << 32 | 1;
  p.machine.registers[6] = 3;
  EXPECT_EQ(shown("three", p), "three={[0]=1, [1]=2, [2]=3}");
}

TEST(Presenter, room_is_shared_and_what_has_none_says_so) {
  TestProgram p;
  // Who comes first takes what it likes, but leaves some for those behind it.
  EXPECT_EQ(shown("req->path, req->path, n", p, {.bytes = 56}),
            "req->path=\"/admin\"; req->path=\"/admin\"; n=5");
  EXPECT_EQ(shown("req->path, req->path, n", p, {.bytes = 40}), "req->path=...; req->path=\"/admin\"; n=5");
  EXPECT_EQ(shown("*req, n, req->state", p, {.bytes = 48}),
            "*req={id=-5, flags=5, level=-2, rest=11259375, path=0x20000, ...=cut}; n=5; req->state=DONE");
  std::string many = "n";
  for (int i = 0; i < 60; ++i) many += ",n+" + std::to_string(i);
  const HitScopes site{.scope = &p.scope};
  const auto captured = compile_capture(many, site, {});
  ASSERT_TRUE(captured);
  EXPECT_EQ(captured->program.outputs.size(), kMaxOutputs);
  EXPECT_EQ(captured->fields.size(), 61U);
  EXPECT_EQ(captured->fields.back().note, "...");
}

TEST(Presenter, variables_never_fail) {
  TestProgram p;
  const Type untold, nothing{.kind = TypeKind::kStruct, .name = "nothing"};
  p.scope.in_memory("untold", untold, TestProgram::kArray);
  p.scope.in_memory("nothing", nothing, TestProgram::kArray);
  p.scope.variables.push_back({.name = "typeless", .place = {.kind = Place::Kind::kAddress}});
  Type ring{.kind = TypeKind::kTypedef, .name = "ring"};
  ring.target = &ring;
  p.scope.in_memory("ring", ring, TestProgram::kArray);
  Type own_base{.kind = TypeKind::kStruct, .name = "own_base", .size = 8};
  own_base.members = {{.name = "", .type = &own_base, .is_base = true},
                      {.name = "inside", .type = &own_base}};
  p.scope.in_memory("own_base", own_base, TestProgram::kArray);
  const HitScopes site{.scope = &p.scope};
  const auto captured = compile_variables(p.scope.variables, site, {});
  ASSERT_TRUE(captured) << captured.error().message();
  EXPECT_EQ(captured->fields.size(), p.scope.variables.size());
  EXPECT_EQ(
      shown("untold, nothing, typeless, ring", p),
      "untold=<unknown type>; nothing=<incomplete type>; typeless=<optimized out>; ring=<unknown type>");
}

}  // namespace
}  // namespace blip::script
