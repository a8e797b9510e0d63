// SPDX-License-Identifier: MIT
// Tests what C++ adds: scopes of names, base classes, arguments by reference, inlined functions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dwarf/debug_info.h"
#include "dwarf/test_compiled.h"
#include "script/types/type.h"

namespace blip::dwarf {
namespace {

using script::Op;
using script::Place;

constexpr const char* kSource = R"(
extern "C" int puts(const char*);
namespace ns {
int counter = 3;
struct Base { long id; };
struct Derived : Base { int more; static int shared; struct Inner { char c; } inner; };
int Derived::shared = 4;
namespace { struct Nameless { int n; }; }
int work(Derived& d, Nameless* n) { return d.more + n->n + counter; }
int use(Derived& d) { Nameless n{1}; return work(d, &n); }
}
struct Plain { long a, b; };
struct Counted { Counted(const Counted&); ~Counted(); long a; };
struct Defaulted { Defaulted(const Defaulted&) = default; long a; };
struct Holds { Counted inside; };
extern "C" long passes(int first, Counted object, Plain plain, Defaulted trivial, Holds holds, int last) {
  return first + object.a + plain.b + trivial.a + holds.inside.a + last;
}
Counted::Counted(const Counted& from) : a(from.a) {}  // else clang tells only that there is such a type
Counted returned(const Counted& from, int n) { (void)n; return from; }
static inline __attribute__((always_inline)) int tiny(int x) { puts("tiny"); return x + 1; }
extern "C" int calls_tiny(int a, int b) { return tiny(a) * tiny(b); }
)";

struct Sample {
  explicit Sample(const std::string& command) : image(compiled(command, kSource, "cc")) {
    auto opened = DebugInfo::open(
        {.name = "sample.so", .program = image, .debug = {}, .alternate = {}, .may_open = {}});
    if (opened) info = std::make_unique<DebugInfo>(*std::move(opened));
  }
  std::vector<uint8_t> image;
  std::unique_ptr<DebugInfo> info;
};

TEST(DebugInfoCxx, names_in_their_scopes) {
  for (const std::string& command : all_commands("g++", "clang++-14")) {
    SCOPED_TRACE(command);
    Sample sample(command);
    ASSERT_TRUE(sample.info);
    const auto scope = sample.info->scope_at({.pc = address_of(sample.image, "_ZN2ns3useERNS_7DerivedE")});
    EXPECT_TRUE(scope->find("counter"));  // from inside of the namespace
    const auto outside = sample.info->scope_at({.pc = address_of(sample.image, "calls_tiny")});
    EXPECT_FALSE(outside->find("counter"));
    EXPECT_TRUE(outside->find("ns::counter"));
    EXPECT_TRUE(outside->find_in("ns", "counter"));
    EXPECT_TRUE(outside->find("ns::Derived::shared"));
    const script::Type* derived = outside->find_type("ns::Derived");
    ASSERT_TRUE(derived);
    EXPECT_EQ(derived->name, "ns::Derived");
    const auto& members = script::complete(*derived).members;
    ASSERT_EQ(members.size(), 3u);  // without the static one
    EXPECT_TRUE(members[0].is_base);
    EXPECT_EQ(members[2].type->name, "ns::Derived::Inner");
    EXPECT_TRUE(scope->find_type("Derived"));
    EXPECT_TRUE(scope->find_type("Derived::Inner"));
  }
}

TEST(DebugInfoCxx, arguments_that_are_passed_by_reference) {
  for (const std::string& command : all_commands("g++", "clang++-14")) {
    if (command.find("-O0") == std::string::npos) continue;
    SCOPED_TRACE(command);
    Sample sample(command);
    const auto scope = sample.info->scope_at({.pc = address_of(sample.image, "passes"), .is_entry = true});
    const auto p = scope->parameters();
    ASSERT_EQ(p.size(), 6u);
    EXPECT_EQ(p[1].place.kind, Place::Kind::kAddress);  // object: rsi points to it
    EXPECT_EQ(p[1].place.code.nodes.back(), (script::Node{.op = Op::kRegister, .value = 6}));
    ASSERT_EQ(p[2].place.kind, Place::Kind::kPieces);  // plain: rdx and rcx
    EXPECT_EQ(p[2].place.pieces[1].place.code.nodes.back().value, 1u);
    EXPECT_EQ(p[3].place.kind, Place::Kind::kValue);  // trivial: r8
    EXPECT_EQ(p[4].place.kind, Place::Kind::kAddress);
    EXPECT_EQ(p[4].place.code.nodes.back(), (script::Node{.op = Op::kRegister, .value = 9}));
    EXPECT_EQ(p[5].place.kind, Place::Kind::kAddress);  // last: on the stack
  }
}

TEST(DebugInfoCxx, a_result_by_reference_takes_a_register_from_the_arguments) {
  for (const std::string& command : all_commands("g++", "clang++-14")) {
    if (command.find("-O0") == std::string::npos) continue;
    SCOPED_TRACE(command);
    Sample sample(command);
    const FileAddr entry = address_of(sample.image, "_Z8returnedRK7Countedi");
    const auto p = sample.info->scope_at({.pc = entry, .is_entry = true})->parameters();
    ASSERT_EQ(p.size(), 2u);
    if (p[1].place.kind == Place::Kind::kOptimizedOut) {
      EXPECT_EQ(command, "g++ -O0 -gdwarf-4");  // which does not say what is defaulted
      continue;
    }
    EXPECT_EQ(p[1].place.code.nodes.back().value, 2u);  // rdx
  }
}

TEST(DebugInfoCxx, inlined_functions_and_their_scopes) {
  for (const std::string& command : all_commands("g++", "clang++-14")) {
    SCOPED_TRACE(command);
    Sample sample(command);
    const auto instances =
        sample.info->inlined_instances({"tiny", [](std::string_view name) { return name == "tiny"; }});
    ASSERT_EQ(instances.size(), 2u);
    EXPECT_LT(instances[0].pc, instances[1].pc);
    for (const InlinedInstance& instance : instances) {
      EXPECT_EQ(instance.caller, "calls_tiny");
      const auto scope = sample.info->scope_of(instance, {.pc = instance.pc});
      const auto parameters = scope->parameters();
      ASSERT_EQ(parameters.size(), 1u);
      EXPECT_EQ(parameters[0].name, "x");
      EXPECT_TRUE(scope->find("a"));  // of the caller
    }
    // At the entry of the function it is that one's arguments that count.
    const FileAddr entry = address_of(sample.image, "calls_tiny");
    const auto own = sample.info->scope_at({.pc = entry, .is_entry = true})->parameters();
    ASSERT_EQ(own.size(), 2u);
    EXPECT_EQ(own[0].place.code.nodes.back(), (script::Node{.op = Op::kRegister, .value = 7}));
  }
  Sample sample("g++ -O2");
  EXPECT_TRUE(
      sample.info->inlined_instances({"passes", [](std::string_view name) { return name == "passes"; }})
          .empty());
}

constexpr const char* kLocalClasses = R"(
extern "C" int outer(int a) {
  struct Local { int factor; int times(int n, int m) const { return factor * n + m; } };
  Local local{a};
  for (int i = 0; i < 2; ++i) {
    struct Inner { int plus(int k) { return k + 1; } } inner;
    auto lambda = [a](int x, long y) { return a + x + static_cast<int>(y); };
    a = local.times(i, a) + lambda(i, 5) + inner.plus(i);
  }
  return a;
}
)";

TEST(DebugInfoCxx, parameters_of_lambdas_and_of_methods_of_local_classes) {
  for (const std::string& command : {std::string("g++ -O0"), std::string("clang++-14 -O0")}) {
    SCOPED_TRACE(command);
    const auto& image = compiled(command, kLocalClasses, "cc");
    auto info = DebugInfo::open(
        {.name = "sample.so", .program = image, .debug = {}, .alternate = {}, .may_open = {}});
    ASSERT_TRUE(info);
    const auto names = [&](const char* symbol) {
      std::vector<std::string> result;
      const auto scope = info->scope_at({.pc = address_of(image, symbol), .is_entry = true});
      for (const auto& parameter : scope->parameters()) {
        EXPECT_NE(parameter.place.kind, Place::Kind::kOptimizedOut) << parameter.name;
        result.push_back(parameter.name);
      }
      return result;
    };
    EXPECT_THAT(names("_ZZ5outerENK5Local5timesEii"), testing::ElementsAre("this", "n", "m"));
    EXPECT_THAT(names("_ZZ5outerEN5Inner4plusEi"), testing::ElementsAre("this", "k"));
    const bool is_clang = command.starts_with("clang");
    EXPECT_THAT(names(is_clang ? "_ZZ5outerENK3$_0clEil" : "_ZZ5outerENKUlilE_clEil"),
                testing::ElementsAre(testing::_, "x", "y"));
  }
}

}  // namespace
}  // namespace blip::dwarf
