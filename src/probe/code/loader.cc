// SPDX-License-Identifier: MIT
#include "probe/code/loader.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "elf/dynamic.h"
#include "machine/elf.h"

// Loaders do this for debuggers (System V ABI, <link.h>): before and after they change the list of libraries,
// they call an empty function, _dl_debug_state, with r_debug.r_state telling which.
//
//   glibc   RT_ADD, map everything, relocate, set up TLS and rseq, RT_CONSISTENT, constructors, entry
//           With auditors (LD_AUDIT) it calls earlier, for their own list: the state of ours is still 0, that
//           is RT_CONSISTENT. So RT_ADD must have been seen.
//   musl    map, relocate, set up TLS, RT_CONSISTENT (the only call), entry, constructors

namespace blip::probe {

namespace {

constexpr std::string_view kDebugFunction = "_dl_debug_state";
constexpr const char* kGlibcDebug = "_r_debug";
constexpr const char* kMuslDebug = "_dl_debug_addr";
// ld.so calls the program's own allocator as soon as it is relocated.
constexpr std::array<std::string_view, 4> kAllocator = {"malloc", "calloc", "realloc", "free"};

const elf::Function* find_function(const Module& module, std::string_view name) {
  auto symbols = module.symbols();
  if (!symbols) return nullptr;
  for (const elf::Function& function : (*symbols)->functions())
    if (function.name == name && !function.is_ifunc) return &function;
  return nullptr;
}

std::optional<TargetAddr> find_object(const Module& module, const char* name) {
  auto symbols = module.symbols();
  if (!symbols) return std::nullopt;
  const auto value = (*symbols)->object(name);
  if (!value) return std::nullopt;
  return module.to_target(FileAddr(*value));
}

bool has_irelative(const elf::ElfFile& file, int64_t table_tag, int64_t size_tag) {
  const auto table = elf::dynamic_value(file, table_tag);
  const auto size = elf::dynamic_value(file, size_tag);
  if (!table || !size) return false;
  const auto bytes = file.bytes_from(FileAddr(*table));
  const uint64_t end = std::min<uint64_t>(bytes.size(), *size);
  for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= end; at += sizeof(Elf64_Rela)) {
    Elf64_Rela relocation;
    std::memcpy(&relocation, &bytes[at], sizeof relocation);
    if (ELF64_R_TYPE(relocation.r_info) == machine::kRelocateIndirect) return true;
  }
  return false;
}

// Code that the loader calls while it relocates.
bool called_by_loader(const Module& module) {
  if (has_irelative(module.file(), DT_RELA, DT_RELASZ) ||
      has_irelative(module.file(), DT_JMPREL, DT_PLTRELSZ))
    return true;
  auto symbols = module.symbols();
  if (!symbols) return false;
  const auto functions = (*symbols)->functions();
  return std::any_of(functions.begin(), functions.end(), [](const elf::Function& function) {
    return function.is_ifunc ||
           std::find(kAllocator.begin(), kAllocator.end(), function.name) != kAllocator.end();
  });
}

Result<int> state_of(const proc::Memory& memory, TargetAddr debug) {
  TRY(const r_debug value, memory.read_value<r_debug>(debug));
  return static_cast<int>(value.r_state);
}

}  // namespace

// Between RT_ADD and RT_CONSISTENT the loader maps the libraries, so that one which is there is not enough,
// and before RT_ADD the state is RT_CONSISTENT too.
bool libraries_ready(std::span<const Module> modules, const proc::Memory& memory) {
  if (modules.empty() || !modules.front().file().find_program_header(PT_INTERP)) return true;
  const auto needed = elf::needed_libraries(modules.front().file());
  const auto is_there = [&](const std::string& name) {
    return std::any_of(modules.begin(), modules.end(), [&](const Module& m) {
      return m.basename() == name || elf::soname(m.file()) == name;
    });
  };
  if (!std::all_of(needed.begin(), needed.end(), is_there)) return false;
  for (const Module& module : modules.subspan(1)) {
    const auto debug = find_object(module, kGlibcDebug);
    if (!debug || !find_function(module, kDebugFunction)) continue;
    const auto state = state_of(memory, *debug);
    return !state || *state == r_debug::RT_CONSISTENT;
  }
  return true;
}

std::optional<LoaderHook> find_loader_hook(std::span<const Module> modules) {
  for (size_t m = 0; m < modules.size(); ++m) {
    const elf::Function* function = find_function(modules[m], kDebugFunction);
    if (function && (find_object(modules[m], kGlibcDebug) || find_object(modules[m], kMuslDebug)))
      return LoaderHook{m, *function};
  }
  return std::nullopt;
}

std::optional<Milestone> Milestone::find(std::span<const Module> modules) {
  if (modules.empty()) return std::nullopt;
  const Module& executable = modules.front();
  if (executable.file().find_program_header(PT_INTERP)) {
    for (const Module& module : modules.subspan(1))
      if (auto found = of_loader(executable, module)) return found;
    return Milestone(Kind::kEntry, executable.to_target(executable.file().entry()));
  }
  const elf::Function* main = find_function(executable, "main");
  if (!main) return std::nullopt;
  return Milestone(Kind::kMain, executable.to_target(main->addr));
}

std::optional<Milestone> Milestone::of_loader(const Module& executable, const Module& loader) {
  const elf::Function* function = find_function(loader, kDebugFunction);
  if (!function) return std::nullopt;
  Milestone milestone(Kind::kLibrariesReady, loader.to_target(function->addr));
  milestone.debug_ = find_object(loader, kGlibcDebug);
  if (milestone.debug_) {
    milestone.debug_copy_ = find_object(executable, kGlibcDebug);
  } else if (!find_object(loader, kMuslDebug)) {
    return std::nullopt;
  }
  return milestone;
}

Result<bool> Milestone::reached(const proc::Memory& memory) {
  if (!debug_) return true;
  TRY(const int state, state_of(memory, *debug_));
  if (!seen_adding_) {
    seen_adding_ = state == r_debug::RT_ADD;
    return false;
  }
  if (state == r_debug::RT_CONSISTENT) return true;
  if (!debug_copy_) return false;
  TRY(const int copied, state_of(memory, *debug_copy_));
  return copied == r_debug::RT_CONSISTENT;
}

bool Milestone::runs_before(const Module& module) const {
  if (kind_ == Kind::kMain || !module.is_executable()) return true;
  return kind_ == Kind::kLibrariesReady && called_by_loader(module);
}

}  // namespace blip::probe
