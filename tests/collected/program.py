# SPDX-License-Identifier: MIT
"""Random C++ programs whose functions take containers of containers, and that print what they pass as JSON."""

HEADER = r"""// SPDX-License-Identifier: MIT
#include <sys/mman.h>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>
#define PROBED __attribute__((noinline, noclone))
static std::mt19937_64 rng;
static int below(int n) { return (int)(rng() % (unsigned)n); }
static int some() { return below(12) == 0 ? 60 + below(20) : below(5); }
static std::string text() { return std::string(below(6) == 0 ? 20 + below(40) : below(9), (char)('a' + below(26))); }
static FILE* out;
static const char* edge;  // a text that ends with its page, behind which there is nothing
using Chars = const char*;

template <typename T> struct Any;
template <typename T> static T any() { return Any<T>::make(); }
template <typename T> static void show(const T& value);
template <typename T> struct Shown;
template <typename T> static void show(const T& value) { Shown<T>::show(value); }

template <typename T> struct Number {
  static T make() { return (T)rng(); }
  static void show(T v) { if constexpr (std::is_signed_v<T>) fprintf(out, "%lld", (long long)v); else fprintf(out, "%llu", (unsigned long long)v); }
};
#define NUMBER(T) template <> struct Any<T> : Number<T> {}; template <> struct Shown<T> : Number<T> {};
NUMBER(short) NUMBER(unsigned short) NUMBER(int) NUMBER(unsigned) NUMBER(long) NUMBER(unsigned long)
template <> struct Any<double> { static double make() { return (double)below(100000) / 7; } };
template <> struct Shown<double> { static void show(double v) { fprintf(out, "%.17g", v); } };
template <> struct Any<bool> { static bool make() { return below(2); } };
template <> struct Shown<bool> { static void show(bool v) { fputs(v ? "true" : "false", out); } };
template <> struct Any<std::string> { static std::string make() { return text(); } };
template <> struct Shown<std::string> { static void show(const std::string& v) { fprintf(out, "\"%s\"", v.c_str()); } };
template <> struct Any<Chars> {
  static Chars make() {
    const int kind = below(8);
    return kind == 0 ? nullptr : kind == 1 ? (Chars)(uintptr_t)(16 + below(100)) : kind == 2 ? edge : strdup(text().c_str());
  }
};
template <> struct Shown<Chars> {
  static void show(Chars v) {
    if (v == edge) fputs("{\"edge\":true}", out);
    else if (v && (uintptr_t)v < 4096) fputs("{\"bad\":true}", out);
    else if (!v) fputs("null", out);
    else fprintf(out, "\"%s\"", v);
  }
};
template <typename C> struct Listed {
  static void show(const C& v) {
    const char* comma = "";
    fputc('[', out);
    for (const auto& e : v) { fputs(comma, out); ::show(e); comma = ","; }
    fputc(']', out);
  }
};
template <typename C> struct Pushed {
  static C make() { C v; for (int n = some(); n > 0; --n) v.push_back(any<typename C::value_type>()); return v; }
};
template <typename C> struct Inserted {
  static C make() { C v; for (int n = some(); n > 0; --n) v.insert(any<typename C::value_type>()); return v; }
};
template <typename T> struct Any<std::vector<T>> : Pushed<std::vector<T>> {};
template <typename T> struct Shown<std::vector<T>> : Listed<std::vector<T>> {};
template <typename T> struct Any<std::list<T>> : Pushed<std::list<T>> {};
template <typename T> struct Shown<std::list<T>> : Listed<std::list<T>> {};
template <typename T> struct Any<std::deque<T>> {
  static std::deque<T> make() {
    std::deque<T> v;
    for (int n = some() * (1 + below(20)); n > 0; --n) { if (below(2)) v.push_back(any<T>()); else v.push_front(any<T>()); if (below(4) == 0) v.pop_back(); }
    return v;
  }
};
template <typename T> struct Shown<std::deque<T>> : Listed<std::deque<T>> {};
template <typename T> struct Any<std::forward_list<T>> {
  static std::forward_list<T> make() { std::forward_list<T> v; for (int n = some(); n > 0; --n) v.push_front(any<T>()); return v; }
};
template <typename T> struct Shown<std::forward_list<T>> : Listed<std::forward_list<T>> {};
template <typename T, size_t N> struct Any<std::array<T, N>> { static std::array<T, N> make() { std::array<T, N> v; for (T& e : v) e = any<T>(); return v; } };
template <typename T, size_t N> struct Shown<std::array<T, N>> : Listed<std::array<T, N>> {};
#define SET(C) template <typename T> struct Any<std::C<T>> : Inserted<std::C<T>> {}; template <typename T> struct Shown<std::C<T>> : Listed<std::C<T>> {};
SET(set) SET(multiset) SET(unordered_set) SET(unordered_multiset)
#define MAP(C) template <typename K, typename T> struct Any<std::C<K, T>> { \
    static std::C<K, T> make() { std::C<K, T> v; for (int n = some(); n > 0; --n) v.insert({any<K>(), any<T>()}); \
      if (!v.empty() && below(2)) v.erase(v.begin()); return v; } }; \
  template <typename K, typename T> struct Shown<std::C<K, T>> : Listed<std::C<K, T>> {};
MAP(map) MAP(multimap) MAP(unordered_map) MAP(unordered_multimap)
template <typename A, typename B> struct Any<std::pair<A, B>> { static std::pair<A, B> make() { return {any<std::remove_const_t<A>>(), any<B>()}; } };
template <typename A, typename B> struct Shown<std::pair<A, B>> {
  static void show(const std::pair<A, B>& v) { fputs("{\"first\":", out); ::show<std::remove_const_t<A>>(v.first); fputs(",\"second\":", out); ::show(v.second); fputc('}', out); }
};
template <typename T> struct Any<std::optional<T>> { static std::optional<T> make() { std::optional<T> v; if (below(2)) v = any<T>(); return v; } };
template <typename T> struct Shown<std::optional<T>> {
  static void show(const std::optional<T>& v) { fprintf(out, "{\"has_value\":%s,\"value\":[", v ? "true" : "false"); if (v) ::show(*v); fputs("]}", out); }
};
template <typename... T> struct Any<std::tuple<T...>> { static std::tuple<T...> make() { return {any<T>()...}; } };
template <typename... T> struct Shown<std::tuple<T...>> {
  static void show(const std::tuple<T...>& v) {
    int n = 0;
    fputc('{', out);
    std::apply([&](const auto&... e) { ((fprintf(out, "%s\"[%d]\":", n ? "," : "", n), ::show(e), ++n), ...); }, v);
    fputc('}', out);
  }
};
"""

SCALARS = ["short", "unsigned short", "int", "unsigned", "long", "unsigned long"]
KEYS = ["int", "unsigned long", "short", "std::string"]
LISTS = ["vector", "list", "deque", "forward_list"]
SETS = ["set", "multiset", "unordered_set", "unordered_multiset"]
MAPS = ["map", "multimap", "unordered_map", "unordered_multimap"]


class Program:
    def __init__(self, random, functions=8):
        self.random, self.structs = random, []
        self.types = [self.container(2) for _ in range(functions)]

    def leaf(self):
        return self.random.choice([self.random.choice(SCALARS), "double", "bool", "std::string", "std::string", "Chars"])

    def value(self, levels):
        kind = self.random.random()
        if kind < 0.45 or levels == 0:
            return self.leaf()
        if kind < 0.6:
            return self.struct(levels)
        if kind < 0.66:
            return f"std::pair<{self.leaf()}, {self.value(levels - 1)}>"
        if kind < 0.72:
            return f"std::tuple<{self.leaf()}, {self.leaf()}, {self.value(levels - 1)}>"
        if kind < 0.78:
            return f"std::array<{self.value(levels - 1)}, {self.random.randint(1, 4)}>"
        if kind < 0.83:
            return f"std::optional<{self.leaf()}>"
        return self.container(levels - 1)

    def container(self, levels):
        kind = self.random.random()
        if kind < 0.35:
            element = self.value(levels)
            return f"std::{self.random.choice(LISTS)}<{'int' if element == 'bool' else element}>"
        if kind < 0.5:
            return f"std::{self.random.choice(SETS)}<{self.random.choice(KEYS)}>"
        return f"std::{self.random.choice(MAPS)}<{self.random.choice(KEYS)}, {self.value(levels)}>"

    def struct(self, levels):
        members = [self.value(levels - 1) for _ in range(self.random.randint(1, 4))]
        self.structs.append(members)
        return f"S{len(self.structs) - 1}"

    def source(self, seed):
        parts = [HEADER]
        for n, members in enumerate(self.structs):
            name = f"S{n}"
            fields = " ".join(f"{t} m{i}{{}};" for i, t in enumerate(members))
            parts.append(f"struct {name} {{ {fields} }};")
            made = ", ".join(f"any<{t}>()" for t in members)
            parts.append(f"template <> struct Any<{name}> {{ static {name} make() {{ return {{{made}}}; }} }};")
            shown = " ".join(f'fputs("{"," if i else ""}\\"m{i}\\":", out); ::show(v.m{i});' for i in range(len(members)))
            parts.append(f"template <> struct Shown<{name}> {{ static void show(const {name}& v) {{ fputc('{{', out); {shown} fputc('}}', out); }} }};")
        for n, name in enumerate(self.types):
            parts.append(f'extern "C" PROBED void f{n}(const {name}& v) {{ asm volatile("" ::"r"(&v) : "memory"); }}')
        calls = "\n".join(f'    {{ auto v = any<{t}>(); fprintf(out, "f{n} "); show(v); fputc(\'\\n\', out); f{n}(v); }}' for n, t in enumerate(self.types))
        parts.append(f"""int main(int, char** argv) {{
  out = fopen(argv[1], "w");
  auto* pages = (char*)mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(pages, 'e', 4096);
  munmap(pages + 4096, 4096);
  edge = pages + 4096 - 5;
  rng.seed({seed});
  for (int round = 0; round < 6; ++round) {{
{calls}
  }}
  fclose(out);
  return 0;
}}
""")
        return "\n".join(parts)
