#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""measure_house.py counts what is in a small tree of known contents."""
import unittest

from measure_house import House, lacks_main_clause

FILES = {
    "room/a.h": '''#pragma once
#include "room/b.h"
// What a caller gives.
class Outer : public Base<int, 3> {
 public:
  explicit Outer(std::function<void(int)> f) : f_{f}, count_(1) {}
  bool operator()(int a) const;
  bool operator==(const Outer&) const = default;
  int count() const { return count_; }
  [[nodiscard]] static Outer make();
  struct Inner {
    int x = f(1);
    std::map<int, std::vector<int>> y{};
  };
  static constexpr int kSize = 4;

 private:
  std::function<void(int)> f_;
  int count_ = 0, other_ = 0;  // Of both.
};
''',
    "room/b.h": "struct Open { int a; int b; };\n",
    "room/b.cc": '''#include "room/b.h"
#include "room/a.h"
namespace {
int counter = 0;
const char* text = "int hidden = 0; {";
const char* const kText = R"(int hidden2; {)";
constexpr int kNumbers[] = {1, 2};
std::atomic<bool> flag{false};
void helper(int n);
}  // namespace
// Where the kernel has none, the shared ring is used.
void helper(int n) {
  static int calls = 0;
  for (int i = 0; i < n; ++i) {
    ++calls;
  }
}
bool Outer::operator()(int a) const { return a < 3; }
''',
    "room/b_test.cc": 'TEST(A, b) { EXPECT_EQ(regs.rax, 0); }\n',
    "proc/c.cc": "// rax is only named in a comment here\nvoid f(user_regs_struct& r) { r.rdi = 0; }\n",
    "x86/d.cc": "int rax(int rbx) { return rbx; }\n",
}


class Measured(unittest.TestCase):
    house = House(FILES)

    def test_functions_and_their_lines(self):
        self.assertEqual({(f.name, f.lines) for f in self.house.own_functions()},
                         {("Outer", 1), ("count", 1), ("helper", 6), ("Outer::operator()", 1), ("f", 1), ("rax", 1)})

    def test_tests_are_counted_apart(self):
        self.assertEqual([f.name for f in self.house.functions if f.file == "room/b_test.cc"], ["TEST(A,b)"])
        self.assertEqual(self.house.rooms()["room"], [3, 39, 1])

    def test_members_and_methods(self):
        self.assertEqual({(c.name, c.members, c.methods) for c in self.house.classes},
                         {("Outer", 3, 5), ("Outer::Inner", 2, 0), ("Open", 2, 0)})

    def test_a_header_and_its_source_are_one_unit_of_a_knot(self):
        self.assertEqual(self.house.knots, [["room/a", "room/b"]])

    def test_variables_that_are_not_constant(self):
        self.assertEqual([v.name for v in self.house.globals], ["counter", "text", "flag", "calls"])

    def test_x86_is_looked_for_in_code_outside_of_its_folders(self):
        self.assertEqual(self.house.x86, {"room/b_test.cc": ["rax"], "proc/c.cc": ["rdi", "user_regs_struct"]})

    def test_comments_without_a_main_clause(self):
        self.assertEqual([(f, n) for f, n, _ in self.house.fragments], [("room/a.h", 3), ("room/a.h", 19)])
        self.assertFalse(lacks_main_clause("What the pad stores is checked by the reader."))
        self.assertTrue(lacks_main_clause("Whether it is open."))


if __name__ == "__main__":
    unittest.main()
