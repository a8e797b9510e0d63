// SPDX-License-Identifier: MIT
#include "probe/inject/target_clock.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "elf/elf_file.h"
#include "elf/symbols.h"
#include "proc/files/maps.h"
#include "proc/files/time_namespace.h"
#include "x86/general_registers.h"

namespace blip::probe {

namespace {

constexpr std::string_view kFunction = "__vdso_clock_gettime";

std::optional<TargetAddr> find_function(const std::vector<uint8_t>& image, TargetAddr base) {
  auto file = elf::ElfFile::from_bytes("[vdso]", image);
  if (!file || file->segments().empty()) return std::nullopt;
  auto symbols = elf::SymbolTable::load(*file);
  if (!symbols) return std::nullopt;
  const auto functions = symbols->functions();
  const auto found = std::find_if(functions.begin(), functions.end(), [](const elf::Function& f) {
    return elf::without_version(f.name) == kFunction;
  });
  if (found == functions.end()) return std::nullopt;
  return base + (found->addr - file->segments().front().range.begin);
}

// The function in the target's vDSO, if it keeps to general registers.
Result<std::optional<TargetAddr>> vdso_function(pid_t pid, const proc::Memory& memory) {
  TRY(const std::vector<proc::Map> maps, proc::read_maps(pid));
  const auto vdso =
      std::find_if(maps.begin(), maps.end(), [](const proc::Map& map) { return map.path == "[vdso]"; });
  if (vdso == maps.end()) return std::optional<TargetAddr>();
  std::vector<uint8_t> image(vdso->range.size());
  TRY_OK(memory.read(vdso->range.begin, image));
  const auto function = find_function(image, vdso->range.begin);
  if (!function || !x86::uses_general_registers_only(image, vdso->range.begin, *function))
    return std::optional<TargetAddr>();
  return function;
}

}  // namespace

Result<jit::MonotonicClock> find_monotonic_clock(const proc::Process& process, const proc::Memory& memory,
                                                 std::span<const Module> modules) {
  if (process.seccomp_mode() != 0)
    return Error(
        ErrorKind::kUnsupported,
        fmt::format("process {} runs under a seccomp filter, and without a usable cycle counter (TSC) each "
                    "event may need a system call: only blip count works here",
                    process.pid()));
  if (!proc::shares_time_namespace(process.pid()))
    return Error(
        ErrorKind::kUnsupported,
        fmt::format("process {} is in another time namespace, and without a usable cycle counter (TSC) its "
                    "times would be wrong: run blip in that namespace",
                    process.pid()));
  // A goroutine's stack may have no room for a function that does not know how little there is.
  if (std::any_of(modules.begin(), modules.end(), [](const Module& m) { return m.file().is_go(); }))
    return jit::MonotonicClock{};
  TRY(const std::optional<TargetAddr> function, vdso_function(process.pid(), memory));
  return jit::MonotonicClock{function.value_or(TargetAddr())};
}

}  // namespace blip::probe
