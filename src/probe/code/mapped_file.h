// SPDX-License-Identifier: MIT
// The file behind a mapping of the target: the one it has loaded, not one that has its name now.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "elf/elf_file.h"
#include "probe/code/module_file.h"
#include "proc/files/maps.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"

namespace blip::probe {

struct MappedFile {
  std::shared_ptr<ModuleFile> file;
  uint64_t bias = 0;  // run-time address - file address
};

// Run-time address - file address, from where an executable mapping of the file lies.
std::optional<uint64_t> load_bias(const elf::ElfFile& file, const proc::Map& map);

// Opened through the kernel's own link to it (/proc/PID/map_files, needs a capability), the executable's
// link, the path as the target sees it, the path as we see it. What was opened by path is accepted only if
// it is the same build as in memory (build-id; without one, the same inode and the same text), so a package
// upgrade under a running process gives an error, never the wrong offsets.
// `roots` are for its debug files.
Result<MappedFile> open_mapped_file(const proc::Process& process, const proc::Memory& memory,
                                    const proc::Map& map, bool is_executable,
                                    const std::vector<elf::SearchRoot>& roots, ModuleFiles& files);

}  // namespace blip::probe
