// SPDX-License-Identifier: MIT
#include "probe/fault_handlers.h"

#include <algorithm>
#include <string_view>

namespace blip::probe {

namespace {

// What Rust's handler prints; the text survives stripping.
constexpr std::string_view kRustMessage = "has overflowed its stack";

bool holds_text(const elf::ElfFile& file, std::string_view text) {
  return std::any_of(file.segments().begin(), file.segments().end(), [&](const elf::Segment& s) {
    const auto bytes = file.bytes(s.range);
    const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return content.find(text) != std::string_view::npos;
  });
}

bool is_sanitizer(const Module& module) {
  for (const char* name : {"libasan.so", "libtsan.so", "libubsan.so", "liblsan.so"})
    if (module.basename().starts_with(name)) return true;
  return false;
}

// Machines for other languages turn faults in their own code into exceptions.
bool is_managed_runtime(const Module& module) {
  for (const char* name : {"libjvm.so", "libcoreclr.so", "libmono", "libart.so", "libgo.so", "libpypy"})
    if (module.basename().starts_with(name)) return true;
  return module.file().is_go();
}

}  // namespace

bool faults_are_only_reported(std::span<const Module> modules) {
  if (std::any_of(modules.begin(), modules.end(), is_managed_runtime)) return false;
  if (std::any_of(modules.begin(), modules.end(), is_sanitizer)) return true;
  return !modules.empty() && holds_text(modules.front().file(), kRustMessage);
}

}  // namespace blip::probe
