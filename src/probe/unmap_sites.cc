// SPDX-License-Identifier: MIT
#include "probe/unmap_sites.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <optional>

#include "abi/layout.h"
#include "jit/unmap_pad.h"
#include "probe/module_code.h"
#include "ring/doomed.h"
#include "x86/decode.h"

namespace blip::probe {

namespace {

// Without one of these the library is not what it is taken for.
constexpr uint32_t kExpected[] = {ring::kMmap, ring::kMprotect, ring::kMunmap,
                                  ring::kBrk,  ring::kMremap,   ring::kMadvise};

bool crosses_page(TargetAddr a) {
  return a.value / abi::kPageSize != (a.value + abi::kJumpSize - 1) / abi::kPageSize;
}

const elf::Function* find_function(const Module& module, std::string_view name) {
  const auto symbols = module.symbols();
  if (!symbols) return nullptr;
  for (const elf::Function& function : (*symbols)->functions())
    if (function.name == name) return &function;
  return nullptr;
}

bool is_glibc(const Module& module) {
  return module.is_libc() && find_function(module, "gnu_get_libc_version") != nullptr;
}

bool is_glibc_loader(const Module& module) {
  return module.basename().starts_with("ld-linux") || module.basename().starts_with("ld-2");
}

template <typename Work>
void for_each_text(const Module& module, Work work) {
  for (const elf::Segment& s : module.file().segments())
    if (s.exec) work(module.file().bytes(s.range), module.to_target(s.range.begin));
}

std::vector<x86::CloneSite> sites_in(const Module& module) {
  std::vector<x86::CloneSite> all;
  for_each_text(module, [&](std::span<const uint8_t> text, TargetAddr base) {
    const auto some = x86::find_syscall_sites(text, base, ring::kDooming);
    all.insert(all.end(), some.begin(), some.end());
  });
  return all;
}

// `mov 8(%rsp), %r9; syscall` in syscall().
std::optional<x86::CloneSite> any_number_site(const Module& libc) {
  constexpr std::array<uint8_t, 7> kPattern = {0x4c, 0x8b, 0x4c, 0x24, 0x08, 0x0f, 0x05};
  const elf::Function* function = find_function(libc, "syscall");
  if (!function) return std::nullopt;
  const auto code = libc.file().bytes({function->addr, function->addr + function->size});
  const auto found = std::search(code.begin(), code.end(), kPattern.begin(), kPattern.end());
  if (found == code.end()) return std::nullopt;
  const TargetAddr at = libc.to_target(function->addr) + static_cast<uint64_t>(found - code.begin());
  return x86::CloneSite{at, jit::kAnyNumber, true};  // what follows compares the result
}

// Where decoding has to begin to come by: at the start of the function that holds the address, or else of
// what is nearest before it, for symbols of assembly may have no size.
std::optional<TargetAddr> start_before(const FunctionRanges& functions, TargetAddr at) {
  constexpr size_t kNested = 64;
  const auto next = std::upper_bound(functions.starts.begin(), functions.starts.end(), at);
  const auto count = static_cast<size_t>(next - functions.starts.begin());
  if (count == 0) return std::nullopt;
  for (size_t i = count; i-- > 0 && i + kNested >= count;)
    if (at < functions.ends[i]) return functions.starts[i];
  return functions.starts[count - 1];
}

// Whether an instruction begins there; also where nobody knows.
bool is_instruction(const Module& module, const FunctionRanges& functions, TargetAddr at) {
  const auto start = start_before(functions, at);
  if (!start) return true;
  const auto code = module.file().bytes({module.to_file(*start), module.to_file(at) + x86::kMaxInsnLength});
  TargetAddr pc = *start;
  while (pc < at) {
    if (pc - *start >= code.size()) return true;
    const auto insn = x86::decode(code.subspan(pc - *start), pc);
    if (!insn) return true;
    pc = insn->end();
  }
  return pc == at;
}

// Of a system call whose number can be seen: mov $number, %eax right before it.
std::optional<uint32_t> number_at(const Module& module, TargetAddr syscall) {
  const FileAddr at = module.to_file(syscall);
  const auto bytes = module.file().bytes({at - abi::kJumpSize, at});
  if (bytes.size() != abi::kJumpSize || bytes[0] != 0xb8) return std::nullopt;
  uint32_t number;
  std::memcpy(&number, &bytes[1], sizeof number);
  return number;
}

std::string makes_unknown_calls(const Module& module) {
  std::string obstacle;
  std::optional<FunctionRanges> functions;
  for_each_text(module, [&](std::span<const uint8_t> text, TargetAddr base) {
    for (TargetAddr at : x86::find_syscall_bytes(text, base)) {
      if (!obstacle.empty() || number_at(module, at)) continue;
      if (!functions) functions = FunctionRanges::of(module);
      if (is_instruction(module, *functions, at))
        obstacle = module.basename() + " makes system calls of its own";
    }
  });
  return obstacle;
}

std::string add_sites(const Module& module, std::vector<x86::CloneSite>& sites) {
  for (const x86::CloneSite& site : sites_in(module)) {
    if (!site.flags_dead_after || crosses_page(site.addr))
      return module.basename() + " has a system call that cannot be watched";
    sites.push_back(site);
  }
  return "";
}

std::string check_libc(const Module& libc, std::vector<x86::CloneSite>& sites) {
  const auto any = any_number_site(libc);
  const auto has = [&](uint32_t number) {
    return std::any_of(sites.begin(), sites.end(), [&](const auto& s) { return s.number == number; });
  };
  if (!any || crosses_page(any->addr) || !std::all_of(std::begin(kExpected), std::end(kExpected), has))
    return libc.basename() + " makes system calls in a way that blip does not know";
  sites.push_back(*any);
  return "";
}

}  // namespace

std::string calls_of_its_own(const Module& module) {
  if (module.file().is_go()) return "Go programs make system calls of their own";
  if (std::string unknown = makes_unknown_calls(module); !unknown.empty()) return unknown;
  return sites_in(module).empty() ? "" : module.basename() + " makes system calls of its own";
}

UnmapSites find_unmap_sites(std::span<const Module> modules) {
  UnmapSites found;
  bool has_libc = false;
  for (const Module& module : modules) {
    const bool is_known = is_glibc(module) || is_glibc_loader(module);
    std::string obstacle = is_known ? add_sites(module, found.sites) : calls_of_its_own(module);
    if (obstacle.empty() && is_glibc(module)) obstacle = check_libc(module, found.sites);
    has_libc |= is_glibc(module);
    if (!obstacle.empty()) return {.sites = {}, .obstacle = obstacle};
  }
  if (!has_libc) return {.sites = {}, .obstacle = "the program does not use the GNU C library"};
  return found;
}

}  // namespace blip::probe
