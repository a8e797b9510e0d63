// SPDX-License-Identifier: MIT
#include "collect/collect.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace blip::collect {
namespace {

// Memory of this process from some places on; all else is not there.
struct Memory {
  std::map<uint64_t, std::vector<uint8_t>> pieces;

  bool read(void* to, uint64_t address, uint32_t size) const {
    auto piece = pieces.upper_bound(address);
    if (piece == pieces.begin()) return false;
    --piece;
    const uint64_t at = address - piece->first;
    if (at > piece->second.size() || piece->second.size() - at < size) return false;
    std::memcpy(to, &piece->second[at], size);
    return true;
  }
  void words(uint64_t address, std::initializer_list<uint64_t> values) {
    auto& bytes = pieces[address];
    bytes.resize(values.size() * 8);
    std::memcpy(bytes.data(), values.begin(), bytes.size());
  }
  void text(uint64_t address, const std::string& text) { pieces[address].assign(text.begin(), text.end()); }
};

// The collected bytes as text: "[1 2 ...](5)".
class Shown {
 public:
  Shown(const std::vector<Step>& steps, std::vector<uint8_t> bytes)
      : steps_(steps), bytes_(std::move(bytes)) {}
  std::string all() {
    std::string out = sequence(0);
    return at_ == bytes_.size() ? out : out + " and more bytes";
  }

 private:
  template <typename T>
  T take() {
    T value{};
    if (at_ + sizeof value > bytes_.size()) return value;
    std::memcpy(&value, &bytes_[at_], sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string sequence(size_t at) {
    const Step& s = steps_[at];
    const auto state = static_cast<State>(take<uint8_t>());
    const auto size = take<uint64_t>();
    const auto count = take<uint16_t>();
    std::string out = "[";
    for (int i = 0; i < count; ++i) {
      out += i ? " " : "";
      if (s.block_size == 4) out += std::to_string(take<int32_t>());
      for (size_t part = at + 1; part < s.next; part = steps_[part].next)
        out += steps_[part].is_text ? text() : sequence(part);
    }
    if (state == State::kCut) out += "...";
    if (state == State::kBad) out += " bad";
    return out + "]" + (size != count ? "(" + std::to_string(size) + ")" : "");
  }
  std::string text() {
    const auto state = static_cast<State>(take<uint8_t>());
    const auto size = take<uint16_t>();
    if (state == State::kNull) return "NULL";
    if (state == State::kBad) return "bad";
    std::string out = "'";
    for (int i = 0; i < size; ++i) out += static_cast<char>(take<uint8_t>());
    return out + (state == State::kCut ? "'..." : "'");
  }

  const std::vector<Step>& steps_;
  std::vector<uint8_t> bytes_;
  size_t at_ = 0;
};

std::vector<uint8_t> collect_bytes(const Memory& memory, const std::vector<Step>& steps, uint64_t object,
                                   uint64_t given, uint32_t size) {
  constexpr uint32_t kGuard = 64;
  std::vector<uint8_t> out(size + kGuard, 0xa5);
  const Table table{.size = size, .hops = 100, .safe_load = 0};
  out.resize(Collector(table, steps.data(), memory, out.data()).run(object, given));
  EXPECT_LE(out.size(), size);
  return out;
}
std::string shown(const Memory& memory, const std::vector<Step>& steps, uint64_t object, uint64_t given = 0,
                  uint32_t size = 1000) {
  return Shown(steps, collect_bytes(memory, steps, object, given, size)).all();
}

Step numbers(Where where, uint32_t a, uint32_t b = 0, uint32_t c = 0) {
  return {.where = where,
          .next = 1,
          .a = a,
          .b = b,
          .c = c,
          .limit = 10,
          .stride = 4,
          .block_size = 4,
          .least = 4};
}
Step text(Where where, uint32_t a, uint32_t b = 0, uint32_t c = 0) {
  return {.is_text = true, .where = where, .next = 2, .a = a, .b = b, .c = c, .limit = 10};
}

TEST(Collect, elements_behind_a_pointer) {
  Memory m;
  m.words(0x1000, {0x2000, 0x200c});
  m.words(0x2000, {1 | 2ULL << 32, 3 | 4ULL << 32});
  EXPECT_EQ(shown(m, {numbers(Where::kBetween, 0, 8)}, 0x1000), "[1 2 3]");
  EXPECT_EQ(shown(m, {numbers(Where::kGiven, 0)}, 0x2000, 4), "[1 2 3 4]");
  EXPECT_EQ(shown(m, {numbers(Where::kGiven, 0)}, 0x2000, 5), "[1 2 3 4 bad](5)");
  EXPECT_EQ(shown(m, {numbers(Where::kBetween, 8, 0)}, 0x1000), "[ bad]");
  EXPECT_EQ(shown(m, {numbers(Where::kBetween, 0, 8)}, 0x9000), "[ bad]");
}

TEST(Collect, no_more_than_the_limit_and_the_room) {
  Memory m;
  m.words(0x1000, {0x2000, 0x2000 + 4 * 40});
  m.pieces[0x2000].resize(160);
  EXPECT_EQ(shown(m, {numbers(Where::kBetween, 0, 8)}, 0x1000), "[0 0 0 0 0 0 0 0 0 0...](40)");
  EXPECT_EQ(shown(m, {numbers(Where::kBetween, 0, 8)}, 0x1000, 0, 11 + 9), "[0 0...](40)");
  EXPECT_EQ(shown(m, {numbers(Where::kBetween, 0, 8)}, 0x1000, 0, 11), "[...](40)");
}

TEST(Collect, texts) {
  Memory m;
  m.words(0x1000, {0x2000, 0, 0x66, 0x3ffa});
  m.text(0x2000, std::string("hello") + std::string(20, 0));
  m.text(0x3ffa, "edge!!");
  Step given{.where = Where::kGiven, .next = 2, .limit = 10, .stride = 8, .least = 3};
  EXPECT_EQ(shown(m, {given, text(Where::kCString, 0)}, 0x1000, 4), "['hello' NULL bad 'edge!!'...]");
  EXPECT_EQ(shown(m, {given, text(Where::kCString, 0)}, 0x1000, 4, 11 + 3 + 2), "['he'......](4)");
}

TEST(Collect, a_text_of_no_length_is_empty_wherever_it_is) {
  Memory m;
  m.words(0x1000, {0, 0, 0, 5, 1, 0});
  Step given{.where = Where::kGiven, .next = 2, .limit = 10, .stride = 16, .least = 3};
  EXPECT_EQ(shown(m, {given, text(Where::kCounted, 0, 8)}, 0x1000, 3), "['' NULL '']");
}

TEST(Collect, libcxx_texts) {
  Memory m;
  m.text(0x1000, std::string(1, 6) + "abc" + std::string(20, 'x'));
  m.words(0x1018, {33, 4, 0x2000});
  m.text(0x2000, "longer");
  Step given{.where = Where::kGiven, .next = 2, .limit = 10, .stride = 24, .least = 3};
  std::vector<uint8_t>& whole = m.pieces[0x1000];
  whole.insert(whole.end(), m.pieces[0x1018].begin(), m.pieces[0x1018].end());
  m.pieces.erase(0x1018);
  EXPECT_EQ(shown(m, {given, text(Where::kShort, 16, 8, 1)}, 0x1000, 2), "['abc' 'long']");
}

// Nodes of a tree: left, right, parent, value.
Step tree() {
  Step s = numbers(Where::kTree, 0, 8, 16);
  s.right_offset = 8;
  s.parent_offset = 16;
  s.value_offset = 24;
  return s;
}
constexpr uint64_t kEnd = 0x1010;

Memory small_tree() {
  Memory m;
  m.words(0x1000, {0x2000, 3, 0x3000});
  m.words(0x2000, {0, 0, 0x3000, 1});
  m.words(0x3000, {0x2000, 0x4000, kEnd, 2});
  m.words(0x4000, {0, 0, 0x3000, 3});
  return m;
}

TEST(Collect, trees_in_order) {
  Memory m = small_tree();
  EXPECT_EQ(shown(m, {tree()}, 0x1000), "[1 2 3]");
  m.words(0x1000, {kEnd, 0, 0});
  EXPECT_EQ(shown(m, {tree()}, 0x1000), "[]");
}

TEST(Collect, trees_that_were_overwritten_end) {
  Memory m = small_tree();
  m.words(0x1000, {0x2000, 7, 0x3000});
  EXPECT_EQ(shown(m, {tree()}, 0x1000), "[1 2 3...](7)");
  m.words(0x4000, {0, 0x4000, 0x3000, 3});
  m.words(0x2000, {0x2000, 0x2000, 0x2000, 1});
  EXPECT_EQ(shown(m, {tree()}, 0x1000), "[1...](7)");
  m.words(0x2000, {0, 0, 0x7777, 1});
  EXPECT_EQ(shown(m, {tree()}, 0x1000), "[1 bad](7)");
}

TEST(Collect, chains) {
  Step s = numbers(Where::kChain, 0, 8, kNoSize);
  s.value_offset = 8;
  Memory m;
  m.words(0x1000, {0x2000, 2});
  m.words(0x2000, {0x3000, 5});
  m.words(0x3000, {0, 6});
  EXPECT_EQ(shown(m, {s}, 0x1000), "[5 6]");
  s.b = kNoSize;
  EXPECT_EQ(shown(m, {s}, 0x1000), "[5 6]");
  m.words(0x3000, {0x2000, 6});
  EXPECT_EQ(shown(m, {s}, 0x1000), "[5 6 5 6 5 6 5 6 5 6...](18446744073709551615)");
  s.b = 8;
  s.c = 16;  // a list that ends where it begins
  m.words(0x3000, {0x1010, 6});
  m.words(0x1000, {0x2000, 9});
  EXPECT_EQ(shown(m, {s}, 0x1000), "[5 6...](9)");
}

TEST(Collect, blocks_of_a_deque) {
  Memory m;
  m.words(0x1000, {0x200c, 0x2000, 0x2010, 0x5000, 0x3004, 0x3000, 0x3010, 0x5008});
  m.words(0x2000, {0, 7ULL << 32});
  m.words(0x3000, {8, 0});
  m.words(0x5000, {0x2000, 0x3000});
  EXPECT_EQ(shown(m, {numbers(Where::kBlocks, 0, 32)}, 0x1000), "[7 8]");
  m.words(0x1000, {0x5000, 3, 2});
  Step s = numbers(Where::kIndexed, 0, 8, 16);
  s.count = 4;
  EXPECT_EQ(shown(m, {s}, 0x1000), "[7 8]");
}

TEST(Collect, elements_that_lie_in_the_object_itself) {
  Memory m;
  m.words(0x1000, {5 | 6ULL << 32, 7 | 8ULL << 32, 1});
  Step fixed = numbers(Where::kInline, 4);
  fixed.count = 3;
  EXPECT_EQ(shown(m, {fixed}, 0x1000), "[6 7 8]");
  EXPECT_EQ(shown(m, {numbers(Where::kIf, 8, 16)}, 0x1000), "[7]");
  EXPECT_EQ(shown(m, {numbers(Where::kIf, 8, 20)}, 0x1000), "[]");
  EXPECT_EQ(shown(m, {numbers(Where::kIf, 8, 4000)}, 0x1000), "[ bad]") << "its flag cannot be read";
}

TEST(Collect, elements_whose_number_lies_beside_their_pointer) {
  Memory m;
  m.words(0x1000, {0x2000, 3});
  m.words(0x2000, {1 | 2ULL << 32, 3 | 4ULL << 32});
  EXPECT_EQ(shown(m, {numbers(Where::kCounted, 0, 8)}, 0x1000), "[1 2 3]");
  Step fixed = numbers(Where::kCounted, 0, kNoSize);
  fixed.count = 2;
  EXPECT_EQ(shown(m, {fixed}, 0x1000), "[1 2]");
  EXPECT_EQ(shown(m, {numbers(Where::kCounted, 0, 4000)}, 0x1000), "[ bad]");
  EXPECT_EQ(shown(m, {numbers(Where::kCString, 0)}, 0x1000), "[ bad]") << "no way to find elements";
}

TEST(Collect, texts_whose_length_lies_in_front_of_them) {
  Memory m;
  m.words(0x1000, {0x2018, 0, 0x9000});
  m.words(0x2000, {3, 0, 0, 0x636261});
  Step given{.where = Where::kGiven, .next = 2, .limit = 10, .stride = 8, .least = 3};
  EXPECT_EQ(shown(m, {given, text(Where::kShared, 0)}, 0x1000, 3), "['abc' NULL bad]");
}

TEST(Collect, links_that_cannot_be_read_end_a_walk) {
  Memory m = small_tree();
  m.words(0x3000, {0x2000, 0x7770, kEnd, 2});  // its right child is not there
  EXPECT_EQ(shown(m, {tree()}, 0x1000), "[1 2 bad](3)");
  m.pieces[0x2000].resize(8);
  EXPECT_EQ(shown(m, {tree()}, 0x1000), "[ bad](3)");
  Step chain = numbers(Where::kChain, 0, 8, kNoSize);
  chain.value_offset = 8;
  chain.next_offset = 4000;
  m.words(0x1000, {0x3000, 2});
  EXPECT_EQ(shown(m, {chain}, 0x1000), "[30576 bad](2)");
}

TEST(Collect, a_walk_follows_only_so_many_links) {
  Memory m;
  Step chain = numbers(Where::kChain, 0, 8, kNoSize);
  chain.limit = 1000;
  chain.value_offset = 8;
  m.words(0x1000, {0x2000, 1000});
  m.words(0x2000, {0x2000, 1});
  EXPECT_EQ(collect_bytes(m, {chain}, 0x1000, 0, 4000).size(), kSequenceHead + 101u * 4);
}

TEST(Collect, blocks_that_make_no_sense) {
  Memory m;
  const auto with = [&](std::initializer_list<uint64_t> words) {
    m.words(0x1000, words);
    return shown(m, {numbers(Where::kBlocks, 0, 32)}, 0x1000).substr(0, 6);
  };
  EXPECT_EQ(with({0x200c, 0x2000, 0x2010, 0x5008, 0x3004, 0x3000, 0x3010, 0x5000}), "[ bad]");
  EXPECT_EQ(with({0x200c, 0x2000, 0x2000, 0x5000, 0x3004, 0x3000, 0x3010, 0x5008}), "[ bad]");
  EXPECT_EQ(with({0x200c, 0x2000, 0x2010, 0x5000, 0x3004, 0x3008, 0x3010, 0x5008}), "[ bad]");
  EXPECT_EQ(with({0x200c, 0x2000, 0x2010, 0x5000, 0x2008, 0x2000, 0x2010, 0x5000}), "[ bad]");
  EXPECT_EQ(with({0x200c, 0x2000, 0x2010, 0x5000}), "[ bad]");
  m.words(0x1000, {0x5000, 3, 0});
  Step indexed = numbers(Where::kIndexed, 0, 8, 16);
  indexed.count = 4;
  EXPECT_EQ(shown(m, {indexed}, 0x1000), "[]");
  m.words(0x1000, {0x5000, 3, 2});
  EXPECT_EQ(shown(m, {indexed}, 0x1000), "[ bad](2)") << "its block is not there";
}

// Anything may be there: what comes back is whole, and no byte is written behind the room.
TEST(Collect, any_memory_at_all) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    Memory m;
    for (uint64_t at = 0x1000; at < 0x1000 + 256 * 8; at += 256) {
      auto& bytes = m.pieces[at];
      for (int i = 0; i < 32; ++i) {
        const uint64_t word = random() % 4 == 0 ? random() % 20 : 0x1000 + random() % 256 * 8;
        bytes.insert(bytes.end(), reinterpret_cast<const uint8_t*>(&word),
                     reinterpret_cast<const uint8_t*>(&word) + 8);
      }
    }
    const Where wheres[] = {Where::kCounted, Where::kBetween, Where::kTree,
                            Where::kChain,   Where::kBlocks,  Where::kIndexed};
    std::vector<Step> steps = {tree(), text(Where::kCString, 8), tree(), text(Where::kShort, 16, 8, 1)};
    for (Step& s : steps) {
      if (!s.is_text) s.where = wheres[random() % std::size(wheres)];
      if (s.where == Where::kIndexed) s.count = 3;
      s.offset = static_cast<uint32_t>(random() % 32);
    }
    steps[0].next = 4;
    steps[0].least = 4 + kTextHead + kSequenceHead;
    steps[1].after = kSequenceHead;
    steps[2].next = 4;
    steps[2].least = 4 + kTextHead;
    steps[3].next = 4;
    const auto size = static_cast<uint32_t>(kSequenceHead + random() % 300);
    EXPECT_EQ(shown(m, steps, 0x1000 + random() % 256 * 8, 0, size).find("more bytes"), std::string::npos);
  }
}

}  // namespace
}  // namespace blip::collect
