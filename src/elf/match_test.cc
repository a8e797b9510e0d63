// SPDX-License-Identifier: MIT
#include "elf/match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "elf/demangle.h"

namespace blip::elf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Function named(std::string_view name) {
  Function function;
  function.name = name;
  function.is_cold = name.ends_with(".cold");
  return function;
}

bool matches(const char* spec, std::string_view name) {
  return FunctionMatcher(parse_spec(spec).value()).matches(named(name));
}

TEST(GlobMatch, wildcards) {
  EXPECT_TRUE(glob_match("", ""));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("*", "a::b(c)"));
  EXPECT_TRUE(glob_match("a*c", "abbbc"));
  EXPECT_TRUE(glob_match("*b*", "abc"));
  EXPECT_TRUE(glob_match("a?c", "abc"));
  EXPECT_TRUE(glob_match("a**", "a"));
  EXPECT_FALSE(glob_match("a?c", "ac"));
  EXPECT_FALSE(glob_match("a*c", "abcd"));
  EXPECT_FALSE(glob_match("", "a"));
  EXPECT_FALSE(glob_match("a", ""));
  EXPECT_TRUE(glob_match("/usr/*", "/usr/lib/x"));
  EXPECT_TRUE(glob_match("*", ".hidden"));
}

TEST(GlobMatch, classes) {
  EXPECT_TRUE(glob_match("[a-c]x", "bx"));
  EXPECT_FALSE(glob_match("[a-c]x", "dx"));
  EXPECT_TRUE(glob_match("[!a-c]x", "dx"));
  EXPECT_TRUE(glob_match("[^a-c]x", "dx"));
  EXPECT_FALSE(glob_match("[!a-c]x", "ax"));
  EXPECT_TRUE(glob_match("[]]", "]"));
  EXPECT_TRUE(glob_match("[a-]", "-"));
  EXPECT_TRUE(glob_match("operator[]", "operator[]"));
  EXPECT_TRUE(glob_match("*[abi:cxx11]*", "f[abi:cxx11](int)"));
  EXPECT_TRUE(glob_match("a[", "a["));
  EXPECT_TRUE(glob_match("[!]", "[!]"));
  EXPECT_TRUE(glob_match("\\*", "*"));
  EXPECT_FALSE(glob_match("\\*", "a"));
  EXPECT_TRUE(glob_match("\\", "\\"));
}

TEST(GlobMatch, many_stars_do_not_explode) {
  std::string pattern, text(2000, 'a');
  for (int i = 0; i < 200; ++i) pattern += "a*";
  EXPECT_FALSE(glob_match(pattern + "b", text));
  EXPECT_TRUE(glob_match(pattern, text));
}

TEST(FunctionMatcher, rust_names) {
  constexpr const char* kLegacy = "_ZN10rust_calls4shop4Cart3put17hf32ea2ad82abb82aE";
  EXPECT_TRUE(matches("rust_calls::shop::Cart::put", kLegacy));
  EXPECT_TRUE(matches("rust_calls::shop::Cart::put::hf32ea2ad82abb82a", kLegacy));
  EXPECT_TRUE(matches("*::Cart::put::hf32*", kLegacy));
  EXPECT_TRUE(matches("*::put", kLegacy));
  EXPECT_FALSE(matches("rust_calls::shop::Cart::put::h0000000000000000", kLegacy));
  constexpr const char* kMethod = "_RNvMNtCs34t5p5i6sZb_10rust_calls4shopNtB2_4Cart3put";
  EXPECT_TRUE(matches("<rust_calls::shop::Cart>::put", kMethod));
  EXPECT_TRUE(matches("rust_calls::shop::Cart::put", kMethod));
  EXPECT_TRUE(matches("rust_calls::*put", kMethod));
  EXPECT_FALSE(matches("rust_calls::shop::Cart::get", kMethod));
  constexpr const char* kGeneric = "_RINvNtCs34t5p5i6sZb_10rust_calls4shop7largestyEB4_";
  EXPECT_TRUE(matches("rust_calls::shop::largest::<u64>", kGeneric));
  EXPECT_TRUE(matches("rust_calls::shop::largest", kGeneric));
  EXPECT_TRUE(matches("*largest*u64*", kGeneric));
  EXPECT_TRUE(matches("_underscore::_f", "_RNvC11__underscore2__f")) << demangle("_RNvC11__underscore2__f");
}

TEST(FunctionMatcher, exact_names) {
  EXPECT_TRUE(matches("main", "main"));
  EXPECT_FALSE(matches("main", "main2"));
  EXPECT_TRUE(matches("_ZN2ns1fEi", "_ZN2ns1fEi"));
  EXPECT_TRUE(matches("ns::f", "_ZN2ns1fEi"));
  EXPECT_TRUE(matches("::ns::f", "_ZN2ns1fEi"));
  EXPECT_TRUE(matches("ns::f(int)", "_ZN2ns1fEi"));
  EXPECT_FALSE(matches("ns::f(long)", "_ZN2ns1fEi"));
  EXPECT_FALSE(matches("f", "_ZN2ns1fEi"));
  EXPECT_FALSE(matches("ns::f", "_ZN2ns1fEi.cold"));
  EXPECT_TRUE(matches("core::fmt::Write::write_fmt", "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"));
}

// The filter must not hide what the demangler would show.
TEST(FunctionMatcher, every_spelling_of_real_names_matches) {
  for (const char* mangled : {"_ZNSt6vectorIiSaIiEE9push_backEOi",
                              "_ZNSsC1Ev",
                              "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc",
                              "_ZNSolsEi",
                              "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
                              "_Znwm",
                              "_ZdlPv",
                              "_ZN1AcvbEv",
                              "_ZN1AclEi",
                              "_ZN1AixEm",
                              "_ZN1AD2Ev",
                              "_ZN12_GLOBAL__N_11fEv",
                              "_ZZ4mainENKUliE_clEi",
                              "_ZThn8_N1A1fEv",
                              "_ZN2ns7name_ofB5cxx11Ei",
                              "_Z1fIiEvT_",
                              "_ZplRK1AS1_",
                              "_ZN2ns4initEv",
                              "_ZN2ns4typeEv",
                              "_ZNSaIcEC1Ev",
                              "_ZNKSt8functionIFvvEEclEv",
                              "_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17h0123456789abcdefE",
                              "_ZN42_$LT$$RF$T$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE"}) {
    std::string full = demangle(mangled);
    ASSERT_NE(full, mangled);
    for (const std::string& spelling : {full, without_parameters(full)}) {
      Spec exact, glob;
      exact.name = spelling;
      glob.kind = SpecKind::kGlob;
      EXPECT_TRUE(FunctionMatcher(exact).matches(named(mangled))) << spelling;
      for (size_t cut = 0; cut <= spelling.size(); ++cut) {
        if (spelling.find('[') != std::string::npos) continue;
        glob.name = spelling.substr(0, cut) + "*";
        EXPECT_TRUE(FunctionMatcher(glob).matches(named(mangled))) << glob.name;
        glob.name = "*" + spelling.substr(cut);
        EXPECT_TRUE(FunctionMatcher(glob).matches(named(mangled))) << glob.name;
        glob.name = spelling.substr(0, cut) + "?" + (cut < spelling.size() ? spelling.substr(cut + 1) : "");
        EXPECT_EQ(FunctionMatcher(glob).matches(named(mangled)), cut < spelling.size()) << glob.name;
      }
    }
  }
}

TEST(FunctionMatcher, unqualified_names) {
  const auto in_any_scope = [](const char* spec, const char* name) {
    return FunctionMatcher(*parse_spec(spec), Scopes::kAny).matches(named(name));
  };
  for (const char* spec : {"handle", "Service::handle", "shop::Service::handle"})
    EXPECT_TRUE(in_any_scope(spec, "_ZN4shop7Service6handleEi")) << spec;
  EXPECT_TRUE(in_any_scope("handle", "_ZN4shop6handleIiEEvT_"));  // void shop::handle<int>(int)
  EXPECT_TRUE(in_any_scope("handle", "handle"));
  EXPECT_FALSE(in_any_scope("andle", "_ZN4shop7Service6handleEi"));
  EXPECT_FALSE(in_any_scope("Service", "_ZN4shop7Service6handleEi"));
  EXPECT_FALSE(
      in_any_scope("handle", "_ZNK4shop1ScvNS_6handleEEv"));  // shop::S::operator shop::handle() const
  EXPECT_FALSE(FunctionMatcher(*parse_spec("handle")).matches(named("_ZN4shop7Service6handleEi")));
}

TEST(FunctionMatcher, lambdas_of_const_methods) {
  EXPECT_TRUE(matches("A::f(int) const::{lambda(int)#1}::operator()", "_ZZNK1A1fEiENKUliE_clEi"));
}

TEST(FunctionMatcher, names_that_contain_the_word_operator) {
  EXPECT_TRUE(matches("ns::is_operator", "_ZN2ns11is_operatorEv"));
  EXPECT_TRUE(matches("ns::operators::add", "_ZN2ns9operators3addEv"));
  EXPECT_TRUE(
      FunctionMatcher(*parse_spec("is_operator"), Scopes::kAny).matches(named("_ZN2ns11is_operatorEv")));
}

TEST(FunctionMatcher, globs) {
  EXPECT_TRUE(matches("parse_*", "parse_line"));
  EXPECT_FALSE(matches("parse_*", "reparse_line"));
  EXPECT_TRUE(matches("ns::*", "_ZN2ns1fEi"));
  EXPECT_TRUE(matches("*::f", "_ZN2ns1fEi"));
  EXPECT_TRUE(matches("ns::f(*)", "_ZN2ns1fEi"));
  EXPECT_FALSE(matches("ns2::*", "_ZN2ns1fEi"));
  EXPECT_TRUE(matches("*", "anything"));
}

TEST(FunctionMatcher, globs_leave_out_cold_parts) {
  EXPECT_FALSE(matches("parse_*", "parse_line.cold"));
  EXPECT_TRUE(matches("parse_line.cold", "parse_line.cold"));
}

TEST(FunctionMatcher, is_quick_on_large_tables) {
  std::vector<std::string> names;
  for (int i = 0; i < 200000; ++i) {
    std::string id = "function_number_" + std::to_string(i);
    names.push_back("_ZN8software5layer" + std::to_string(id.size()) + id + "ERKSsPNS_5ThingE");
  }
  FunctionMatcher exact(parse_spec("software::layer::function_number_777").value());
  FunctionMatcher glob(parse_spec("software::layer::*_7777*").value());
  auto begin = std::chrono::steady_clock::now();
  int exact_count = 0, glob_count = 0;
  for (const std::string& name : names) {
    exact_count += exact.matches(named(name));
    glob_count += glob.matches(named(name));
  }
  auto taken = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(exact_count, 1);
  EXPECT_EQ(glob_count, 11);
  EXPECT_LT(taken, std::chrono::seconds(2));  // some 30 ms; demangling all of them takes longer than this
}

TEST(ModuleMatches, with_and_without_suffixes) {
  for (const char* pattern :
       {"libz", "libz.so", "libz.so.1", "libz.so.1.2", "libz.so.1.2.13", "*", "libz*", "lib?", "*.so.1"})
    EXPECT_TRUE(module_matches(pattern, "libz.so.1.2.13")) << pattern;
  for (const char* pattern : {"lib", "libz.s", "libz.so.", "libz.so.2", "libz.so.1.2.13.4", "z", ""})
    EXPECT_FALSE(module_matches(pattern, "libz.so.1.2.13")) << pattern;
  EXPECT_TRUE(module_matches("python3.11", "python3.11"));
  EXPECT_FALSE(module_matches("python3", "python3.11"));
  EXPECT_TRUE(module_matches("libstdc++", "libstdc++.so.6.0.30"));
  EXPECT_TRUE(module_matches("_ssl.cpython-311", "_ssl.cpython-311.so"));
  EXPECT_TRUE(module_matches("lib.sofa", "lib.sofa.so.1"));
}

TEST(Suggest, near_names_first) {
  std::vector<Function> functions = {
      named("parse_line"), named("parse_lines"),          named("print"),
      named("main"),       named("_ZN2ns10parse_lineEi"), named("parse_line.cold")};
  EXPECT_THAT(suggest("prase_line", functions), ElementsAre("parse_line", "ns::parse_line", "parse_lines"));
  EXPECT_THAT(suggest("prase_line", functions, 1), ElementsAre("parse_line"));
  EXPECT_THAT(suggest("parse", functions), ElementsAre("parse_line", "parse_lines", "ns::parse_line"));
  EXPECT_THAT(suggest("Main", functions), ElementsAre("main"));
  EXPECT_THAT(suggest("mian", functions), ElementsAre("main"));
  EXPECT_THAT(suggest("quite_different", functions), IsEmpty());
  EXPECT_THAT(suggest("", functions), IsEmpty());
}

TEST(Clones, of_a_function_are_that_function) {
  const auto means = [](const char* spec, const char* name) {
    return FunctionMatcher(*parse_spec(spec), Scopes::kAsWritten, Clones::kAlso).matches({.name = name});
  };
  for (const char* name :
       {"f", "f.constprop.0", "f.isra.12", "f.isra.0.constprop.1", "f.lto_priv.3", "f.llvm.12345"})
    EXPECT_TRUE(means("f", name)) << name;
  for (const char* name :
       {"f.part.0", "f.cold", "f.cold.1", "f.part.0.constprop.0", "f.constprop.0.cold", "f.v2", "f.constprop",
        "f.isra.x", ".constprop.0", "ff.constprop.0", "f..constprop.0"})
    EXPECT_FALSE(means("f", name)) << name;
  EXPECT_TRUE(means("ns::f", "_ZN2ns1fEi.constprop.0"));
  EXPECT_TRUE(means("ns::f(int)", "_ZN2ns1fEi.isra.0"));
  EXPECT_TRUE(means("f.constprop.0", "f.constprop.0"));
  EXPECT_FALSE(means("f.constprop.0", "f"));
  EXPECT_FALSE(means("f?", "f.isra.0"));
  EXPECT_FALSE(FunctionMatcher(*parse_spec("f")).matches({.name = "f.isra.0"}));
}

}  // namespace
}  // namespace blip::elf
