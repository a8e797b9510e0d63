// SPDX-License-Identifier: MIT
#include "probe/patch/patch_set.h"

#include <gtest/gtest.h>

#include <deque>

namespace blip::probe {
namespace {

constexpr TargetAddr kLibrary(0x500000);
constexpr AddrRange kWholeLibrary{kLibrary, kLibrary + 0x10000};

// Places with one probe each, whose number is that of the place.
class Places {
 public:
  PatchTable table(const std::vector<TargetAddr>& at) {
    PatchTable made;
    std::vector<Edit> edits;
    for (const TargetAddr addr : at) {
      Site& site = sites_.emplace_back();
      site.rewrite.start = addr;
      site.rewrite.length = 5;
      const auto number = static_cast<uint32_t>(jobs_.size());
      PadJob& job = jobs_.emplace_back();
      job.site = &site;
      job.probes = {number};
      Edit edit;
      edit.addr = addr;
      edit.patch = static_cast<uint32_t>(made.patches.size());
      edit.size = edit.length = edit.window = 5;
      edits.push_back(edit);
      Patch& patch = made.patches.emplace_back();
      patch.addr = addr;
      patch.pad = addr + 0x100000;
      patch.window = 5;
      patch.job = &job;
    }
    made.edits = EditSet(std::move(edits));
    return made;
  }
  PadJob& job(size_t i) { return jobs_[i]; }

 private:
  std::deque<Site> sites_;
  std::deque<PadJob> jobs_;
};

x86::Rewrite window(TargetAddr at, uint8_t length = 5) {
  x86::Rewrite r;
  r.start = at;
  r.length = length;
  return r;
}

std::vector<TargetAddr> active(const PatchTable& table) {
  std::vector<TargetAddr> places;
  for (const Patch& p : table.patches)
    if (p.active) places.push_back(p.addr);
  return places;
}

const PatchSet::IsInText kAllThere = [](const Edit&) { return true; };
const PatchSet::IsInText kNoneThere = [](const Edit&) { return false; };
const PatchSet::Dropped kNotTold = [](const Patch&, size_t) { return Status(); };

class PatchSetTest : public testing::Test {
 protected:
  void arm(const std::vector<TargetAddr>& at) {
    set_.add(places_.table(at));
    set_.begin_stops();
    set_.note_all_written();
  }

  Places places_;
  PatchSet set_;
};

TEST_F(PatchSetTest, a_patch_is_fresh_until_its_edits_are_written) {
  set_.replace(places_.table({TargetAddr(0x1000), TargetAddr(0x2000)}));
  set_.begin_stops();
  EXPECT_EQ(set_.unwritten_count(), 2u);
  EXPECT_FALSE(set_.any_armed());
  set_.note_written({true, false});
  EXPECT_EQ(set_.unwritten_count(), 1u);
  EXPECT_TRUE(set_.any_armed());
  EXPECT_EQ(set_.unwritten({true, true}), (EditMask{false, true}));
  EXPECT_EQ(set_.table().fresh(), (EditMask{false, true}));
}

TEST_F(PatchSetTest, what_is_dropped_before_any_of_it_is_written_is_no_patch) {
  set_.replace(places_.table({TargetAddr(0x1000), TargetAddr(0x2000)}));
  set_.begin_stops();
  std::vector<TargetAddr> told;
  ASSERT_TRUE(set_.drop({false, true}, [&](const Patch& p, size_t edit) {
    EXPECT_EQ(edit, 1u);
    told.push_back(p.addr);
    return Status();
  }));
  EXPECT_EQ(told, std::vector{TargetAddr(0x2000)});
  EXPECT_EQ(active(set_.table()), std::vector{TargetAddr(0x1000)});
  ASSERT_TRUE(set_.drop({false, true}, [&](const Patch&, size_t) {
    ADD_FAILURE() << "told twice";
    return Status();
  }));
}

// A site whose springboard is written and whose own jump is not.
TEST_F(PatchSetTest, what_is_dropped_after_a_part_of_it_is_written_stays_to_be_restored) {
  PatchTable made = places_.table({TargetAddr(0x1000)});
  Edit board;
  board.addr = TargetAddr(0x1020);
  board.size = board.length = 5;
  made.edits = EditSet({made.edits.edits().front(), board});
  set_.replace(std::move(made));
  set_.begin_stops();
  set_.note_written({false, true});
  size_t told = 0;
  set_.drop_fresh([&](const Patch&) { ++told; });
  EXPECT_EQ(told, 1u);
  EXPECT_EQ(set_.table().active(), (EditMask{true, true}));
  EXPECT_EQ(set_.unwritten_count(), 0u) << "nobody tries again";
}

TEST_F(PatchSetTest, an_error_of_whoever_is_told_ends_the_dropping) {
  set_.replace(places_.table({TargetAddr(0x1000), TargetAddr(0x2000)}));
  set_.begin_stops();
  EXPECT_FALSE(set_.drop({true, true}, [](const Patch&, size_t) { return Error(ErrorKind::kBusy, "busy"); }));
  EXPECT_EQ(active(set_.table()), std::vector{TargetAddr(0x2000)});
}

TEST_F(PatchSetTest, system_calls_and_what_is_said_to_guard_them_come_first) {
  PatchTable made = places_.table({TargetAddr(0x1000), TargetAddr(0x2000), TargetAddr(0x3000)});
  made.patches[0].job = nullptr;
  set_.replace(std::move(made));
  set_.begin_stops();
  const auto third = [](const Patch& p) { return p.addr == TargetAddr(0x3000); };
  EXPECT_EQ(set_.guards(third), (EditMask{true, false, true}));
}

TEST_F(PatchSetTest, windows_may_not_meet) {
  arm({TargetAddr(0x1000)});
  EXPECT_TRUE(set_.conflicts_with(window(TargetAddr(0x1004))));
  EXPECT_TRUE(set_.conflicts_with(window(TargetAddr(0xffc))));
  EXPECT_FALSE(set_.conflicts_with(window(TargetAddr(0x1100))));
}

TEST_F(PatchSetTest, a_place_that_was_probed_may_be_probed_again_in_the_same_way_only) {
  arm({TargetAddr(0x1000)});
  const auto patch = set_.find_unneeded(0, {0});
  ASSERT_TRUE(patch);
  set_.retire(*patch);
  EXPECT_TRUE(active(set_.table()).empty());
  EXPECT_FALSE(set_.conflicts_with(window(TargetAddr(0x1000))));
  EXPECT_TRUE(set_.conflicts_with(window(TargetAddr(0x1000), 6)));
  EXPECT_TRUE(set_.conflicts_with(window(TargetAddr(0x1003))));
  ASSERT_EQ(set_.retired().size(), 1u) << "a child may have it";
  EXPECT_EQ(set_.retired().front().edits.size(), 1u);
}

TEST_F(PatchSetTest, a_site_is_needed_as_long_as_one_of_its_probes_is) {
  arm({TargetAddr(0x1000)});
  places_.job(0).probes = {0, 7};
  EXPECT_FALSE(set_.find_unneeded(0, {0}));
  EXPECT_TRUE(set_.find_unneeded(0, {0, 7}));
  EXPECT_FALSE(set_.find_unneeded(3, {3})) << "it has no place";
}

TEST_F(PatchSetTest, a_library_that_comes_back_has_its_patches_again) {
  const int file = 0, other = 0;
  set_.add_library(kWholeLibrary);
  arm({TargetAddr(0x1000), kLibrary});
  set_.forget(kWholeLibrary, &file);
  EXPECT_EQ(active(set_.table()), std::vector{TargetAddr(0x1000)});
  EXPECT_FALSE(set_.revive(kWholeLibrary, &other)) << "another one at the same place";
  EXPECT_TRUE(set_.revive(kWholeLibrary, &file));
  EXPECT_EQ(active(set_.table()), (std::vector{TargetAddr(0x1000), kLibrary}));
  EXPECT_EQ(set_.table().fresh(), (EditMask{false, true}));
  EXPECT_FALSE(set_.revive(kWholeLibrary, &file)) << "it is there";
}

TEST_F(PatchSetTest, only_a_child_may_still_have_a_library_that_has_gone) {
  const int file = 0;
  arm({kLibrary});
  set_.forget(kWholeLibrary, &file);
  EXPECT_TRUE(set_.retired().empty());
  EXPECT_EQ(set_.retired_in_child(kAllThere).size(), 1u);
  EXPECT_TRUE(set_.retired_in_child(kNoneThere).empty());
}

TEST_F(PatchSetTest, a_library_that_is_not_in_the_text_is_left_out) {
  set_.add_library(kWholeLibrary);
  arm({TargetAddr(0x1000), kLibrary});
  EXPECT_FALSE(set_.without_absent(kAllThere)) << "all of it is there";
  const auto rest = set_.without_absent(kNoneThere);
  ASSERT_TRUE(rest);
  EXPECT_EQ(active(*rest), std::vector{TargetAddr(0x1000)});
  EXPECT_EQ(active(set_.table()).size(), 2u) << "the set itself stays";
}

TEST_F(PatchSetTest, what_was_planned_for_a_library_that_went_is_not_armed) {
  arm({TargetAddr(0x1000)});
  set_.add(places_.table({kLibrary}));
  set_.drop_unloaded();
  EXPECT_EQ(active(set_.table()), std::vector{TargetAddr(0x1000)});
}

}  // namespace
}  // namespace blip::probe
