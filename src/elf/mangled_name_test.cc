// SPDX-License-Identifier: MIT
#include "elf/mangled_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "elf/elf_file.h"
#include "elf/symbols.h"

namespace blip::elf {
namespace {

TEST(LastIdentifier, of_simple_names) {
  EXPECT_EQ(last_identifier("_Z5parsei"), "parse");
  EXPECT_EQ(last_identifier("_Z5parseIiEvT_"), "parse");
  EXPECT_EQ(last_identifier("_ZL5parsei"), "parse");
  EXPECT_EQ(last_identifier("_ZN2ns5parseEi"), "parse");
  EXPECT_EQ(last_identifier("_ZNK2v81A5parseEi"), "parse");
  EXPECT_EQ(last_identifier("_ZN12_GLOBAL__N_1L5parseEv"), "parse");
  EXPECT_EQ(last_identifier("_ZNSt6thread4joinEv"), "join");
  EXPECT_EQ(last_identifier("_ZN2ns1AC2Ei"), "A");
  EXPECT_EQ(last_identifier("_ZN2ns1AD0Ev"), "~");
}

TEST(LastIdentifier, of_others_is_not_told) {
  for (const char* name : {"main", "_Z", "_ZN", "_ZN2nsplERKNS_1AE", "_ZNSt6vectorIiSaIiEE9push_backEOi",
                           "_ZN3foo17h0123456789abcdefE", "_ZThn16_N2ns1A1fEv", "_Z9", "_ZN99fEv", "_Znwm",
                           "_ZN2ns1AcvNS_1BEEv", "_RNvCs1234_7mycrate3foo"})
    EXPECT_FALSE(last_identifier(name)) << name;
}

// With the demangler's own names, those of this test.
TEST(LastIdentifier, is_what_the_demangler_writes_last) {
  const auto file = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(file);
  const auto symbols = SymbolTable::load(*file);
  ASSERT_TRUE(symbols);
  size_t known = 0;
  for (const Function& f : symbols->functions()) {
    const auto last = last_identifier(f.name);
    if (!last || *last == "~" || f.name.find('.') != std::string_view::npos) continue;
    ++known;
    std::string plain = without_parameters(demangle(f.name));
    if (f.name[2] != 'N') plain = plain.substr(0, plain.find('<'));
    EXPECT_TRUE(plain.ends_with(*last)) << f.name;
  }
  EXPECT_GT(known, 300u);
}

}  // namespace
}  // namespace blip::elf
