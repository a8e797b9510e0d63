// SPDX-License-Identifier: MIT
#include "elf/function_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "elf/demangle.h"
#include "elf/elf_file.h"

namespace blip::elf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<Function> named(const std::vector<std::string_view>& names) {
  std::vector<Function> functions;
  for (std::string_view name : names) functions.push_back({.name = name, .addr = FileAddr(functions.size())});
  return functions;
}

FunctionMatcher matcher_of(const std::string& text) {
  Spec spec;
  spec.name = text;
  return FunctionMatcher(spec);
}

std::vector<const Function*> scan(std::span<const Function> functions, const FunctionMatcher& matcher) {
  std::vector<const Function*> found;
  for (const Function& f : functions)
    if (matcher.matches(f)) found.push_back(&f);
  return found;
}

std::vector<std::string_view> names(std::span<const Function* const> functions) {
  std::vector<std::string_view> result;
  for (const Function* f : functions) result.push_back(f->name);
  return result;
}

const std::vector<std::string> kAsked = {
    "parse",       "pars",      "main",           "operator new",   "operator delete(void*)",
    "ns::parse",   "v8::parse", "ns::parse(int)", "_ZN2v85parseEv", "mycrate::foo",
    "mycrate::_x", "no::such"};

TEST(FunctionIndex, plain_names) {
  const auto functions = named({"parse", "parser", "parse", "main"});
  FunctionIndex index(functions, kAsked);
  EXPECT_THAT(index.matching(matcher_of("parse")), ElementsAre(&functions[0], &functions[2]));
  EXPECT_THAT(names(index.matching(matcher_of("main"))), ElementsAre("main"));
  EXPECT_THAT(index.matching(matcher_of("pars")), IsEmpty());
  EXPECT_THAT(names(index.matching(matcher_of("parser"))), ElementsAre("parser")) << "asked for later";
}

TEST(FunctionIndex, mangled_names_without_a_word) {
  const auto functions = named({"_Znwm", "_ZdlPv", "_ZN2ns5parseEv"});
  FunctionIndex index(functions, kAsked);
  EXPECT_THAT(names(index.matching(matcher_of("operator new"))), ElementsAre("_Znwm"));
  EXPECT_THAT(names(index.matching(matcher_of("operator delete(void*)"))), ElementsAre("_ZdlPv"));
}

TEST(FunctionIndex, demangled_names) {
  const auto functions = named({"_ZN2ns5parseEv", "_ZN2ns5parseEi", "_ZN2v85parseEv", "_ZN2ns6parse2Ev",
                                "parse", "_ZN3foo17h0123456789abcdefE", "_RNvCs1234_7mycrate3foo"});
  FunctionIndex index(functions, kAsked);
  EXPECT_THAT(names(index.matching(matcher_of("ns::parse"))),
              ElementsAre("_ZN2ns5parseEv", "_ZN2ns5parseEi"));
  EXPECT_THAT(names(index.matching(matcher_of("ns::parse(int)"))), ElementsAre("_ZN2ns5parseEi"));
  EXPECT_THAT(names(index.matching(matcher_of("v8::parse"))), ElementsAre("_ZN2v85parseEv"));
  EXPECT_THAT(names(index.matching(matcher_of("_ZN2v85parseEv"))), ElementsAre("_ZN2v85parseEv"));
  EXPECT_THAT(names(index.matching(matcher_of("mycrate::foo"))), ElementsAre("_RNvCs1234_7mycrate3foo"));
}

TEST(FunctionIndex, underscores_of_rust) {
  const auto functions = named({"_RNvCs1234_7mycrate2__x"});
  FunctionIndex index(functions, kAsked);
  EXPECT_THAT(index.matching(matcher_of("mycrate::_x")), ElementsAre(&functions[0]));
}

// Every way to spell every name of a C++ program with templates, lambdas, thunks and operators: this test.
TEST(FunctionIndex, finds_what_a_scan_finds) {
  const auto file = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(file);
  const auto symbols = SymbolTable::load(*file);
  ASSERT_TRUE(symbols);
  const auto functions = symbols->functions();
  ASSERT_GT(functions.size(), 1000u);
  std::vector<std::pair<std::string, const Function*>> asked;
  const size_t step = functions.size() / 300;
  for (size_t i = 0; i < functions.size(); i += step) {
    const std::string demangled = demangle(functions[i].name);
    for (const std::string& text :
         std::set<std::string>{std::string(functions[i].name), demangled, without_parameters(demangled)})
      asked.emplace_back(text, &functions[i]);
  }
  std::vector<std::string> texts;
  for (const auto& [text, function] : asked) texts.push_back(text);
  FunctionIndex index(functions, texts);
  for (const auto& [text, function] : asked) {
    const FunctionMatcher matcher = matcher_of(text);
    const auto found = index.matching(matcher);
    EXPECT_TRUE(std::ranges::equal(found, scan(functions, matcher))) << text;
    EXPECT_THAT(found, testing::Contains(function)) << text;
  }
}

}  // namespace
}  // namespace blip::elf
