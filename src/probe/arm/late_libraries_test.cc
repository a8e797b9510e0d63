// SPDX-License-Identifier: MIT
// A function of a working child plays a library that goes and comes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "probe/patch/test_tactics.h"

namespace blip::probe {
namespace {

using testing::ElementsAre;

class LateLibraries : public TracedWorker {
 protected:
  LateLibraries() : TracedWorker({tac_plain, tac_run}) {
    auto armed = traced_.arm(plain(), 20);
    CHECK(armed.has_value());
    armed_ = *std::move(armed);
  }

  // Does what the loader would do: the file's bytes are there again, or others.
  void put(const std::vector<uint8_t>& bytes) { ASSERT_TRUE(traced_.memory_.write(library_.begin, bytes)); }
  std::vector<uint8_t> now() {
    std::vector<uint8_t> bytes(original_.size());
    EXPECT_TRUE(traced_.memory_.read(library_.begin, bytes));
    return bytes;
  }
  std::vector<proc::Map> mapped() {
    return {*proc::find_map(*proc::read_maps(worker_.pid()), library_.begin)};
  }

  std::vector<uint64_t> exact_hits(size_t probes) { return TracedWorker::exact_hits(*armed_, probes); }

  std::unique_ptr<Instrumentation> armed_;
  static constexpr const char *kFile = "a", *kOther = "b";
  const AddrRange library_{address_of(tac_plain), address_of(tac_plain) + 10};
  const std::vector<uint8_t> original_ = bytes_at(library_.begin, 10);
};

TEST_F(LateLibraries, what_is_forgotten_is_not_touched) {
  EXPECT_THAT(exact_hits(1), ElementsAre(500));
  armed_->forget(library_, kFile);
  EXPECT_NE(now(), original_) << "not even to restore it";
  const std::vector<uint8_t> other(10, 0x90);
  put(other);  // nobody runs it now
  auto removed = armed_->disarm();
  ASSERT_TRUE(removed) << removed.error().message();
  EXPECT_EQ(removed->foreign, 0u);
  EXPECT_FALSE(removed->kept);
  EXPECT_EQ(now(), other);
  put(original_);
  expect_clean();
}

TEST_F(LateLibraries, the_same_file_at_the_same_place_gets_its_probes_back) {
  for (int i = 0; i < 300; ++i) {  // more often than there may be pad files
    EXPECT_TRUE(armed_->is_patched(library_));
    worker_.pause();
    put(original_);
    EXPECT_FALSE(armed_->is_patched(library_));
    armed_->forget(library_, kFile);
    ASSERT_TRUE(armed_->revive(library_, kFile, mapped()));
    worker_.run_freely();
  }
  EXPECT_THAT(exact_hits(1), ElementsAre(500));
  ASSERT_TRUE(armed_->disarm());
  expect_clean();
}

TEST_F(LateLibraries, another_library_at_the_same_place_is_probed_anew) {
  worker_.pause();
  put(original_);
  armed_->forget(library_, kFile);
  ASSERT_TRUE(armed_->add(mapped(), traced_.modules_, traced_.sites(plain()), traced_.probes(plain(), 1)));
  EXPECT_TRUE(armed_->report().refused.empty());
  EXPECT_THAT(exact_hits(2), ElementsAre(0, 500));
  ASSERT_TRUE(armed_->disarm());
  expect_clean();
}

TEST_F(LateLibraries, two_files_of_one_size_at_one_place_are_told_apart) {
  worker_.pause();
  put(original_);
  armed_->forget(library_, kFile);
  ASSERT_TRUE(armed_->add(mapped(), traced_.modules_, traced_.sites(plain()), traced_.probes(plain(), 1)));
  put(original_);
  armed_->forget(library_, kOther);
  ASSERT_TRUE(armed_->revive(library_, kOther, mapped()));
  EXPECT_THAT(exact_hits(2), ElementsAre(0, 500));
  put(original_);
  armed_->forget(library_, kOther);
  ASSERT_TRUE(armed_->revive(library_, kFile, mapped()));
  EXPECT_THAT(exact_hits(2), ElementsAre(500, 0));
  ASSERT_TRUE(armed_->disarm());
  expect_clean();
}

TEST_F(LateLibraries, nothing_is_written_where_something_else_is_mapped_by_now) {
  std::vector<proc::Map> gone = mapped();
  ++gone.front().inode;
  const Status added = armed_->add(gone, traced_.modules_, traced_.sites(run()), traced_.probes(run(), 1));
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().kind(), ErrorKind::kNotFound);
  EXPECT_THAT(exact_hits(5), ElementsAre(500, 0, 0, 0, 0));
  ASSERT_TRUE(armed_->disarm());
  expect_clean();
}

TEST_F(LateLibraries, a_library_that_went_unnoticed_is_left_alone_at_the_end) {
  Traced other(worker_.pid());
  const Module& executable = other.modules_.front();
  worker_.pause();
  put(original_);
  armed_->forget(library_, kFile);
  // As a library of its own, so that it may go.
  ASSERT_TRUE(armed_->add(mapped(), {&executable, 1}, {plain().sites}, traced_.probes(plain(), 1)));
  put(std::vector<uint8_t>(10, 0x90));
  auto removed = armed_->disarm();
  ASSERT_TRUE(removed) << removed.error().message();
  EXPECT_EQ(removed->foreign, 0u) << "nobody else's bytes: the library has gone";
  put(original_);
  expect_clean();
}

}  // namespace
}  // namespace blip::probe
