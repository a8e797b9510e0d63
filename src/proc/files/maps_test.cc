// SPDX-License-Identifier: MIT
#include "proc/files/maps.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace blip::proc {
namespace {

AddrRange range(uint64_t begin, uint64_t end) { return {TargetAddr(begin), TargetAddr(end)}; }

Map mapping(uint64_t begin, uint64_t end, std::string path = "") {
  Map map;
  map.range = range(begin, end);
  map.path = std::move(path);
  return map;
}

TEST(Maps, all_fields) {
  const auto maps = parse_maps(
      "55d0aa000000-55d0aa001000 r-xp 00002000 fd:01 1234                      /usr/bin/some prog\n"
      "7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]\n"
      "7ffd00100000-7ffd00101000 rw-s 00000000 00:01 42 /memfd:x (deleted)\n"
      "7ffd00200000-7ffd00201000 ---p 00000000 00:00 0 \n");
  ASSERT_TRUE(maps) << maps.error().message();
  ASSERT_EQ(maps->size(), 4u);
  const Map& text = (*maps)[0];
  EXPECT_EQ(text.range, range(0x55d0aa000000, 0x55d0aa001000));
  EXPECT_TRUE(text.read && text.exec && !text.write && !text.shared && !text.deleted);
  EXPECT_EQ(text.offset, 0x2000u);
  EXPECT_EQ(text.dev, makedev(0xfd, 1));
  EXPECT_EQ(text.inode, 1234u);
  EXPECT_EQ(text.path, "/usr/bin/some prog");
  EXPECT_EQ((*maps)[1].path, "[stack]");
  EXPECT_TRUE((*maps)[2].deleted && (*maps)[2].shared && (*maps)[2].write);
  EXPECT_EQ((*maps)[2].path, "/memfd:x");
  EXPECT_EQ((*maps)[3].path, "");
  EXPECT_FALSE((*maps)[3].read || (*maps)[3].write || (*maps)[3].exec || (*maps)[3].shared);
}

TEST(Maps, hostile_names) {
  const auto maps = parse_maps(
      "1000-2000 r--p 00000000 08:01 7 /tmp/a\\0127f00-8000 rwxp 0 00:00 0 [vdso]\n"
      "2000-3000 r--p 00000000 08:01 7 /tmp/x (deleted) (deleted)\n"
      "3000-4000 r--p 00000000 00:00 0 [anon: (deleted)]\n");
  ASSERT_TRUE(maps);
  ASSERT_EQ(maps->size(), 3u);
  EXPECT_EQ((*maps)[0].path, "/tmp/a\n7f00-8000 rwxp 0 00:00 0 [vdso]");
  EXPECT_EQ((*maps)[1].path, "/tmp/x (deleted)");
  EXPECT_TRUE((*maps)[1].deleted);
  EXPECT_FALSE((*maps)[2].deleted);
}

TEST(Maps, malformed_lines_are_refused) {
  for (const char* text :
       {"x", "1000-2000", "1000-2000 r-xp", "2000-1000 r-xp 0 00:00 0", "1000 2000 r-xp 0 0:0 0\n"})
    EXPECT_FALSE(parse_maps(text)) << text;
}

TEST(Maps, own_process) {
  const auto maps = read_maps(::getpid());
  ASSERT_TRUE(maps);
  const Map* text = find_map(*maps, TargetAddr(reinterpret_cast<uint64_t>(&range)));
  ASSERT_NE(text, nullptr);
  EXPECT_TRUE(text->exec);
  EXPECT_EQ(find_map(*maps, TargetAddr(1)), nullptr);
  EXPECT_EQ(read_maps(999999999).error().kind(), ErrorKind::kGone);
}

TEST(Gap, nearest_to_the_middle) {
  const std::vector<Map> maps{mapping(0x400000, 0x500000), mapping(0x600000, 0x700000)};
  EXPECT_EQ(find_gap(maps, 0x1000, range(0x400000, 0x700000)), TargetAddr(0x57f000));
  EXPECT_EQ(find_gap(maps, 0x1000, range(0x400000, 0x600000)), TargetAddr(0x500000));
  EXPECT_EQ(find_gap(maps, 0x100000, range(0x400000, 0x700000)), TargetAddr(0x500000));
}

TEST(Gap, entirely_inside_the_window) {
  const std::vector<Map> maps{mapping(0x400000, 0x500000)};
  EXPECT_EQ(find_gap(maps, 0x2000, range(0x400000, 0x501000)), std::nullopt);
  EXPECT_EQ(find_gap(maps, 0x1001, range(0x3ff000, 0x501fff)), std::nullopt);
  EXPECT_EQ(find_gap(maps, 0x1001, range(0x3ff000, 0x502000)), TargetAddr(0x500000));
  EXPECT_EQ(find_gap(maps, 0, range(0x10000, 0x502000)), std::nullopt);
}

TEST(Gap, not_where_the_target_cannot_map) {
  EXPECT_EQ(find_gap({}, 0x1000, range(0, 0x10000)), std::nullopt);
  EXPECT_EQ(find_gap({}, 0x1000, range(0, 0x11000)), TargetAddr(0x10000));
  EXPECT_EQ(find_gap({}, 0x1000, range(0x7ffffffff000, 0xffffffffff600000)), std::nullopt);
  EXPECT_EQ(find_gap({}, ~uint64_t{0}, range(0, ~uint64_t{0})), std::nullopt);
}

TEST(Gap, heap_and_stacks_keep_room_to_grow) {
  constexpr uint64_t kMiB = 1 << 20;
  const std::vector<Map> heap{mapping(0x1000000, 0x2000000, "[heap]")};
  EXPECT_EQ(find_gap(heap, 0x1000, range(0x2000000, 0x2000000 + 128 * kMiB)), std::nullopt);
  EXPECT_EQ(find_gap(heap, 0x1000, range(0x2000000, 0x2001000 + 128 * kMiB)),
            TargetAddr(0x2000000 + 128 * kMiB));
  const std::vector<Map> stack{mapping(0x7ff000000000, 0x7ff000021000, "[stack]")};
  EXPECT_EQ(find_gap(stack, 0x1000, range(0x7ff000000000 - 128 * kMiB, 0x7ff000021000)), std::nullopt);
  const std::vector<Map> thread_stack{mapping(0x7ff000000000, 0x7ff000021000, "[stack:12]")};
  EXPECT_EQ(find_gap(thread_stack, 0x1000, range(0x7ff000000000 - kMiB, 0x7ff000021000)), std::nullopt);
  EXPECT_NE(find_gap(thread_stack, 0x1000, range(0x7ff000000000 - 2 * kMiB, 0x7ff000021000)), std::nullopt);
}

TEST(Gap, a_gap_of_this_process_can_be_mapped) {
  const auto maps = read_maps(::getpid());
  ASSERT_TRUE(maps);
  const uint64_t near = reinterpret_cast<uint64_t>(&range);
  const auto gap = find_gap(*maps, 0x10000, range(near - (1u << 30), near + (1u << 30)));
  ASSERT_TRUE(gap);
  void* wanted = reinterpret_cast<void*>(gap->value);
  void* got = ::mmap(wanted, 0x10000, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  EXPECT_EQ(got, wanted);
  ::munmap(got, 0x10000);
}

TEST(FreeRanges, are_what_lies_between_with_room_to_grow) {
  const auto maps = *parse_maps(
      "555555000000-555555001000 r-xp 00000000 00:00 0\n"
      "555555002000-555555003000 rw-p 00000000 00:00 0 [heap]\n"
      "7ffff0000000-7ffff0001000 rw-p 00000000 00:00 0 [stack]\n");
  const auto free = free_ranges(maps);
  ASSERT_EQ(free.size(), 4u);
  EXPECT_EQ(free[0].end, TargetAddr(0x555555000000));
  EXPECT_EQ(free[1], (AddrRange{TargetAddr(0x555555001000), TargetAddr(0x555555002000)}));
  EXPECT_EQ(free[2].begin, TargetAddr(0x555555003000 + (uint64_t{128} << 20)));
  EXPECT_EQ(free[2].end, TargetAddr(0x7ffff0000000 - (uint64_t{128} << 20)));
  EXPECT_EQ(free[3].begin, TargetAddr(0x7ffff0001000));
}

TEST(FreeRanges, nothing_mapped_is_all_free) {
  ASSERT_EQ(free_ranges({}).size(), 1u);
  EXPECT_GT(max_map_count(), 1000u);
}

}  // namespace
}  // namespace blip::proc
