// SPDX-License-Identifier: MIT
// The text form of blocks as a language of its own (--lang blocks, files *.blip): a program as script/blocks/text.h reads it, with a
// line for each probe, in the order of their numbers. A function `probe N` is the handler of probe N.
//
//     probe 0 begin | end | error | never
//     probe 1 timer 1000000000                       every so many ns
//     probe 1 profile 10000000                       each time a thread has used so many ns of CPU time
//     probe 2 signal 10
//     probe 2 process_begin | process_end | thread_begin | thread_end [PID]
//     probe 3 function "MODULE" "NAME" | return ... | mark ...      "": the executable
//     probe 4 instruction "MODULE" "NAME" 12         NAME + 12
//     probe 5 line "FILE" 120
//     ... stack                                      behind a probe whose handler has `stack`
//
// Formats are those of printf with %d %u %x %s %c and %%. For tests, and for what compilers of other languages make.
#pragma once

#include "script/front/language.h"

namespace blip::script {

ParsedScript parse_blocks(const ScriptText& text);

}  // namespace blip::script
