// SPDX-License-Identifier: MIT
// Runs a snippet of the zoo with a register file and stack of its own.
#include "base/test_registers.h"
#include "x86/zoo.h"

// clang-format off
asm(R"(
.intel_syntax noprefix
.text
.globl blip_zoo_run, blip_zoo_exit
.hidden blip_zoo_run, blip_zoo_exit
.type blip_zoo_run, @function
blip_zoo_run:
)" BLIP_TEST_SAVE_CALLEE_SAVED R"(
  mov [rip+zoo_host_rsp], rsp
  mov [rip+zoo_registers], rdi
  mov [rip+zoo_entry], rsi
  push qword ptr [rdi+128]
  popfq
  mov rsp, [rdi+32]
)" BLIP_TEST_LOAD_REGISTERS R"(
  mov rdi, [rdi+56]
  jmp [rip+zoo_entry]
blip_zoo_exit:
  mov [rip+zoo_rdi], rdi
  mov rdi, [rip+zoo_registers]
  mov [rdi+32], rsp
)" BLIP_TEST_STORE_REGISTERS R"(
  mov rax, [rip+zoo_rdi]
  mov [rdi+56], rax
  mov rsp, [rip+zoo_host_rsp]
  pushfq
  pop qword ptr [rdi+128]
  cld
)" BLIP_TEST_RESTORE_CALLEE_SAVED R"(
  ret
.local zoo_host_rsp, zoo_registers, zoo_entry, zoo_rdi
.comm zoo_host_rsp, 8, 8
.comm zoo_registers, 8, 8
.comm zoo_entry, 8, 8
.comm zoo_rdi, 8, 8
.att_syntax prefix
)");
// clang-format on

extern "C" {
extern const uint8_t blip_zoo_exit[];
void blip_zoo_run(blip::test::Registers*, const uint8_t*);
}

namespace blip::x86::test {

void zoo_run(Registers& registers, const uint8_t* code) { blip_zoo_run(&registers, code); }

uint64_t zoo_exit_address() { return reinterpret_cast<uint64_t>(blip_zoo_exit); }

}  // namespace blip::x86::test
