// SPDX-License-Identifier: MIT
#include "session/symbolize/debug_images.h"

#include "elf/alternate_file.h"

namespace blip::session {

namespace {

std::span<const uint8_t> whole(const elf::ElfFile& file) {
  return file.file_bytes(FileOffset(0), file.size());
}

// Among the debug files of a module, the one that another of its files names.
bool is_alternate(const probe::Module& module, const elf::ElfFile& file) {
  const auto names_it = [&](const elf::ElfFile& other) {
    const auto link = elf::alternate_link(other);
    return link && link->build_id == file.build_id();
  };
  if (names_it(module.file())) return true;
  for (const elf::ElfFile& other : module.debug_files())
    if (&other != &file && names_it(other)) return true;
  return false;
}

}  // namespace

std::vector<std::span<const uint8_t>> debug_images(const probe::Module& module) {
  (void)module.symbols();  // finds the debug file
  std::vector<std::span<const uint8_t>> images{whole(module.file())};
  for (const elf::ElfFile& file : module.debug_files())
    if (!is_alternate(module, file)) images.push_back(whole(file));
  return images;
}

std::span<const uint8_t> alternate_image(const probe::Module& module) {
  (void)module.symbols();
  for (const elf::ElfFile& file : module.debug_files())
    if (is_alternate(module, file)) return whole(file);
  return {};
}

}  // namespace blip::session
