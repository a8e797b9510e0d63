// SPDX-License-Identifier: MIT
#include "session/list/listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "elf/test_image.h"
#include "session/list/coverage.h"
#include "session/plan/test_sample.h"

namespace blip::session {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// The sample and its library as files.
class ListingTest : public testing::Test {
 protected:
  ListingTest() {
    std::string pattern = testing::TempDir() + "/blip-list-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    write("sample", test::program_image());
    write("libother.so", test::library_image());
  }
  ~ListingTest() override { std::filesystem::remove_all(root_); }

  void write(const std::string& name, const std::vector<uint8_t>& bytes) const {
    std::ofstream(root_ + "/" + name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }

  ListRequest of_file(const std::string& name, std::string_view spec = "", bool details = false) const {
    ListRequest request{.file = root_ + "/" + name, .details = details};
    if (!spec.empty()) request.spec = *elf::parse_spec(spec);
    return request;
  }

  // Or the error.
  static std::vector<std::string> names(const ListRequest& request) {
    const auto listing = list_functions(request);
    if (!listing) return {listing.error().message()};
    std::vector<std::string> all;
    for (const ListedFunction& f : listing->functions) all.push_back(f.name + f.parameters);
    return all;
  }

  std::string root_;
};

TEST_F(ListingTest, functions_of_a_file) {
  EXPECT_THAT(names(of_file("libother.so", "*other")), ElementsAre("other"));
  EXPECT_THAT(names(of_file("sample")), testing::AllOf(Contains("work"), Contains("shop::price(int)")));
  EXPECT_THAT(names(of_file("sample", "shop::price")),
              ElementsAre("shop::price(int)", "shop::price(double)"));
  EXPECT_THAT(names(of_file("sample", "no_such")), ElementsAre(HasSubstr("no_such")));
  EXPECT_THAT(names(of_file("missing")), ElementsAre(HasSubstr("missing")));
}

TEST_F(ListingTest, inlined_copies_are_among_them) {
  ListRequest request = of_file("sample", "thrice");
  EXPECT_THAT(names(request), testing::UnorderedElementsAre("thrice", "thrice (inlined in calls_thrice)"));
  request.no_inline = true;
  EXPECT_THAT(names(request), ElementsAre("thrice"));
}

TEST_F(ListingTest, verdicts_are_told_with_their_reasons) {
  const auto listing = list_functions(of_file("sample", "work"));
  ASSERT_TRUE(listing);
  EXPECT_NE(listing->functions.at(0).step, PatchStep::kRefused);
  EXPECT_EQ(listing->functions.at(0).refusal, "");
  EXPECT_EQ(listing->functions.at(0).mangled, "") << "it is the name";
  EXPECT_EQ(listing->functions.at(0).address, dwarf::address_of(test::program_image(), "work").value);
}

TEST_F(ListingTest, details_tell_sources_and_data) {
  auto listing = list_functions(of_file("sample", "work", true));
  ASSERT_TRUE(listing) << listing.error().message();
  const ListedFunction& work = listing->functions.at(0);
  EXPECT_THAT(work.source_file, HasSubstr("sample.cc"));
  EXPECT_THAT(work.source_line, testing::AnyOf(test::line_of("int work("), test::line_of("line: sum")));
  EXPECT_EQ(work.data.signature, "int work(int n, char * s, struct Pair * pair)");
  ASSERT_THAT(work.data.types, SizeIs(1));
  EXPECT_EQ(work.data.types[0].name, "struct Pair");
  ASSERT_THAT(work.data.types[0].members, SizeIs(2));
  EXPECT_EQ(work.data.types[0].members[1].name, "name");
  EXPECT_EQ(work.data.types[0].members[1].offset, 8u);
  EXPECT_TRUE(work.data.variables.at(0).is_parameter);
  EXPECT_EQ(work.data.variables.at(0).place, "rdi");
  listing = list_functions(of_file("libother.so", "other", true));
  EXPECT_EQ(listing->functions.at(0).source_file, "");
  EXPECT_THAT(listing->notes, Contains(HasSubstr("has no debugging information")));
}

TEST_F(ListingTest, functions_of_one_address_are_aliases) {
  const auto& image = dwarf::compiled(
      "gcc -O2", "int one(int n) { return n + 1; }\nextern int two(int) __attribute__((alias(\"one\")));\n");
  write("aliased", image);
  const auto listing = list_functions(of_file("aliased", "one", true));
  ASSERT_TRUE(listing);
  EXPECT_THAT(listing->functions.at(0).aliases, ElementsAre("two"));
}

TEST_F(ListingTest, a_file_without_functions) {
  elf::TestImage image;
  image.add_segment(PF_R, 0x1000, std::vector<uint8_t>(64));
  write("data", image.finish());
  EXPECT_THAT(names(of_file("data")), ElementsAre(HasSubstr("no function is known")));
  const auto coverage = find_coverage(of_file("data"));
  ASSERT_FALSE(coverage);
  EXPECT_THAT(coverage.error().message(), HasSubstr("no function is known"));
}

TEST_F(ListingTest, coverage_counts_instructions) {
  const auto one = find_coverage(of_file("sample", "work"));
  const auto all = find_coverage(of_file("sample", "", true));
  ASSERT_TRUE(one && all);
  EXPECT_EQ(one->functions, 1u);
  EXPECT_GT(one->total, 5u);
  EXPECT_THAT(one->refused, IsEmpty()) << "nobody asks for them";
  EXPECT_GT(all->functions, one->functions);
  EXPECT_EQ(all->jumps() + all->traps() + all->refused_count(), all->total);
  EXPECT_THAT(all->refused, SizeIs(all->refused_count()));
  EXPECT_FALSE(find_coverage(of_file("sample", "no_such")));
}

TEST_F(ListingTest, coverage_names_what_is_refused) {
  // The only branch to the middle of the bytes that a jump would need.
  const auto& image = dwarf::compiled("gcc -O2",
                                      "__asm__(\".text\\n.globl tight\\n.type tight,@function\\ntight: "
                                      "nop\\n1: nop\\n dec %edi\\n jnz 1b\\n ret\\n"
                                      ".size tight,.-tight\\n\");\n");
  write("tight", image);
  ListRequest request = of_file("tight", "tight", true);
  request.moved_faults = MovedFaults::kRefuse;
  const auto found = find_coverage(request);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->total, 5u);
  for (const RefusedInstruction& r : found->refused) {
    EXPECT_THAT(r.place, HasSubstr("tight"));
    EXPECT_EQ(r.module, "tight");
    EXPECT_NE(r.reason, "");
  }
}

}  // namespace
}  // namespace blip::session
