// SPDX-License-Identifier: MIT
#include "elf/demangle.h"

#include <gtest/gtest.h>

namespace blip::elf {
namespace {

struct Case {
  const char* given;
  const char* expected;
};

const Case kDemangled[] = {
    {"main", "main"},
    {"", ""},
    {"_Z", "_Z"},
    {"_Zgarbage", "_Zgarbage"},
    {"_ZN2ns1fEi", "ns::f(int)"},
    {"_ZN2ns1fEi.cold", "ns::f(int) [clone .cold]"},
    {"_ZN2ns1fEi.llvm.1234", "ns::f(int)"},
    {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
    {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE.llvm.77", "core::fmt::Write::write_fmt"},
    {"_ZN4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "main::{{closure}}"},
    {"_ZN42_$LT$$RF$T$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE",
     "<&T as core::fmt::Debug>::fmt"},
    {"_RNvC6_123foo3bar", "123foo::bar"},
    {"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
    {"_RINvNtC3std3mem8align_ofjdE", "std::mem::align_of::<usize, f64>"},
    {"_RNCNvC7mycrate4main0B3_", "mycrate::main::{closure#0}"},
    {"_R", "_R"},
    {"_Register", "_Register"},
    {"_RNvgarbage", "_RNvgarbage"},
};

TEST(Demangle, names) {
  for (const Case& test : kDemangled) EXPECT_EQ(demangle(test.given), test.expected) << test.given;
}

TEST(Demangle, with_the_hash_of_rusts_legacy_names) {
  EXPECT_EQ(demangle_with_hash("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"),
            "core::fmt::Write::write_fmt::h0123456789abcdef");
  EXPECT_EQ(demangle_with_hash("_ZN2ns1fEi"), std::nullopt);
  EXPECT_EQ(demangle_with_hash("_RNvCs1234_7mycrate3foo"), std::nullopt);
  EXPECT_EQ(demangle_with_hash("main"), std::nullopt);
}

TEST(Demangle, leaves_absurdly_long_names_alone) {
  std::string name = "_Z1f" + std::string(100000, 'i');
  EXPECT_EQ(demangle(name), name);
}

const Case kWithoutGenerics[] = {
    {"shop::price", "shop::price"},
    {"shop::largest::<u64>", "shop::largest"},
    {"<shop::Cart>::put", "shop::Cart::put"},
    {"<shop::Cart<u8>>::put::<fn(u8) -> u8>::inner", "shop::Cart<u8>::put::inner"},
    {"<u8 as core::clone::Clone>::clone", "<u8 as core::clone::Clone>::clone"},
    {"<alloc::vec::Vec<u8> as core::ops::Drop>::drop::<u8>",
     "<alloc::vec::Vec<u8> as core::ops::Drop>::drop"},
    {"shop::main::{closure#0}", "shop::main::{closure#0}"},
    {"<", "<"},
    {"<a", "<a"},
    {"a::<", "a"},
    {">", ">"},
    {"", ""},
};

TEST(WithoutRustGenerics, leaves_the_path) {
  for (const Case& test : kWithoutGenerics)
    EXPECT_EQ(without_rust_generics(test.given), test.expected) << test.given;
}

const Case kShort[] = {
    {"main", "main"},
    {"", ""},
    {"ns::f(int)", "ns::f"},
    {"ns::f(int, char const*) const", "ns::f"},
    {"A::f() const &", "A::f"},
    {"A::f() volatile &&", "A::f"},
    {"A::A(A const&)", "A::A"},
    {"A::~A()", "A::~A"},
    {"void ns::f<int>(int)", "ns::f<int>"},
    {"unsigned long ns::f<std::pair<int, int> >(char const*) const", "ns::f<std::pair<int, int> >"},
    {"std::vector<int, std::allocator<int> > f<int>(int)", "f<int>"},
    {"void (*f<int>(int))(char)", "f<int>"},
    {"A::operator()(int) const", "A::operator()"},
    {"A::operator()", "A::operator()"},
    {"A::operator[](unsigned long)", "A::operator[]"},
    {"A::operator bool() const", "A::operator bool"},
    {"A::operator unsigned long() const", "A::operator unsigned long"},
    {"A::operator->() const", "A::operator->"},
    {"bool operator< <int>(A<int> const&, A<int> const&)", "operator< <int>"},
    {"std::ostream& operator<< <int>(std::ostream&, A<int>)", "operator<< <int>"},
    {"operator<=>(A, B)", "operator<=>"},
    {"operator new(unsigned long)", "operator new"},
    {"operator delete[](void*)", "operator delete[]"},
    {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
    {"void (anonymous namespace)::f<int>(int)", "(anonymous namespace)::f<int>"},
    {"main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"},
    {"A::f(int) const::{lambda()#1}::operator()() const", "A::f(int) const::{lambda()#1}::operator()"},
    {"A::f() const::B::g()", "A::f() const::B::g"},
    {"decltype (x+y) add<int, long>(int, long)", "add<int, long>"},
    {"std::enable_if<((sizeof (int))>(4)), void>::type f<int>(int)", "f<int>"},
    {"ns::name_of[abi:cxx11](int)", "ns::name_of"},
    {"ns::f(int) [clone .part.0]", "ns::f [clone .part.0]"},
    {"virtual thunk to A::f(int)", "virtual thunk to A::f"},
    {"my_operator(int)", "my_operator"},
    {"core::fmt::Write::write_fmt", "core::fmt::Write::write_fmt"},
    {"<&T as core::fmt::Debug>::fmt", "<&T as core::fmt::Debug>::fmt"},
};

TEST(WithoutParameters, leaves_the_name) {
  for (const Case& test : kShort) EXPECT_EQ(without_parameters(test.given), test.expected) << test.given;
}

TEST(WithoutParameters, survives_unbalanced_text) {
  for (const char* text :
       {"(",         ")", "f(", "f)",  "f((",   "f))", "<<<",      ">>>",  "operator",           "operator(",
        "operator<", " ", "()", " ()", "(*)()", "(*",  "a (*)(b)", "{](>", "f(int) const const", "[abi:",
        "[abi:x"})
    without_parameters(text);
}

TEST(WithParameters, overloads_differ) {
  const std::pair<const char*, const char*> kCases[] = {
      {"f", "f"},
      {"f(int)", "f(int)"},
      {"void ns::f<int>(int) const", "ns::f<int>(int) const"},
      {"ns::A::operator()(char const*)", "ns::A::operator()(char const*)"},
      {"ns::A::operator bool() const", "ns::A::operator bool() const"},
      {"A::f[abi:cxx11](std::string)", "A::f(std::string)"},
      {"f(int) [clone .part.0]", "f(int) [clone .part.0]"},
      {"virtual thunk to A::f(int)", "virtual thunk to A::f(int)"},
      {"(anonymous namespace)::f(A::B (*)(int))", "(anonymous namespace)::f(A::B (*)(int))"},
      {"void (*f(int))(char)", "void (*f(int))(char)"},
      {"_RNvCs_3foo", "_RNvCs_3foo"},
  };
  for (const auto& [demangled, name] : kCases) EXPECT_EQ(with_parameters(demangled), name);
}

}  // namespace
}  // namespace blip::elf
