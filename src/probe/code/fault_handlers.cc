// SPDX-License-Identifier: MIT
#include "probe/code/fault_handlers.h"

#include <algorithm>
#include <string_view>

namespace blip::probe {

namespace {

// Rust's handler prints this text, which survives stripping.
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

bool has_function(const Module& module, std::string_view name) {
  const auto symbols = module.symbols();
  if (!symbols) return false;
  const auto functions = (*symbols)->functions();
  return std::any_of(functions.begin(), functions.end(),
                     [&](const elf::Function& f) { return f.name == name; });
}

bool has_section(const Module& module, std::string_view name) {
  const auto sections = module.file().sections();
  return std::any_of(sections.begin(), sections.end(), [&](const elf::Section& s) { return s.name == name; });
}

// HotSpot turns faults of code it has made into exceptions. Of its own code it knows SafeFetch by address;
// where that has no name it could be anywhere. In other code of files a fault is reported, or a flag of the
// thread says that the program goes on behind the instruction, wherever that is.
bool is_hotspot(const Module& module) {
  return module.basename() == "libjvm.so" && has_function(module, "JVM_handle_linux_signal") &&
         has_function(module, "SafeFetch32_impl");
}

// MariaDB, MySQL: a report, and the end. V8's handler is for code made of WebAssembly, and asks a flag of the
// thread first; node has no other. Crashpad, as in chromium, tells another process of the crash.
bool only_reports(const Module& executable) {
  const bool is_mysql =
      has_function(executable, "handle_fatal_signal") && has_function(executable, "_Z11mysqld_mainiPPc");
  return is_mysql || has_function(executable, "_ZN4node25TrapWebAssemblyOrContinueEiP9siginfo_tPv") ||
         has_section(executable, ".note.crashpad.info") || holds_text(executable.file(), kRustMessage);
}

// Machines for other languages turn faults in their own code into exceptions.
bool is_managed_runtime(const Module& module) {
  if (is_hotspot(module)) return false;
  for (const char* name : {"libjvm.so", "libcoreclr.so", "libmono", "libart.so", "libgo.so", "libpypy"})
    if (module.basename().starts_with(name)) return true;
  return module.file().is_go();
}

}  // namespace

bool faults_are_only_reported(std::span<const Module> modules) {
  if (std::any_of(modules.begin(), modules.end(), is_managed_runtime)) return false;
  if (std::any_of(modules.begin(), modules.end(), is_sanitizer)) return true;
  if (std::any_of(modules.begin(), modules.end(), is_hotspot)) return true;
  return !modules.empty() && only_reports(modules.front());
}

bool is_known_to_fault(const Module& module, const elf::Function& function) {
  return module.basename() == "libjvm.so" &&
         (function.name.starts_with("SafeFetch") || function.name.starts_with("_SafeFetch"));
}

}  // namespace blip::probe
