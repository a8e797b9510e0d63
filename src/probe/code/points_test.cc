// SPDX-License-Identifier: MIT
// Instructions of a process that runs: this one.
#include "probe/code/points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe/code/functions.h"
#include "probe/code/instructions.h"

// push 0, mov 1, nop 4, pop 5, ret 6; then bytes of no function; then a function without a size.
asm(R"(
  .text
  .globl points_test_code, points_test_sizeless, points_test_broken
  .type points_test_code, @function
points_test_code:
  push %rbp
  mov %rsp, %rbp
  nop
  pop %rbp
  ret
  .size points_test_code, . - points_test_code
points_test_gap:
  .fill 8, 1, 0x90
  .type points_test_sizeless, @function
points_test_sizeless:
  xor %eax, %eax
  ret
  .type points_test_broken, @function
points_test_broken:
  nop
  .byte 0x06
  ret
  .size points_test_broken, . - points_test_broken
)");

extern "C" {
extern const uint8_t points_test_code[];
extern const uint8_t points_test_broken[];
}

namespace blip::probe {
namespace {

using testing::HasSubstr;

int some_data = 1;

// Called like the module, in a scope: probe_test+0xADDR still means the file.
struct Iterator {
  [[gnu::used, gnu::noinline]] void probe_test() { some_data = 2; }
};

class Points : public testing::Test {
 protected:
  void SetUp() override {
    maps_ = *proc::read_maps(::getpid());
    for (const proc::Map& map : maps_) {
      if (!map.exec || map.path.empty() || map.path[0] != '/') continue;
      auto file = elf::ElfFile::open(map.path);
      ASSERT_TRUE(file) << file.error().message();
      const elf::Segment* text = nullptr;
      for (const elf::Segment& s : file->segments())
        if (s.exec) text = &s;
      const uint64_t bias = map.range.begin.value - (text->range.begin.value & ~uint64_t{4095});
      modules_.emplace_back(*std::move(file), map.path, bias, modules_.empty());
    }
  }

  Result<FoundPoint> find(const std::string& spec) const {
    return find_instruction(*elf::parse_spec(spec), modules_, {&memory_, {}, maps_});
  }
  Result<FoundPoint> find_at(const void* address) const {
    return find(hex(reinterpret_cast<uint64_t>(address)));
  }
  static std::string hex(uint64_t n) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%lx", static_cast<unsigned long>(n));
    return text;
  }
  std::string error(const Result<FoundPoint>& found) const {
    return found ? "found " + found->name : found.error().message();
  }
  uint64_t address(const FoundPoint& f) const { return modules_[f.module].to_target(f.point.addr).value; }
  uint64_t file_address(const void* p) const {
    return modules_[0].to_file(TargetAddr(reinterpret_cast<uint64_t>(p))).value;
  }

  std::vector<proc::Map> maps_;
  proc::Memory memory_ = *proc::Memory::open_read_only(::getpid());
  std::vector<Module> modules_;
};

TEST_F(Points, all_ways_to_name_one) {
  const auto expected = reinterpret_cast<uint64_t>(points_test_code + 4);
  for (const std::string& spec :
       {std::string("points_test_code+4"), std::string("probe_test:points_test_code+0x4"), hex(expected),
        "probe_test+" + hex(file_address(points_test_code + 4)),
        modules_[0].path() + "+" + hex(file_address(points_test_code + 4))}) {
    const auto found = find(spec);
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_EQ(address(*found), expected);
    EXPECT_EQ(found->name, "points_test_code+0x4");
    EXPECT_EQ(found->point.function.name, "points_test_code");
    EXPECT_FALSE(found->point.is_entry);
  }
}

TEST_F(Points, a_name_is_its_first_instruction) {
  const auto found = find("points_test_code");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "points_test_code");
  EXPECT_TRUE(found->point.is_entry);
  EXPECT_EQ(find("points_test_code+0")->name, "points_test_code+0x0");
}

TEST_F(Points, the_middle_of_an_instruction) {
  EXPECT_EQ(error(find("points_test_code+2")),
            "points_test_code+2: inside \"mov %rsp, %rbp\", which begins at points_test_code+0x1");
  EXPECT_THAT(error(find_at(points_test_code + 3)), HasSubstr("which begins at points_test_code+0x1"));
}

TEST_F(Points, past_the_end) {
  EXPECT_EQ(error(find("points_test_code+7")),
            "points_test_code+7: past the end of points_test_code, which is 0x7 bytes long");
  EXPECT_EQ(
      error(find("points_test_code+0xf")),
      "points_test_code+0xf: past the end of points_test_code, which is 0x7 bytes long; what is there is "
      "points_test_sizeless+0x0");
}

TEST_F(Points, no_function_there) {
  EXPECT_THAT(
      error(find_at(points_test_code + 9)),
      HasSubstr("in no known function of probe_test; the nearest before it is points_test_code, which "
                "ends 0x2 bytes before"));
}

TEST_F(Points, a_function_without_a_size_ends_at_the_next_symbol) {
  EXPECT_EQ(find("points_test_sizeless+2")->name, "points_test_sizeless+0x2");
  EXPECT_THAT(error(find("points_test_sizeless+3")), HasSubstr("0x3 bytes long (up to the next symbol)"));
  const elf::Function empty{.name = "empty", .addr = FileAddr(file_address(points_test_code))};
  EXPECT_THAT(undecodable(modules_[0], empty), HasSubstr("size zero"));
}

TEST_F(Points, bytes_that_are_no_instruction) {
  EXPECT_EQ(find("points_test_broken")->point.addr.value, file_address(points_test_broken));
  EXPECT_THAT(error(find("points_test_broken+2")),
              HasSubstr("the bytes at points_test_broken+0x1 are no instruction"));
  EXPECT_EQ(undecodable(modules_[0], find("points_test_broken")->point.function),
            "the bytes at points_test_broken+0x1 are no instruction");
  EXPECT_EQ(undecodable(modules_[0], find("points_test_code")->point.function), "");
}

TEST_F(Points, data) {
  EXPECT_THAT(error(find_at(&some_data)), HasSubstr("data (.data of probe_test), not code"));
  EXPECT_THAT(error(find("probe_test+" + hex(file_address(&some_data)))), HasSubstr("not code"));
  EXPECT_THAT(error(find_at(&maps_)), HasSubstr("data ("));
}

TEST_F(Points, a_plt) {
  const elf::Section* plt = modules_[0].file().find_section(".plt");
  ASSERT_TRUE(plt);
  EXPECT_THAT(error(find("probe_test+" + hex(plt->range.begin.value))),
              HasSubstr("in a PLT (.plt of probe_test)"));
}

TEST_F(Points, the_vdso) {
  const uint64_t vdso = ::getauxval(AT_SYSINFO_EHDR);
  if (vdso == 0) GTEST_SKIP() << "the kernel gives none";
  EXPECT_THAT(error(find(hex(vdso + 0x100))), HasSubstr("in the vDSO"));
}

TEST_F(Points, nothing_mapped) {
  EXPECT_EQ(error(find("0x7fff12")).substr(0, 33), "0x7fff12: nothing is mapped there");
  if (modules_[0].file().is_position_independent()) {
    const std::string own = hex(file_address(points_test_code));
    EXPECT_THAT(error(find(own)), HasSubstr("the file's own address is written probe_test+" + own));
  }
}

TEST_F(Points, code_of_no_file) {
  void* code = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(code, MAP_FAILED);
  maps_ = *proc::read_maps(::getpid());
  EXPECT_THAT(error(find_at(code)), HasSubstr("in code that no ELF file holds (made at run time)"));
  ::munmap(code, 4096);
}

TEST_F(Points, a_file_without_anything_there) {
  EXPECT_THAT(error(find("probe_test+0x7fffffffffff")), HasSubstr("probe_test has nothing at that address"));
}

TEST_F(Points, an_unknown_name) {
  EXPECT_THAT(error(find("points_test_cod+4")), HasSubstr("nearest: points_test_code"));
}

}  // namespace
}  // namespace blip::probe
