// SPDX-License-Identifier: MIT
// Tests what is found by name and type. tests/values.py asks gdb whether the places hold the right values.
#include "dwarf/debug_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dwarf/test_compiled.h"
#include "script/types/place_text.h"
#include "script/types/type.h"

namespace blip::dwarf {
namespace {

using script::Op;
using script::Place;
using script::Type;
using script::TypeKind;
using testing::ElementsAre;

constexpr const char* kSource = R"(
enum color { RED, GREEN = 7, BLUE = -2 };
struct point { int x, y; };
struct bits { unsigned a : 3; int b : 5; unsigned long long c : 40; unsigned d : 20; };
struct node { struct node* next; union { int number; float real; }; char name[16]; int table[2][3]; };
typedef struct node node_t;
struct hidden;
int global_counter = 17;
static long file_static = 4711;
__thread int thread_counter = 99;
int f(struct point p, node_t* list, enum color hue, struct bits* bits, int (*call)(int), struct hidden* h) {
  static int calls = 5;
  int sum = p.x + list->number + hue + bits->b + call(3);
  file_static += ++calls;
  thread_counter += sum;
  return sum + (h != 0);
}
unsigned long g(unsigned long n) { return n + file_static; }
)";

class Sample {
 public:
  Sample(const std::string& command, const char* source, const std::string& suffix = "c")
      : image(compiled(command, source, suffix)) {
    auto opened = DebugInfo::open(
        {.name = "sample.so", .program = image, .debug = {}, .alternate = {}, .may_open = {}});
    if (opened) info = std::make_unique<DebugInfo>(*std::move(opened));
  }
  std::unique_ptr<script::Scope> at(std::string_view function, bool is_entry = true, uint64_t bias = 0) {
    return info->scope_at({.pc = address_of(image, function), .is_entry = is_entry, .load_bias = bias});
  }

  std::vector<uint8_t> image;
  std::unique_ptr<DebugInfo> info;
};

std::vector<std::string> described(const std::vector<script::Variable>& variables) {
  std::vector<std::string> result;
  for (const auto& v : variables) result.push_back(v.name + ": " + to_string(*v.type));
  return result;
}

const script::Member* member(const Type& type, std::string_view name) {
  for (const auto& m : script::resolve(type).members)
    if (m.name == name) return &m;
  return nullptr;
}

TEST(DebugInfo, parameters_and_types_by_every_compiler) {
  for (const std::string& command : all_commands("gcc", "clang-14")) {
    SCOPED_TRACE(command);
    Sample sample(command, kSource);
    ASSERT_TRUE(sample.info);
    const auto scope = sample.at("f");
    EXPECT_THAT(described(scope->parameters()),
                ElementsAre("p: struct point", "list: node_t *", "hue: enum color", "bits: struct bits *",
                            "call: int () *", "h: struct hidden *"));
    ASSERT_TRUE(scope->result_type());
    EXPECT_EQ(to_string(*scope->result_type()), "int");
    EXPECT_EQ(scope->what_is_missing(), "");
  }
}

TEST(DebugInfo, members_and_bit_fields) {
  for (const std::string& command : all_commands("gcc", "clang-14")) {
    SCOPED_TRACE(command);
    Sample sample(command, kSource);
    const auto scope = sample.at("f");
    const Type* bits = scope->find_type("struct bits");
    ASSERT_TRUE(bits);
    const auto* c = member(*bits, "c");
    const auto* d = member(*bits, "d");
    ASSERT_TRUE(c && d);
    EXPECT_EQ(c->offset * 8 + c->bit_offset, 8u);
    EXPECT_EQ(c->bit_size, 40);
    EXPECT_EQ(d->offset * 8 + d->bit_offset, 64u);
    const Type* node = scope->find_type("node_t");
    ASSERT_TRUE(node);
    EXPECT_EQ(script::resolve(*node).size, 56u);
    ASSERT_EQ(script::resolve(*node).members.size(), 4u);
    EXPECT_EQ(script::resolve(*node).members[1].name, "");
    EXPECT_EQ(to_string(*member(*node, "next")->type), "struct node *");
    EXPECT_EQ(to_string(*member(*node, "name")->type), "char [16]");
    const Type& table = script::complete(*member(*node, "table")->type);
    EXPECT_EQ(table.count, 2u);
    EXPECT_EQ(table.size, 24u);
    EXPECT_EQ(script::complete(*table.target).count, 3u);
    const Type* color = scope->find_type("enum color");
    ASSERT_TRUE(color);
    ASSERT_EQ(script::complete(*color).enumerators.size(), 3u);
    EXPECT_EQ(color->enumerators[2].value, -2);
    EXPECT_TRUE(color->is_signed);
  }
}

TEST(DebugInfo, types_by_any_spelling) {
  Sample sample("gcc -O0", kSource);
  const auto scope = sample.at("g");
  for (const char* name : {"unsigned long", "long unsigned int", "unsigned long int"})
    EXPECT_TRUE(scope->find_type(name)) << name;
  EXPECT_TRUE(scope->find_type("point"));
  EXPECT_FALSE(scope->find_type("union point"));
  EXPECT_FALSE(scope->find_type("no_such"));
}

TEST(DebugInfo, variables_of_the_unit_and_of_the_file) {
  constexpr uint64_t kBias = 0x7f0000000000;
  Sample sample("gcc -O0", kSource);
  const auto scope = sample.at("g", false, kBias);
  for (const auto& found : {scope->find("file_static"), scope->find_in("sample.c", "file_static"),
                            scope->find_in("sample.so", "file_static")}) {
    ASSERT_TRUE(found);
    EXPECT_EQ(found->place.kind, Place::Kind::kAddress);
    EXPECT_EQ(found->place.code.nodes.back().value, address_of(sample.image, "file_static").value + kBias);
    EXPECT_EQ(to_string(*found->type).find("long"), 0u);
  }
  EXPECT_FALSE(scope->find_in("other.c", "file_static"));
  EXPECT_FALSE(scope->find("calls"));  // another function's
  EXPECT_TRUE(sample.at("f", false)->find("calls"));
  const auto thread_local_one = scope->find("thread_counter");
  ASSERT_TRUE(thread_local_one);
  EXPECT_EQ(thread_local_one->place.kind, Place::Kind::kOptimizedOut);  // where is not known
}

// -O0 tells places that the prologue has yet to fill.
TEST(DebugInfo, arguments_at_the_entry_are_where_the_caller_put_them) {
  for (const std::string& command : all_commands("gcc", "clang-14")) {
    SCOPED_TRACE(command);
    Sample sample(command, kSource);
    const auto parameters = sample.at("f")->parameters();
    const uint64_t registers[] = {7, 6, 2, 1, 8, 9};
    ASSERT_EQ(parameters.size(), std::size(registers));
    for (size_t i = 0; i < std::size(registers); ++i) {
      const Place* place = &parameters[i].place;
      if (place->kind == Place::Kind::kPieces) place = &place->pieces[0].place;
      if (i == 0 && command.starts_with("clang-14 -O2")) continue;  // which does not tell where p.x is
      ASSERT_EQ(place->kind, Place::Kind::kValue) << parameters[i].name;
      EXPECT_EQ(place->code.nodes.back().op, Op::kRegister);
      EXPECT_EQ(place->code.nodes.back().value, registers[i]) << parameters[i].name;
    }
    if (command.find("-O0") == std::string::npos) continue;
    for (const auto& local : sample.at("f")->locals())
      EXPECT_EQ(local.place.kind == Place::Kind::kOptimizedOut, local.name == "sum") << local.name;
  }
}

TEST(DebugInfo, code_and_files_without_any) {
  Sample sample("gcc -O0", kSource);
  const auto scope = sample.info->scope_at({.pc = FileAddr(1)});
  EXPECT_TRUE(scope->parameters().empty());
  EXPECT_EQ(scope->result_type(), nullptr);
  EXPECT_NE(scope->what_is_missing(), "");
  EXPECT_TRUE(scope->find("global_counter"));
  const auto stripped = compiled("gcc -s", "int f;");
  EXPECT_FALSE(
      DebugInfo::open({.name = "", .program = stripped, .debug = {}, .alternate = {}, .may_open = {}}));
}

constexpr const char* kByValue = R"(
struct vec3 { float x, y, z; };
float scale(struct vec3 v, float k, short unused) {
  float sum = 0;
  for (int i = 0; i < (int)k; ++i) { sum += v.x * k + v.y + v.z; v.y += 1; }
  return sum;
}
double magnitude(double _Complex c) { return __real__ c * __real__ c + __imag__ c; }
long wide(__int128 w) { return (long)(w >> 64) ^ (long)w; }
static __attribute__((noinline)) long copied(struct vec3 v, long n, long* p) { return (long)v.y + *p; }
long calls(long n) { struct vec3 v = {n, n + 1, n + 2}; return copied(v, 5, &n) + copied(v, n, &n); }
)";

std::string place_of(const std::vector<script::Variable>& variables, std::string_view name) {
  for (const auto& v : variables)
    if (v.name == name) return script::place_text(v.place);
  return "none";
}

TEST(DebugInfo, arguments_at_the_entry_by_the_convention) {
  for (const std::string compiler : {"gcc", "clang-14"})
    for (const char* level : {" -O0", " -Og", " -O1", " -O2", " -O3"}) {
      SCOPED_TRACE(compiler + level);
      Sample sample(compiler + level, kByValue);
      ASSERT_TRUE(sample.info);
      const auto scale = sample.at("scale")->parameters();
      EXPECT_EQ(place_of(scale, "v"), "8 bytes xmm0, 4 bytes xmm1");
      EXPECT_EQ(place_of(scale, "k"), "xmm2");
      EXPECT_EQ(place_of(sample.at("magnitude")->parameters(), "c"), "8 bytes xmm0, 8 bytes xmm1");
      EXPECT_EQ(place_of(sample.at("wide")->parameters(), "w"), "8 bytes rdi, 8 bytes rsi");
      // gcc's callers load it whether it is used or not.
      EXPECT_TRUE(compiler != "gcc" || place_of(scale, "unused") == "rdi");
    }
}

// gcc makes a copy of the local function that gets what it uses: no parameter is where the convention has it.
TEST(DebugInfo, no_convention_for_changed_copies) {
  for (const char* suffix : {".isra.0", ".constprop.0", ".constprop.0.isra.0"})
    for (const char* level : {"gcc -O2", "gcc -O3"}) {
      Sample sample(level, kByValue);
      ASSERT_TRUE(sample.info);
      const std::string name = std::string("copied") + suffix;
      if (address_of(sample.image, name).value == 0) continue;
      const auto parameters = sample.at(name)->parameters();
      EXPECT_EQ(place_of(parameters, "n"), "not told at the entry");
    }
}

// clang tells places by rsp as it is in the middle of a function, for all of it.
TEST(DebugInfo, arguments_in_memory_from_the_first_instruction_to_the_last) {
  constexpr const char* kInMemory = R"(
struct three { long a, b, c; };
void use(const void*);
long in_memory(long a, struct three s, long b) { long v[40]; v[0] = s.b; use(v); use(&s); return a + b; }
)";
  for (const std::string compiler : {"gcc", "clang-14"})
    for (const char* level : {" -O0", " -Og", " -O1", " -O2", " -O2 -fno-omit-frame-pointer"}) {
      SCOPED_TRACE(compiler + level);
      Sample sample(compiler + level, kInMemory);
      ASSERT_TRUE(sample.info);
      EXPECT_EQ(place_of(sample.at("in_memory")->parameters(), "s"), "stack [rsp+0x8]");
      EXPECT_EQ(place_of(sample.at("in_memory")->locals(), "v"), "not set yet");
      const FileAddr last = FileAddr(end_of(sample.image, "in_memory").value - 1);
      const auto end = sample.info->scope_at({.pc = last});  // ret
      EXPECT_EQ(place_of(end->parameters(), "s"), "stack [rsp+0x8]");
      EXPECT_EQ(place_of(end->locals(), "v"), "its frame is gone");
    }
}

// Two files with a static variable of one name, of which one is never read.
TEST(DebugInfo, a_static_that_is_optimized_out_is_not_that_of_another_file) {
  const std::string other = testing::TempDir() + "other.c";
  std::ofstream(other) << "static int level = 77; static int only_there = 5; int shared_level = 9;\n"
                          "int g(void) { return level++ + only_there++; }\n";
  for (const std::string compiler : {"gcc", "clang-14"}) {
    SCOPED_TRACE(compiler);
    Sample sample(compiler + " -O2 -gdwarf-5 " + other,
                  "static int level; int f(int n) { level = n; return n; }");
    ASSERT_TRUE(sample.info);
    const auto f = sample.at("f");
    const auto level = f->find("level");
    EXPECT_TRUE(!level || level->place.kind == Place::Kind::kOptimizedOut);
    EXPECT_TRUE(level || compiler != "gcc");
    const auto named = f->find_in("other.c", "level");
    ASSERT_TRUE(named);
    EXPECT_EQ(named->place.kind, Place::Kind::kAddress);
    EXPECT_FALSE(f->find("only_there"));
    EXPECT_THAT(f->files_with("only_there"), ElementsAre("other.c"));
    EXPECT_TRUE(f->find("shared_level"));
    EXPECT_EQ(sample.at("g")->find("level")->place.kind, Place::Kind::kAddress);
  }
}

}  // namespace
}  // namespace blip::dwarf
