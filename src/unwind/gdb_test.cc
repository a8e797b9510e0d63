// SPDX-License-Identifier: MIT
// A second opinion on stacks of another program: gdb stops it at random moments and tells what it sees.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "unwind/test_tables.h"
#include "unwind/walk.h"

namespace blip::unwind {
namespace {

// Stops at each SIGALRM, which the program asks for and never gets.
constexpr char kScript[] = R"py(
import gdb
for setting in ('pagination off', 'confirm off', 'backtrace past-main on', 'backtrace past-entry on', 'debuginfod enabled off'):
    gdb.execute('set ' + setting)
gdb.execute('handle SIGALRM stop nopass', to_string=True)
gdb.execute('run', to_string=True)
process = gdb.selected_inferior()
number = lambda name: int(gdb.parse_and_eval('(unsigned long) $' + name)) & (2 ** 64 - 1)
for line in open('/proc/%d/maps' % process.pid):
    words = line.split()
    if len(words) == 6 and words[1] == 'r-xp' and words[5][0] == '/':
        print('map', *words[0].split('-'), words[2], words[5])
    if line.endswith('[stack]\n'):
        end = int(words[0].split('-')[1], 16)
for _ in range(25):
    rsp = number('rsp')
    stack = process.read_memory(rsp, min(1 << 16, end - rsp))
    print('hit %x %x %x' % (number('rip'), rsp, number('rbp')))
    print('stack', bytes(stack).hex())
    frame, frames = gdb.newest_frame(), []
    while frame is not None and len(frames) < 100:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            frames.append('%x' % frame.pc())
        frame = frame.older()
    print('frames', *frames)
    gdb.execute('continue', to_string=True)
gdb.execute('kill', to_string=True)
)py";

constexpr char kProgram[] = R"py(
import json, re, signal
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.011)
while True:
    text = json.dumps([{str(i): sorted(range(i % 50), key=lambda n: -n)} for i in range(100)])
    re.findall(r'"(\d+)": \[([^\]]*)\]', text)
    json.loads(text)
)py";

struct CopiedStack {
  uint64_t rsp = 0;
  std::vector<uint8_t> bytes;

  abi::SafeWord read(uint64_t address) const {
    const uint64_t at = address - rsp;
    if (address < rsp || at >= bytes.size() || bytes.size() - at < 8) return {0, 0};
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    return {word, 1};
  }
};

class AgainstGdb : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/blip_unwind_XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    directory_ = name;
    std::ofstream(directory_ + "/script.py") << kScript;
    std::ofstream(directory_ + "/program.py") << kProgram;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  // bias = where the mapping is - where the file says that it is.
  void add_module(std::istream& line) {
    uint64_t begin = 0, end = 0, offset = 0;
    std::string path;
    line >> std::hex >> begin >> end >> offset >> path;
    auto file = elf::ElfFile::open(path);
    if (!file) return;
    for (const elf::Segment& segment : file->segments())
      if (segment.exec) {
        tables_.add(make_tables(*file), begin - offset - (segment.range.begin.value - segment.offset.value));
        return;
      }
  }

  void take_stack(std::istream& line) {
    std::string hex;
    line >> hex;
    stack_ = {registers_.rsp, {}};
    for (size_t i = 0; i + 1 < hex.size(); i += 2)
      stack_.bytes.push_back(static_cast<uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }

  void compare(std::istream& line) {
    std::vector<uint64_t> theirs, ours;
    for (uint64_t frame; line >> std::hex >> frame;) theirs.push_back(frame);
    const abi::UnwindEnd end = walk(tables_.header(), registers_, false, abi::kMaxStackDepth, stack_,
                                    [&](uint64_t frame) { ours.push_back(frame & ~abi::kInterrupted); });
    ++hits_;
    whole_ += end == abi::UnwindEnd::kOutermost && ours.size() == theirs.size();
    if (theirs.size() > ours.size()) theirs.resize(ours.size());
    EXPECT_EQ(ours, theirs);
  }

  std::string directory_;
  TestTables tables_{64 << 20};
  Registers registers_{};
  CopiedStack stack_;
  int hits_ = 0, whole_ = 0;
};

TEST_F(AgainstGdb, python_at_random_moments) {
  const std::string python = "/usr/bin/python3";
  if (std::system("gdb -batch -ex 'python 1' > /dev/null 2>&1") != 0 || !std::filesystem::exists(python))
    GTEST_SKIP() << "no gdb, or no python3";
  const std::string output = directory_ + "/output";
  const std::string command = "timeout 60 gdb -nx -batch -x " + directory_ + "/script.py --args " + python +
                              " " + directory_ + "/program.py > " + output + " 2> " + directory_ + "/errors";
  [[maybe_unused]] const int status = std::system(command.c_str());
  std::ifstream in(output);
  for (std::string text; std::getline(in, text);) {
    std::istringstream line(text);
    std::string kind;
    line >> kind;
    if (kind == "map") add_module(line);
    if (kind == "hit") line >> std::hex >> registers_.rip >> registers_.rsp >> registers_.rbp;
    if (kind == "stack") take_stack(line);
    if (kind == "frames") compare(line);
  }
  if (hits_ == 0) GTEST_SKIP() << "gdb may not trace here";
  EXPECT_GT(whole_, hits_ * 8 / 10);
}

}  // namespace
}  // namespace blip::unwind
