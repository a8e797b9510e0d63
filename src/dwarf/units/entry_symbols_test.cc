// SPDX-License-Identifier: MIT
#include "dwarf/units/entry_symbols.h"

#include <gtest/gtest.h>

namespace blip::dwarf {
namespace {

using Kind = EntrySymbols::Kind;

TEST(EntrySymbols, copies_by_their_names) {
  EXPECT_EQ(copy_kind("f"), Kind::kNone);
  EXPECT_EQ(copy_kind("_ZN2ns1fEi"), Kind::kNone);
  EXPECT_EQ(copy_kind("f.isra.0"), Kind::kChanged);
  EXPECT_EQ(copy_kind("f.constprop.0"), Kind::kSpecialized);
  EXPECT_EQ(copy_kind("f.constprop.0.isra.0"), Kind::kChanged);
  EXPECT_EQ(copy_kind("f.part.0"), Kind::kChanged);
  EXPECT_EQ(copy_kind("main._omp_fn.0"), Kind::kChanged);
  EXPECT_EQ(copy_kind("f.lto_priv.12"), Kind::kNone);
  EXPECT_EQ(copy_kind("f.localalias"), Kind::kNone);
  EXPECT_EQ(copy_kind("f.llvm.123456"), Kind::kNone);
  EXPECT_EQ(copy_kind("f.arch_haswell.0"), Kind::kNone);
  EXPECT_EQ(copy_kind("_ZGVbN4v_f"), Kind::kChanged);
  EXPECT_EQ(copy_kind(".f"), Kind::kNone);
}

TEST(EntrySymbols, no_files) { EXPECT_EQ(EntrySymbols(nullptr, nullptr).at(FileAddr(1)), Kind::kNone); }

}  // namespace
}  // namespace blip::dwarf
