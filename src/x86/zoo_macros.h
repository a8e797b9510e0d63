// SPDX-License-Identifier: MIT
#pragma once

// Around snippets of the instruction zoo in an asm(): `snippet NAME`, instructions, `end`. The sections are
// only data for the linker; the test copies them to memory it may execute.
#define BLIP_ZOO_BEGIN                \
  ".intel_syntax noprefix\n"          \
  ".macro snippet name\n"             \
  "  .pushsection zoo_names,\"a\"\n"  \
  "  88: .asciz \"\\name\"\n"         \
  "  .popsection\n"                   \
  "  .pushsection zoo_table,\"aw\"\n" \
  "  .quad 77f, 66f, 88b\n"           \
  "  .popsection\n"                   \
  "  77:\n"                           \
  ".endm\n"                           \
  ".macro end\n"                      \
  "  66: .p2align 4, 0xcc\n"          \
  ".endm\n"                           \
  ".pushsection zoo_code,\"a\"\n"
#define BLIP_ZOO_END ".popsection\n.att_syntax prefix\n"
