// SPDX-License-Identifier: MIT
// node_types [bad]: containers whose elements lie in nodes, and other types of libstdc++. The values are
// known. With `bad`, trees and lists that were overwritten.
#include <array>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

extern "C" {
#include <sys/mman.h>

#include "target.h"
}

struct Point {
  int x, y;
};

struct Entry {
  const char* name;
  int length;
  const char* note;
  char* list[3];
};

PROBED void maps(const std::map<int, long>& m, const std::map<std::string, int>& words,
                 std::multimap<int, Point>& multi, const std::map<int, int>& none) {
  asm volatile("" ::"r"(&m), "r"(&words), "r"(&multi), "r"(&none) : "memory");
}

PROBED void sets(const std::set<int>& s, const std::multiset<std::string>& texts,
                 const std::set<int>& large) {
  asm volatile("" ::"r"(&s), "r"(&texts), "r"(&large) : "memory");
}

PROBED void hashed(const std::unordered_map<std::string, Point>& m, const std::unordered_set<int>& s,
                   const std::unordered_multimap<int, std::string>& multi,
                   const std::unordered_map<int, int>& none) {
  asm volatile("" ::"r"(&m), "r"(&s), "r"(&multi), "r"(&none) : "memory");
}

PROBED void others(const std::list<int>& l, const std::array<short, 4>& a, std::span<int> some,
                   std::span<int, 2> two, const std::tuple<int, std::string, double>& t) {
  asm volatile("" ::"r"(&l), "r"(&a), "r"(&some), "r"(&two), "r"(&t) : "memory");
}

PROBED void choices(const std::variant<int, std::string, Point>& v, const std::optional<Point>& o,
                    int round) {
  asm volatile("" ::"r"(&v), "r"(&o), "r"(round) : "memory");
}

PROBED void entries(const Entry* e, const char* const* names, const Entry* all, const char* edge) {
  asm volatile("" ::"r"(e), "r"(names), "r"(all), "r"(edge) : "memory");
}

PROBED void in_order(const std::map<unsigned, unsigned>& m, const std::set<std::string>& s,
                     const std::unordered_set<unsigned>& h) {
  asm volatile("" ::"r"(&m), "r"(&s), "r"(&h) : "memory");
}

PROBED void overwritten(const std::map<int, int>& m, const std::unordered_set<int>& s,
                        const std::list<int>& l) {
  asm volatile("" ::"r"(&m), "r"(&s), "r"(&l) : "memory");
}

// Containers of random sizes, built by insertions and removals; what they hold is printed in their own order.
static void random_ones(unsigned seed) {
  std::map<unsigned, unsigned> m;
  std::set<std::string> s;
  std::unordered_set<unsigned> h;
  srand(seed);
  for (int i = rand() % 90; i > 0; --i) {
    const unsigned key = (unsigned)rand() % 50;
    if (rand() % 3 == 0) {
      m.erase(key);
      h.erase(key);
    } else {
      m[key] = key * key;
      h.insert(key);
      if (s.size() < 20) s.insert(std::string(key % 30, 'a' + key % 26));
    }
  }
  std::string line;
  for (const auto& [k, v] : m) line += std::to_string(k) + ":" + std::to_string(v) + ",";
  say("map%u=%s", seed, line.c_str());
  line.clear();
  for (const auto& text : s) line += text + ",";
  say("set%u=%s", seed, line.c_str());
  line.clear();
  for (const unsigned v : h) line += std::to_string(v) + ",";
  say("hash%u=%s", seed, line.c_str());
  in_order(m, s, h);
}

// A tree whose leftmost node is its own right child's left one, a list that leads to itself, one that leads
// nowhere.
static void bad_ones() {
  std::map<int, int> m;
  std::unordered_set<int> s;
  std::list<int> l;
  for (int i = 0; i < 7; ++i) {
    m[i] = i;
    s.insert(i);
    l.push_back(i);
  }
  auto* links = (void**)((char*)&*m.begin() - 32);
  void* saved[4] = {links[0], links[1], links[2], links[3]};
  links[3] = links;
  links[2] = links;
  auto* hash_node = (void**)((char*)&*s.begin() - 8);
  void* hash_next = *hash_node;
  *hash_node = hash_node;
  auto* list_node = (void**)((char*)&*l.begin() - 16);
  void* list_next = *list_node;
  *list_node = (void*)64;
  overwritten(m, s, l);
  links[1] = links[2] = links[3] = (void*)0x123456789000;
  overwritten(m, s, l);
  memcpy(links, saved, sizeof saved);
  *hash_node = hash_next;
  *list_node = list_next;
  overwritten(m, s, l);
}

int main(int argc, char** argv) {
  const bool bad = argc > 1 && strcmp(argv[1], "bad") == 0;
  std::map<int, long> m = {{3, 30}, {1, 10}, {2, 20}};
  std::map<std::string, int> words = {{"two", 2}, {std::string(40, 'x'), 40}, {"one", 1}};
  std::multimap<int, Point> multi = {{1, {1, 2}}, {1, {3, 4}}};
  std::map<int, int> none;
  std::set<int> s = {5, 4, 6}, large;
  for (int i = 0; i < 1000; ++i) large.insert(i);
  std::multiset<std::string> texts = {"b", "a", "b"};
  std::unordered_map<std::string, Point> hm = {{"only", {7, 8}}};
  std::unordered_set<int> hs = {9};
  std::unordered_multimap<int, std::string> hmm = {{1, "uno"}, {1, "ein"}};
  std::unordered_map<int, int> hnone;
  std::list<int> l = {1, 2, 3};
  std::array<short, 4> a = {1, -2, 3, -4};
  int numbers[] = {10, 20, 30};
  std::tuple<int, std::string, double> t = {1, "two", 3.5};
  char one[] = "one", two[] = "two";
  Entry list[2] = {{"first", 5, nullptr, {one, nullptr, two}},
                   {"second", 6, (const char*)16, {two, one, (char*)24}}};
  const char* names[] = {"argv0", "--flag", nullptr};
  char* pages = (char*)mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(pages, 'e', 4096);
  munmap(pages + 4096, 4096);
  say("ready");
  while (next_round()) {
    if (bad) {
      bad_ones();
    } else {
      maps(m, words, multi, none);
      sets(s, texts, large);
      hashed(hm, hs, hmm, hnone);
      others(l, a, std::span(numbers), std::span<int, 2>(numbers, 2), t);
      for (int i = 0; i < 3; ++i) {
        std::variant<int, std::string, Point> v;
        if (i == 0) v = 5;
        if (i == 1) v = "text";
        if (i == 2) v = Point{1, 2};
        choices(v, i == 1 ? std::optional<Point>() : Point{i, i + 1}, i);
      }
      entries(&list[0], names, list, pages + 4096 - 5);
      for (unsigned seed = 0; seed < 20; ++seed) random_ones(seed);
    }
    say("done");
  }
  return 0;
}
