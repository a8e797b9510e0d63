// SPDX-License-Identifier: MIT
#include "probe/code/no_code.h"

#include <elf.h>
#include <fmt/core.h>

#include <algorithm>

#include "probe/code/functions.h"
#include "proc/files/maps.h"

namespace blip::probe {

namespace {

// The user may have meant the file's own numbers, which are small in what is loaded anywhere.
std::string file_address_hint(TargetAddr address, const Module& executable) {
  const FileAddr same(address.value);
  if (!executable.file().is_position_independent() || !executable.file().segment_at(same)) return {};
  return fmt::format("; the file's own address is written {}+{:#x}", executable.basename(), same.value);
}

}  // namespace

std::string outside_of_modules(TargetAddr address, std::span<const Module> modules,
                               const ResolveContext& context) {
  const proc::Map* map = proc::find_map(context.maps, address);
  if (!map)
    return "nothing is mapped there" + (modules.empty() ? "" : file_address_hint(address, modules.front()));
  if (map->path == "[vdso]" || map->path == "[vsyscall]")
    return fmt::format(
        "in the {}, code of the kernel's that all processes share: probe the C library's function that calls "
        "it",
        map->path == "[vdso]" ? "vDSO" : "vsyscall page");
  for (const UnreadableModule& m : context.unreadable)
    if (m.path == map->path) return fmt::format("in {}", m.text());
  if (map->exec)
    return fmt::format("in code that no ELF file holds ({}): blip probes the code of files only",
                       map->path.empty() ? "made at run time" : map->path);
  return fmt::format("data ({}), not code", map->path.empty() ? "anonymous memory" : map->path);
}

std::string no_code_at(const Module& module, FileAddr address) {
  const elf::ElfFile& file = module.file();
  const elf::Segment* segment = file.segment_at(address);
  if (!segment) return fmt::format("{} has nothing at that address", module.basename());
  const elf::Section* section = file.section_at(address);
  const std::string place =
      section ? fmt::format("{} of {}", section->name, module.basename()) : module.basename();
  if (!segment->exec || (section && !(section->flags & SHF_EXECINSTR)))
    return fmt::format("data ({}), not code", place);
  if (section && section->name.starts_with(".plt"))
    return fmt::format("in a PLT ({}), on the way to another function: probe that function itself", place);
  return {};
}

std::string no_function_at(const Module& module, FileAddr address) {
  std::string text = fmt::format("in no known function of {}", module.basename());
  const auto all = all_functions(module);
  if (!all || all->empty()) return text + ": it has neither symbols nor unwind tables";
  const auto after = std::upper_bound(all->begin(), all->end(), address,
                                      [](FileAddr a, const elf::Function& f) { return a < f.addr; });
  if (after != all->begin()) {
    const elf::Function& before = *std::prev(after);
    text += fmt::format("; the nearest before it is {}, which ends {:#x} bytes before",
                        display_name(module, before), address - before.range().end);
  } else {
    text += fmt::format("; the first is {}, {:#x} bytes behind", display_name(module, *after),
                        after->addr - address);
  }
  return text;
}

}  // namespace blip::probe
