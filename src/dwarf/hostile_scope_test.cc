// SPDX-License-Identifier: MIT
// Debugging information with bytes changed at random: nothing crashes or hangs (run under a sanitizer to be
// sure).
#include <gelf.h>
#include <gtest/gtest.h>

#include <random>

#include "dwarf/test_compiled.h"
#include "dwarf/test_read_scopes.h"

namespace blip::dwarf {
namespace {

constexpr const char* kSource = R"(
enum color { RED, BLUE = 2 };
struct node { struct node* next; enum color hue; int bits : 3; int table[2][3]; };
typedef struct node node_t;
static long counter;
static inline __attribute__((always_inline)) int tiny(int n) { int sum = n * 3; counter += sum; return sum; }
int f(node_t* list, int n, struct node by_value) {
  int sum = 0;
  for (node_t* at = list; at; at = at->next) { int here = at->bits; sum += here + tiny(n); }
  return sum + tiny(n + 1) + by_value.bits;
}
long g(long n) { return n + f(0, (int)n, (struct node){0}); }
)";

// The offsets and sizes of the sections of debugging information in the file.
std::vector<std::pair<size_t, size_t>> debug_sections(const std::vector<uint8_t>& image) {
  std::vector<std::pair<size_t, size_t>> result;
  ::elf_version(EV_CURRENT);
  Elf* elf = ::elf_memory(reinterpret_cast<char*>(const_cast<uint8_t*>(image.data())), image.size());
  size_t names = 0;
  ::elf_getshdrstrndx(elf, &names);
  for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (!::gelf_getshdr(section, &header) || header.sh_size == 0) continue;
    const std::string_view name = ::elf_strptr(elf, names, header.sh_name);
    if (name.starts_with(".debug_") && name != ".debug_str")
      result.emplace_back(header.sh_offset, header.sh_size);
  }
  ::elf_end(elf);
  return result;
}

TEST(HostileScope, random_bytes_in_the_debugging_information) {
  for (const char* command : {"gcc -O2 -gdwarf-5", "gcc -O0 -gdwarf-4 -fdebug-types-section"}) {
    const auto& image = compiled(command, kSource);
    ASSERT_FALSE(image.empty());
    EXPECT_NE(read_scopes(image, 0x20), 0u);
    const auto sections = debug_sections(image);
    ASSERT_FALSE(sections.empty());
    std::mt19937 random(4711);
    for (int round = 0; round < 300; ++round) {
      auto damaged = image;
      for (int i = 0; i <= round % 8; ++i) {
        const auto [offset, size] = sections[random() % sections.size()];
        damaged[offset + random() % size] = static_cast<uint8_t>(random());
      }
      (void)read_scopes(damaged, 0x80);
    }
  }
}

TEST(HostileScope, files_that_end_early) {
  const auto& image = compiled("gcc -O2 -gdwarf-5", kSource);
  for (size_t size = 0; size < image.size(); size += image.size() / 50)
    (void)read_scopes(std::span(image).first(size), 0x80);
}

}  // namespace
}  // namespace blip::dwarf
