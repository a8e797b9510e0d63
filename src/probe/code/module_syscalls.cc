// SPDX-License-Identifier: MIT
#include "probe/code/module_syscalls.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>

#include "abi/layout.h"
#include "base/page.h"
#include "jit/unmap_pad.h"
#include "probe/code/function_entries.h"
#include "probe/code/module_code.h"
#include "x86/flow/call_numbers.h"

namespace blip::probe {

namespace {

using Bytes = std::array<uint8_t, abi::kJumpSize>;
constexpr Bytes kLoadSixth = {0x4c, 0x8b, 0x4c, 0x24, 0x08};  // mov 8(%rsp), %r9
constexpr uint8_t kLoadNumber = 0xb8;                         // mov $number, %eax

// Limits the code that is decoded to tell calls from bytes that look like one, to what takes a second or two.
// What is in the functions that remain is not known. Bytes at random are in one function of thirty.
constexpr uint64_t kMostDecoded = 32 << 20;

// The function around an address, from where decoding comes by it. Symbols of assembly may have no size: then
// what is nearest before it, up to the next.
std::optional<AddrRange> function_around(const FunctionRanges& functions, TargetAddr at) {
  constexpr size_t kNested = 64;
  const auto next = std::upper_bound(functions.starts.begin(), functions.starts.end(), at);
  const auto count = static_cast<size_t>(next - functions.starts.begin());
  if (count == 0) return std::nullopt;
  for (size_t i = count; i-- > 0 && i + kNested >= count;)
    if (at < functions.ends[i]) return AddrRange{functions.starts[i], functions.ends[i]};
  constexpr uint64_t kFurthest = 1 << 20, kSyscallSize = 2;
  const TargetAddr start = functions.starts[count - 1];
  const TargetAddr end = next != functions.starts.end() ? *next : at + kSyscallSize;
  if (end - start > kFurthest) return std::nullopt;
  return AddrRange{start, end};
}

class SyscallFinder {
 public:
  SyscallFinder(const Module& module, std::span<const uint32_t> numbers, SyscallSearch search)
      : module_(module), wanted_(numbers), search_(search) {}

  std::vector<SureSyscalls> run_sure() {
    std::vector<TargetAddr> places;
    for (const elf::Segment& s : module_.file().segments()) {
      if (!s.exec) continue;
      const auto some =
          x86::find_syscall_bytes(module_.file().bytes(s.range), module_.to_target(s.range.begin));
      places.insert(places.end(), some.begin(), some.end());
    }
    if (!places.empty()) functions_ = FunctionRanges::of(module_);
    std::erase_if(places, [&](TargetAddr at) {
      const auto function = function_around(functions_, at);
      return !function || !loads_wanted(code_of(*function));
    });
    if (!places.empty()) analyse(places);
    std::vector<SureSyscalls> sure;
    for (auto& [function, found] : analysed_) {
      std::erase_if(found.calls, [&undecodable = found.undecodable](const x86::NumberedCall& call) {
        return call.numbers.empty() || (undecodable && call.at >= *undecodable);
      });
      if (!found.calls.empty()) sure.push_back({std::move(found.calls)});
    }
    return sure;
  }

  ModuleSyscalls run() {
    std::vector<TargetAddr> places;
    for (const elf::Segment& s : module_.file().segments()) {
      if (!s.exec) continue;
      const auto text = module_.file().bytes(s.range);
      const TargetAddr base = module_.to_target(s.range.begin);
      for (TargetAddr at : x86::find_syscall_bytes(text, base)) {
        places.push_back(at);
        if (const auto site = x86::syscall_site_at(text, base, at, wanted_)) forms_.push_back(*site);
      }
    }
    if (search_ == SyscallSearch::kWatchable)
      std::erase_if(places, [&](TargetAddr at) { return !may_be_site(at); });
    if (!places.empty()) functions_ = FunctionRanges::of(module_);
    if (search_ == SyscallSearch::kAllOrNone && any_hopeless(places))
      return {.sites = {}, .unknown = why_unknown()};
    if (!places.empty()) analyse(places);
    for (TargetAddr at : places) look_at(at);
    return std::move(calls_);
  }

 private:
  std::string why_unknown() const { return module_.basename() + " makes system calls of its own"; }

  // mov $number, %REG, for any register of the first eight.
  bool loads_wanted(std::span<const uint8_t> code) const {
    for (size_t i = 0; i + abi::kJumpSize <= code.size(); ++i) {
      if ((code[i] & 0xf8) != kLoadNumber) continue;
      uint32_t number;
      std::memcpy(&number, &code[i + 1], sizeof number);
      if (std::find(wanted_.begin(), wanted_.end(), number) != wanted_.end()) return true;
    }
    return false;
  }

  // In no function that could be looked at: in large programs without names it is seen at once.
  bool any_hopeless(std::span<const TargetAddr> places) const {
    return std::any_of(places.begin(), places.end(), [&](TargetAddr at) {
      const auto function = function_around(functions_, at);
      return (!function || function->size() > kMostDecoded) && !sets_ids(at) && !site_of(at, nullptr);
    });
  }

  // First what is one at all: in most modules the bytes are a part of something else.
  void analyse(std::span<const TargetAddr> places) {
    std::vector<AddrRange> callers;
    for (TargetAddr at : places) {
      const auto function = function_around(functions_, at);
      if (!function || analysed_.contains(*function)) continue;
      if (function->size() > left_to_decode_) continue;
      left_to_decode_ -= function->size();
      analysed_[*function] = x86::find_calls(code_of(*function), function->begin);
      if (!analysed_[*function].calls.empty()) callers.push_back(*function);
    }
    if (callers.empty()) return;
    std::sort(callers.begin(), callers.end());
    std::optional<FunctionEntries> entries;
    if (search_ != SyscallSearch::kWatchable) entries.emplace(module_, functions_, callers);
    for (const AddrRange& f : callers)
      analysed_[f] =
          x86::find_call_numbers(code_of(f), f.begin, entries ? entries->of(f) : x86::OutsideEntries{});
  }

  std::span<const uint8_t> code_of(AddrRange function) const {
    return module_.file().bytes({module_.to_file(function.begin), module_.to_file(function.end)});
  }

  void look_at(TargetAddr at) {
    const auto function = function_around(functions_, at);
    const x86::NumberedCall* call = nullptr;
    const auto analysed = function ? analysed_.find(*function) : analysed_.end();
    if (analysed != analysed_.end()) {
      const x86::FunctionCalls& found = analysed->second;
      const bool is_sure = !found.undecodable || at < *found.undecodable;
      const auto it =
          std::find_if(found.calls.begin(), found.calls.end(), [&](const auto& c) { return c.at == at; });
      if (it == found.calls.end() && is_sure) return;  // the bytes are a part of something else
      if (it != found.calls.end() && is_sure) call = &*it;
    }
    if (call && !call->numbers.empty() && !is_wanted(*call)) return;
    if (sets_ids(at)) return;
    const auto site = site_of(at, call);
    if (!site || !site->flags_dead_after || crosses_page(site->addr, abi::kJumpSize))
      calls_.unknown = why_unknown();
    else
      calls_.sites.push_back(*site);
  }

  // By its bytes.
  bool may_be_site(TargetAddr at) const {
    const auto before = module_.file().bytes({module_.to_file(at) - abi::kJumpSize, module_.to_file(at)});
    return std::equal(before.begin(), before.end(), kLoadSixth.begin(), kLoadSixth.end()) ||
           std::any_of(forms_.begin(), forms_.end(),
                       [&](const x86::SyscallSite& s) { return s.addr == at - abi::kJumpSize; });
  }

  // In the GNU C library threads tell each other what to call in setuid() and the like, in memory:
  // mov 0x18(%REG), %rdx; mov (%REG), %eax.
  bool sets_ids(TargetAddr at) const {
    constexpr uint64_t kSize = 6;
    const FileAddr end = module_.to_file(at);
    const auto b = module_.file().bytes({end - kSize, end});
    return module_.is_libc() && b.size() == kSize && b[0] == 0x48 && b[1] == 0x8b && (b[2] & 0xf8) == 0x50 &&
           b[3] == 0x18 && b[4] == 0x8b && b[5] == (b[2] & 7);
  }

  bool is_wanted(const x86::NumberedCall& call) const {
    constexpr uint32_t kX32 = 0x4000'0000;  // the same calls
    return std::any_of(call.numbers.begin(), call.numbers.end(), [&](uint32_t n) {
      return std::find(wanted_.begin(), wanted_.end(), n & ~kX32) != wanted_.end();
    });
  }

  std::optional<x86::SyscallSite> site_of(TargetAddr at, const x86::NumberedCall* call) const {
    const FileAddr end = module_.to_file(at);
    const auto before = module_.file().bytes({end - abi::kJumpSize, end});
    if (before.size() != abi::kJumpSize) return std::nullopt;
    const TargetAddr start = at - abi::kJumpSize;
    if (std::equal(before.begin(), before.end(), kLoadSixth.begin()))
      return x86::SyscallSite{start, jit::kAnyNumber, true};  // what follows compares the result
    if (!call || call->numbers.size() != 1 || before[0] != kLoadNumber) return std::nullopt;
    const auto form =
        std::find_if(forms_.begin(), forms_.end(), [&](const auto& s) { return s.addr == start; });
    return form != forms_.end() ? std::optional(*form) : std::nullopt;
  }

  const Module& module_;
  std::span<const uint32_t> wanted_;
  SyscallSearch search_;
  FunctionRanges functions_;
  uint64_t left_to_decode_ = kMostDecoded;
  std::map<AddrRange, x86::FunctionCalls> analysed_;
  std::vector<x86::SyscallSite> forms_;
  ModuleSyscalls calls_;
};

}  // namespace

ModuleSyscalls find_module_syscalls(const Module& module, std::span<const uint32_t> numbers,
                                    SyscallSearch search) {
  return SyscallFinder(module, numbers, search).run();
}

std::vector<SureSyscalls> find_sure_syscalls(const Module& module, std::span<const uint32_t> numbers) {
  return SyscallFinder(module, numbers, SyscallSearch::kAll).run_sure();
}

}  // namespace blip::probe
