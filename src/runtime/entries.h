// SPDX-License-Identifier: MIT
// The entries of the blob, one row each: BLIP_ENTRY(name, number, symbol, part, stack). An entry begins at its number times
// kSlotSize (blob.h). `part` is the source file, without .cc, of the functions that it calls. `stack` is how many bytes an
// entry uses below its return address, 0 where it runs in a signal frame: what pads set aside is computed from it, and the
// build fails if the compiler's functions need more (check_blob.cmake). entry.S, blob.h and the build read this file.
//
// Unless the row says otherwise an entry is called with rcx = the control address of the home region, and changes rax, rcx,
// rdx and flags only.

// eax = class id. Returns rdx = the address of the record with its header stored (0: discarded or skipped, counted already)
// and rcx = cpu | tid << 32. The pad writes the fields and commits: add qword ptr [rdx-8], 1.
BLIP_ENTRY(Reserve, 0, blip_reserve, runtime, 244)
// The same with the time from CLOCK_MONOTONIC, in ns. rdx = the address of a clock_gettime that uses general registers only
// (its stack comes on top), or 0: a system call.
BLIP_ENTRY(ReserveMonotonic, 1, blip_reserve_monotonic, monotonic, 244)
// The SIGTRAP handler. The stub that leads there sets rcx = abi::TrapTable*.
BLIP_ENTRY(Trap, 2, blip_trap, trap, 0)
// The handler's restorer, byte for byte what unwinders know one by.
BLIP_ENTRY(Restore, 3, blip_restore, trap, 0)
// Stands in for rt_sigaction(SIGTRAP): called with the registers of the system call and rcx = abi::TrapTable*. Changes what
// a system call changes.
BLIP_ENTRY(SetAction, 4, blip_set_action, trap, 0)
// Return probes, where the pad's own way does not work. eax = id of the function, rdx = where the return address is; of Leave
// and Measure rdx = the frame. Find and the entries that enter return rdx = the frame, or 0. Measure finds the latency in the
// frame, MeasureMonotonic takes it there. The monotonic ones have clock_gettime in r8.
BLIP_ENTRY(Enter, 5, blip_enter, enter_call, 244)
BLIP_ENTRY(Find, 6, blip_find, leave_call, 244)
BLIP_ENTRY(Leave, 7, blip_leave, leave_call, 244)
BLIP_ENTRY(EnterMonotonic, 8, blip_enter_monotonic, returns_monotonic, 244)
BLIP_ENTRY(Measure, 9, blip_measure, measure_call, 244)
BLIP_ENTRY(MeasureMonotonic, 10, blip_measure_monotonic, measure_monotonic, 244)
// The loader has changed its list of libraries. eax = whether system calls may be made. May wait: abi::LibraryWord.
BLIP_ENTRY(TellLibraries, 11, blip_tell_libraries, libraries, 244)
// rdx = where the thread's rseq_cs is. Returns rdx = the address of its abi::Reading; 0: it must not read directly.
BLIP_ENTRY(FindReading, 12, blip_find_reading, find_reading, 244)
// Before a system call that may take memory away (docs/design/safe_reads.md), with its registers and eax = its number.
// Returns eax = 1: `pending` has to be lowered after the call. Changes rax, rcx, r11 and flags only. May wait for other
// threads.
BLIP_ENTRY(BeginCall, 13, blip_begin_call, begin_call, 512)
// eax = index of a hint, rdx = an address of any kind. Returns rdx = 1 if it lies in memory that sections may read; then the
// hint says so.
BLIP_ENTRY(FindRange, 14, blip_find_range, find_range, 244)
// eax = a Fetch (fetch.h), rdx = an address of any kind, r8 = a buffer, r9 = a size. Returns rdx = 1 and rcx = what was asked
// for; rdx = 0 if it cannot be read.
BLIP_ENTRY(Fetch, 15, blip_fetch, fetch, 244)
// The stack of the hit. rax = the address of its instruction, with abi::kHitAtEntry where that fits; rcx =
// abi::UnwindHeader*; rdx = rsp and rbp = rbp as the code left them. Returns rdx = the stack's id, or abi::kNoStack. Not for
// an rseq section: it may take microseconds. The stack of abi::SafeLoad comes on top.
BLIP_ENTRY(Backtrace, 16, blip_backtrace, backtrace, 672)
// rax = collect::Table* with its steps behind it, rdx = an address of any kind, r8 = where to, r9 = how many elements a
// kGiven has. Returns rdx = how many bytes it has written; they tell what could not be read. The stack of abi::SafeLoad comes
// on top.
BLIP_ENTRY(Collect, 17, blip_collect, collect, 672)
