// SPDX-License-Identifier: MIT
// Static marks, as <sys/sdt.h> leaves them: a nop, and a note that tells where it is and what the arguments
// are ("-4@%0 8@%1", with %0, %1 for the operands that follow). SEMAPHORE is a variable's name, or 0.
#pragma once

#define MARK(provider, name, semaphore, arguments, ...)                           \
  __asm__ volatile(                                                               \
      "990: nop\n"                                                                \
      ".pushsection .note.stapsdt, \"?\", \"note\"\n"                             \
      ".balign 4\n"                                                               \
      ".4byte 992f - 991f, 994f - 993f, 3\n"                                      \
      "991: .asciz \"stapsdt\"\n"                                                 \
      "992: .balign 4\n"                                                          \
      "993: .8byte 990b, _.stapsdt.base, " #semaphore                             \
      "\n"                                                                        \
      ".asciz \"" provider "\", \"" name "\", \"" arguments                       \
      "\"\n"                                                                      \
      "994: .balign 4\n"                                                          \
      ".popsection\n"                                                             \
      ".ifndef _.stapsdt.base\n"                                                  \
      ".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n" \
      ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n"  \
      ".size _.stapsdt.base, 1\n"                                                 \
      ".popsection\n"                                                             \
      ".endif\n" ::__VA_ARGS__)

#define SEMAPHORE(name) \
  __attribute__((used, visibility("hidden"), section(".probes"))) volatile unsigned short name
