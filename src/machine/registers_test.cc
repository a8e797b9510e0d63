// SPDX-License-Identifier: MIT
#include "machine/registers.h"

#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <set>
#include <string>

namespace blip::machine {
namespace {

class EachMachine : public testing::TestWithParam<const Machine*> {
 protected:
  const RegisterSet& registers() const { return GetParam()->registers; }
  const CallingConvention& convention() const { return GetParam()->convention; }
  std::string name(uint8_t number) const { return std::string(registers().general[number]); }
};

INSTANTIATE_TEST_SUITE_P(All, EachMachine, testing::Values(&kX86_64, &kAarch64),
                         [](const auto& machine) { return std::string(machine.param->name); });

TEST_P(EachMachine, every_name_means_one_register) {
  std::set<std::string_view> names(registers().general.begin(), registers().general.end());
  for (const PartName& part : registers().parts) {
    EXPECT_TRUE(names.insert(part.name).second) << part.name << " twice";
    EXPECT_LT(part.part.number, registers().general.size()) << part.name;
    EXPECT_LE(part.part.shift / 8 + part.part.size, 8u) << part.name;
  }
  EXPECT_EQ(names.size(), registers().general.size() + registers().parts.size());
}

TEST_P(EachMachine, names_are_found) {
  for (size_t i = 0; i < registers().general.size(); ++i) {
    const auto found = find_register(registers(), registers().general[i]);
    ASSERT_TRUE(found) << registers().general[i];
    EXPECT_EQ(found->number, i);
    EXPECT_EQ(found->size, 8u);
  }
  for (const PartName& part : registers().parts)
    EXPECT_EQ(find_register(registers(), part.name)->number, part.part.number) << part.name;
  EXPECT_FALSE(find_register(registers(), ""));
  EXPECT_FALSE(find_register(registers(), registers().instruction_pointer));
}

TEST_P(EachMachine, dwarf_has_each_register_once) {
  const std::set<uint8_t> numbers(registers().by_dwarf.begin(), registers().by_dwarf.end());
  EXPECT_EQ(numbers.size(), registers().general.size());
  EXPECT_FALSE(find_dwarf_register(registers(), registers().by_dwarf.size()));
}

TEST_P(EachMachine, vector_registers_have_numbers_within_bounds) {
  const std::string prefix(registers().vector_prefix);
  EXPECT_EQ(find_vector_register(registers(), prefix + "0"), 0u);
  EXPECT_EQ(find_vector_register(registers(), prefix + std::to_string(registers().vector_count - 1)),
            registers().vector_count - 1u);
  for (const std::string bad : {"", "x", "-1", "1x", "99999999999999999999"})
    EXPECT_FALSE(find_vector_register(registers(), prefix + bad)) << bad;
  EXPECT_FALSE(find_vector_register(registers(), prefix + std::to_string(registers().vector_count)));
}

// An argument register is never one that a function must give back, and each is passed once.
TEST_P(EachMachine, arguments_are_not_preserved) {
  std::set<uint8_t> kept(convention().preserved.begin(), convention().preserved.end());
  EXPECT_TRUE(kept.contains(registers().stack_pointer));
  EXPECT_TRUE(kept.contains(registers().frame_pointer));
  for (const auto list : {convention().arguments, convention().results, convention().syscall_arguments}) {
    EXPECT_EQ(std::set<uint8_t>(list.begin(), list.end()).size(), list.size());
    for (const uint8_t number : list) EXPECT_FALSE(kept.contains(number)) << name(number);
  }
  const bool is_first = convention().result_address == convention().arguments[0];
  EXPECT_EQ(is_first, convention().result_address_is_argument);
}

TEST(X86_64, as_the_psabi_says) {
  const RegisterSet& set = kX86_64.registers;
  EXPECT_EQ(find_register(set, "ah")->shift, 8u);
  EXPECT_EQ(find_register(set, "r15w")->size, 2u);
  EXPECT_FALSE(find_register(set, "r16"));
  EXPECT_EQ(set.general[*find_dwarf_register(set, 7)], "rsp");  // psABI figure 3.36
  EXPECT_EQ(set.general[*find_dwarf_register(set, 1)], "rdx");
  EXPECT_EQ(set.general[kX86_64.convention.arguments[3]], "rcx");
  EXPECT_EQ(set.general[kX86_64.convention.syscall_arguments[3]], "r10");
}

TEST(Aarch64, as_the_aapcs_says) {
  const RegisterSet& set = kAarch64.registers;
  EXPECT_EQ(find_register(set, "lr")->number, 30u);
  EXPECT_EQ(find_register(set, "fp")->number, 29u);
  EXPECT_EQ(find_register(set, "w30")->size, 4u);
  EXPECT_EQ(find_register(set, "wsp")->number, 31u);
  EXPECT_FALSE(find_register(set, "x31"));
  EXPECT_EQ(set.general[*find_dwarf_register(set, 31)], "sp");
  EXPECT_EQ(set.general[kAarch64.convention.result_address], "x8");
  EXPECT_EQ(set.general[kAarch64.convention.syscall_number], "x8");
  EXPECT_EQ(kAarch64.convention.arguments.size(), 8u);
}

TEST(Host, is_what_uname_says) {
  utsname names;
  ASSERT_EQ(uname(&names), 0);
  EXPECT_EQ(host().name, names.machine);
}

}  // namespace
}  // namespace blip::machine
