// SPDX-License-Identifier: MIT
// Small programs, compiled when a test runs.
#pragma once

#include <gelf.h>
#include <gtest/gtest.h>
#include <libelf.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/addr.h"
#include "dwarf/debug_info.h"

namespace blip::dwarf {

// A shared library made of `source` by `command` ("gcc -O0 -gdwarf-4"); empty: there is no such compiler.
// Several tests look at the same ones.
inline const std::vector<uint8_t>& compiled(const std::string& command, std::string_view source,
                                            const std::string& suffix = "c") {
  static std::map<std::string, std::vector<uint8_t>> known;
  std::vector<uint8_t>& bytes = known[command + std::string(source)];
  if (!bytes.empty()) return bytes;
  std::string directory = (std::filesystem::temp_directory_path() / "blip.dwarf.XXXXXX").string();
  if (!::mkdtemp(directory.data())) return bytes;
  const std::string input = directory + "/sample." + suffix, output = directory + "/sample.so";
  std::ofstream(input) << source;
  const std::string line = command + " -g -shared -fPIC -w -o " + output + " " + input;
  if (std::system(line.c_str()) == 0) {
    std::ifstream file(output, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::filesystem::remove_all(directory);
  return bytes;
}

inline GElf_Sym symbol_of(const std::vector<uint8_t>& image, std::string_view name) {
  ::elf_version(EV_CURRENT);
  Elf* elf = ::elf_memory(reinterpret_cast<char*>(const_cast<uint8_t*>(image.data())), image.size());
  GElf_Sym found{};
  for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    Elf_Data* data = ::elf_getdata(section, nullptr);
    if (!::gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB || !data) continue;
    for (size_t i = 0; i < header.sh_size / header.sh_entsize; ++i) {
      GElf_Sym symbol;
      if (!::gelf_getsym(data, static_cast<int>(i), &symbol)) continue;
      const char* text = ::elf_strptr(elf, header.sh_link, symbol.st_name);
      if (text && text == name) found = symbol;
    }
  }
  ::elf_end(elf);
  return found;
}

inline FileAddr address_of(const std::vector<uint8_t>& image, std::string_view name) {
  return FileAddr(symbol_of(image, name).st_value);
}

inline FileAddr end_of(const std::vector<uint8_t>& image, std::string_view name) {
  return address_of(image, name) + symbol_of(image, name).st_size;
}

// The ways to compile that tests go through.
inline std::vector<std::string> all_commands(std::string_view gcc, std::string_view clang) {
  std::vector<std::string> result;
  for (std::string_view compiler : {gcc, clang})
    for (const char* flags : {" -O0 -gdwarf-5", " -O0 -gdwarf-4", " -O2 -gdwarf-5", " -O2 -gdwarf-4"})
      result.push_back(std::string(compiler) + flags);
  return result;
}

}  // namespace blip::dwarf
