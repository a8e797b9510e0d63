// SPDX-License-Identifier: MIT
#include "session/debug_images.h"

namespace blip::session {

std::vector<std::span<const uint8_t>> debug_images(const probe::Module& module) {
  (void)module.symbols();  // finds the debug file
  const auto whole = [](const elf::ElfFile& file) { return file.file_bytes(FileOffset(0), file.size()); };
  std::vector<std::span<const uint8_t>> images{whole(module.file())};
  for (const elf::ElfFile& file : module.debug_files()) images.push_back(whole(file));
  return images;
}

}  // namespace blip::session
