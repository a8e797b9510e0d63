// SPDX-License-Identifier: MIT
// containers N: N calls of each function per round, with the types of the standard library.
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "target.h"

struct Point {
  int x;
  double y;
};
struct Node {
  std::string name;
  std::unique_ptr<Node> next;
  int value;
};
enum class Color : unsigned char { kRed, kGreen = 7 };
namespace app {
struct Request {
  std::string path;
  std::vector<int> sizes;
  std::optional<int> code;
  Color color;
  bool ok;
  std::shared_ptr<Point> at;
  std::array<short, 3> shorts;
};
}  // namespace app

PROBED void texts(const std::string& s, std::string_view v, std::string by_value, std::string* p) {
  asm volatile("" ::"r"(s.size() + v.size() + by_value.size() + p->size()) : "memory");
}
PROBED void optionals(std::optional<int> o, const std::optional<Point>& point,
                      const std::optional<std::string>& text) {
  asm volatile("" ::"r"(o.value_or(3) + point.has_value() + text.has_value()) : "memory");
}
PROBED void owners(std::unique_ptr<Node> n, const std::shared_ptr<Point>& shared, Node* raw) {
  asm volatile("" ::"r"(n->value + shared->x + raw->value) : "memory");
}
PROBED void handle(app::Request& r, float f, Color c, char letter) {
  asm volatile("" ::"r"(r.sizes.size() + static_cast<size_t>(f) + static_cast<size_t>(c) + letter)
               : "memory");
}
PROBED void points(std::vector<Point> all, const std::vector<int>& none) {
  asm volatile("" ::"r"(all.size() + none.size()) : "memory");
}
PROBED void names(const std::vector<std::string>& all, const std::vector<std::string>& none,
                  const std::vector<std::string>& many, std::vector<std::string_view> views) {
  asm volatile("" ::"r"(all.size() + none.size() + many.size() + views.size()) : "memory");
}
struct Counter {
  int base = 5;
  std::string label = "member";
  PROBED void add(int n) const { asm volatile("" ::"r"(base + n) : "memory"); }
};

static void call_all(int i) {
  std::string text(40, 'x'), other = "other";
  texts(text, "a view", "short", &other);
  const std::optional<Point> point = i % 2 ? std::optional(Point{1, 2.5}) : std::nullopt;
  const std::optional<std::string> name = i % 2 ? std::optional(other) : std::nullopt;
  optionals(i % 2 ? std::optional(42) : std::nullopt, point, name);
  auto node = std::make_unique<Node>(Node{"first", std::make_unique<Node>(Node{"second", nullptr, 2}), 9});
  Node* raw = node.get();
  owners(std::move(node), std::make_shared<Point>(Point{3, 4}), raw);
  app::Request request{"/admin", {1, 2, 3}, 404, Color::kGreen, true, std::make_shared<Point>(Point{1, 2.5}),
                       {1, 2, 3}};
  handle(request, 2.25F, Color::kRed, 'q');
  points({{1, 1.5}, {2, 2.5}}, {});
  names({"one", std::string(40, 'y'), ""}, {}, std::vector<std::string>(20, "same"), {"a view", "another"});
  Counter().add(3);
}

int main(int argc, char** argv) {
  const int calls = argc > 1 ? atoi(argv[1]) : 2;
  say("ready");
  while (next_round()) {
    for (int i = 0; i < calls; i++) call_all(i);
    say("calls=%d", calls);
    say("done");
  }
}
