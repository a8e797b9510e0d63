// SPDX-License-Identifier: MIT
// The freestanding code that pads call in the target: flat, position-independent, no relocations, no data.
// Copied as it is into an R-X mapping of the target.
#pragma once

#include <cstdint>
#include <span>

namespace blip::runtime {

std::span<const uint8_t> runtime_blob();

// blip_reserve: called with eax = class id, rcx = control address. Returns rdx = address of the record with
// its header stored (0: discarded or skipped, counted already), rcx = cpu | tid << 32. Changes rax, rcx, rdx
// and flags only; uses less than kStackUse bytes below the return address. The pad writes the fields and
// commits: add qword ptr [rdx-8], 1.
inline constexpr uint32_t kReserveOffset = 0;
// blip_reserve_monotonic: the same with the time from CLOCK_MONOTONIC, in ns. rdx = address of a
// clock_gettime that uses general registers only (its stack comes on top), or 0: a system call.
inline constexpr uint32_t kReserveMonotonicOffset = 64;
// The SIGTRAP handler, to be entered with rcx = abi::TrapTable*; its restorer; and what stands in for
// rt_sigaction(SIGTRAP): called with the system call's registers and rcx = abi::TrapTable*, changes what a
// system call changes.
inline constexpr uint32_t kTrapOffset = 128;
inline constexpr uint32_t kRestoreOffset = 192;
inline constexpr uint32_t kSetActionOffset = 256;
// The slow ways of return probes: eax = id of the function, rcx = control address, rdx = where the return
// address is (of kLeaveOffset and kMeasureOffset: the frame). Change rax, rcx, rdx and flags only.
// kFindOffset and those that enter return the frame in rdx, or 0. kMeasureOffset finds the latency in the
// frame, the monotonic one takes it there. The monotonic ones have clock_gettime in r8.
inline constexpr uint32_t kEnterOffset = 320;
inline constexpr uint32_t kFindOffset = 384;
inline constexpr uint32_t kLeaveOffset = 448;
inline constexpr uint32_t kEnterMonotonicOffset = 512;
inline constexpr uint32_t kMeasureOffset = 576;
inline constexpr uint32_t kMeasureMonotonicOffset = 640;
// After the loader has changed its list of libraries: eax = whether system calls may be made, rcx = control
// address. May wait: abi::LibraryWord. Changes rax, rcx, rdx and flags only.
inline constexpr uint32_t kTellLibrariesOffset = 704;
// blip_find_reading: rcx = control address, rdx = where the thread's rseq_cs is. Returns rdx = the address of
// its abi::Reading; 0: it must not read directly. Changes rax, rcx, rdx and flags only.
inline constexpr uint32_t kFindReadingOffset = 768;
// blip_begin_call: before a system call that may take memory away (docs/design/safe_reads.md), with its
// registers, eax = its number, rcx = control address. Returns eax = 1: pending has to be lowered after the
// call. Changes rax, rcx, r11 and flags only; uses kBeginCallStackUse below the return address. May wait for
// other threads.
inline constexpr uint32_t kBeginCallOffset = 832;
inline constexpr uint32_t kBeginCallStackUse = 512;
// blip_find_range: eax = index of a hint, rcx = control address, rdx = an address of any kind. Returns rdx =
// 1 if it lies in memory that sections may read, and the hint says so then. Changes rax, rcx, rdx and flags
// only.
inline constexpr uint32_t kFindRangeOffset = 896;
// The stack of the hit: rax = address of its instruction, with abi::kHitAtEntry where that fits; rcx =
// abi::UnwindHeader*; rdx = rsp and rbp = rbp as the code left them. Returns the stack's id in rdx, or
// abi::kNoStack. Changes rax, rcx, rdx and flags only. Not inside an rseq section: it may take microseconds.
// Uses kBacktraceStackUse below the return address, and that of abi::SafeLoad.
inline constexpr uint32_t kBacktraceOffset = 1024;
inline constexpr uint32_t kBacktraceStackUse = 672;
// blip_fetch: eax = a Fetch (fetch.h), rcx = control address, rdx = an address of any kind, r8 = a buffer, r9
// = a size. Returns rdx = 1, rcx = what was asked for; rdx = 0 if it cannot be read. Changes rax, rcx, rdx
// and flags only.
inline constexpr uint32_t kFetchOffset = 960;
inline constexpr uint32_t kStackUse = 256;
// blip_collect: rax = collect::Table* with its steps behind it, rcx = control address, rdx = an address of
// any kind, r8 = where to, r9 = how many elements a kGiven has. Returns rdx = how many bytes it has written;
// what cannot be read is told in them. Changes rax, rcx, rdx and flags only. Uses kCollectStackUse below the
// return address, and that of abi::SafeLoad.
inline constexpr uint32_t kCollectOffset = 1088;
inline constexpr uint32_t kCollectStackUse = 672;

}  // namespace blip::runtime
