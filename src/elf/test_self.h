// SPDX-License-Identifier: MIT
// The test program itself as an input: the addresses of its functions are known to be true.
#pragma once

#include <link.h>
#include <sys/auxv.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "elf/elf_file.h"

namespace blip::elf {

inline const ElfFile& test_self() {
  static const ElfFile self = [] {
    auto file = ElfFile::open("/proc/self/exe");
    CHECK(file.has_value());
    return *std::move(file);
  }();
  return self;
}

// The difference between the addresses at which the kernel loaded this program and those in its file.
inline uint64_t load_bias() { return getauxval(AT_ENTRY) - test_self().entry().value; }

template <typename T>
FileAddr file_addr(T* pointer) {
  return FileAddr(reinterpret_cast<uint64_t>(pointer) - load_bias());
}

// The path of a library this program runs with, by a part of its name; empty if there is none (a static
// build).
inline std::string loaded_library(std::string_view part) {
  struct Search {
    std::string_view part;
    std::string path;
  } search{part, ""};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* wanted = static_cast<Search*>(data);
        if (std::string_view(info->dlpi_name).find(wanted->part) == std::string_view::npos) return 0;
        wanted->path = info->dlpi_name;
        return 1;
      },
      &search);
  return search.path;
}

}  // namespace blip::elf
