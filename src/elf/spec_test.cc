// SPDX-License-Identifier: MIT
#include "elf/spec.h"

#include <gtest/gtest.h>

namespace blip::elf {
namespace {

struct Good {
  const char* text;
  SpecKind kind;
  const char* module;  // nullptr: none
  const char* name;
  uint64_t offset;
};

const Good kGood[] = {
    {"main", SpecKind::kName, nullptr, "main", 0},
    {"ns::f", SpecKind::kName, nullptr, "ns::f", 0},
    {"::f", SpecKind::kName, nullptr, "f", 0},
    {"ns::f(int)", SpecKind::kName, nullptr, "ns::f(int)", 0},
    {"f[abi:cxx11]", SpecKind::kName, nullptr, "f[abi:cxx11]", 0},
    {"foo.part.0", SpecKind::kName, nullptr, "foo.part.0", 0},
    {"libc.so.6:malloc", SpecKind::kName, "libc.so.6", "malloc", 0},
    {"libstdc++.so.6:f", SpecKind::kName, "libstdc++.so.6", "f", 0},
    {"mod:ns::f", SpecKind::kName, "mod", "ns::f", 0},
    {"mod:::f", SpecKind::kName, "mod", "f", 0},
    {"mod:ns::operator+", SpecKind::kName, "mod", "ns::operator+", 0},
    {"operator+", SpecKind::kName, nullptr, "operator+", 0},
    {"operator++", SpecKind::kName, nullptr, "operator++", 0},
    {"operator+=", SpecKind::kName, nullptr, "operator+=", 0},
    {"operator[]", SpecKind::kName, nullptr, "operator[]", 0},
    {"operator new", SpecKind::kName, nullptr, "operator new", 0},
    {"f<(1)+(x)>", SpecKind::kName, nullptr, "f<(1)+(x)>", 0},
    {"_Znwm", SpecKind::kName, nullptr, "_Znwm", 0},
    {"parse_*", SpecKind::kGlob, nullptr, "parse_*", 0},
    {"*", SpecKind::kGlob, nullptr, "*", 0},
    {"f?", SpecKind::kGlob, nullptr, "f?", 0},
    {"f[ab]", SpecKind::kGlob, nullptr, "f[ab]", 0},
    {"*:mall*", SpecKind::kGlob, "*", "mall*", 0},
    {"*:malloc", SpecKind::kName, "*", "malloc", 0},
    {"lib[cz]:f", SpecKind::kName, "lib[cz]", "f", 0},
    {"main+0x6", SpecKind::kSymbolOffset, nullptr, "main", 6},
    {"main+010", SpecKind::kSymbolOffset, nullptr, "main", 8},
    {"main+10", SpecKind::kSymbolOffset, nullptr, "main", 10},
    {"main+0", SpecKind::kSymbolOffset, nullptr, "main", 0},
    {"main+0XfF", SpecKind::kSymbolOffset, nullptr, "main", 255},
    {"ns::f+4", SpecKind::kSymbolOffset, nullptr, "ns::f", 4},
    {"operator++4", SpecKind::kSymbolOffset, nullptr, "operator+", 4},
    {"operator+++4", SpecKind::kSymbolOffset, nullptr, "operator++", 4},
    {"libz.so.1:inflate+0x10", SpecKind::kSymbolOffset, "libz.so.1", "inflate", 16},
    {"libstdc++.so.6+0x10", SpecKind::kSymbolOffset, nullptr, "libstdc++.so.6", 16},
    {"0x401000", SpecKind::kAddress, nullptr, "", 0x401000},
    {"4198400", SpecKind::kAddress, nullptr, "", 4198400},
    {"020", SpecKind::kAddress, nullptr, "", 16},
    {"0xffffffffffffffff", SpecKind::kAddress, nullptr, "", UINT64_MAX},
    {"0x401000+0x10", SpecKind::kAddress, nullptr, "", 0x401010},
};

TEST(ParseSpec, understands) {
  for (const Good& good : kGood) {
    SCOPED_TRACE(good.text);
    auto spec = parse_spec(good.text);
    ASSERT_TRUE(spec.has_value()) << spec.error().message();
    EXPECT_EQ(spec->kind, good.kind);
    EXPECT_EQ(spec->module.has_value(), good.module != nullptr);
    if (good.module) {
      EXPECT_EQ(spec->module.value_or(""), good.module);
    }
    EXPECT_EQ(spec->name, good.name);
    EXPECT_EQ(spec->offset, good.offset);
    EXPECT_EQ(spec->text, good.text);
  }
}

struct Bad {
  const char* text;
  const char* says;
};

const Bad kBad[] = {
    {"", "the name of a function is missing"},
    {"  ", "the name of a function is missing"},
    {"::", "the name of a function is missing"},
    {":f", "the module before ':' is missing"},
    {"mod:", "the name of a function after ':' is missing"},
    {":", "the module before ':' is missing"},
    {"+4", "the symbol before '+' is missing"},
    {"mod:+4", "the symbol before '+' is missing"},
    {"main+", "a number must follow '+'"},
    {"main+x", "a number must follow '+'"},
    {"main+-4", "a number must follow '+'"},
    {"main+08", "08 is not a number"},
    {"main+0x", "0x is not a number"},
    {"main+0x10000000000000000", "is too large"},
    {"main+99999999999999999999", "is too large"},
    {"0x10000000000000000", "is too large"},
    {"0xffffffffffffffff+1", "the address is too large"},
    {"parse_*+4", "a pattern cannot have an offset"},
    {"libz:0x1000", "written libz+0x1000"},
};

TEST(ParseSpec, says_what_is_wrong) {
  for (const Bad& bad : kBad) {
    SCOPED_TRACE(bad.text);
    auto spec = parse_spec(bad.text);
    ASSERT_FALSE(spec.has_value());
    EXPECT_EQ(spec.error().kind(), ErrorKind::kUsage);
    EXPECT_NE(spec.error().message().find(bad.says), std::string::npos) << spec.error().message();
  }
}

}  // namespace
}  // namespace blip::elf
