// SPDX-License-Identifier: MIT
// The instruction zoo: jumps, loops, calls and returns.
#include "x86/zoo_macros.h"

asm(BLIP_ZOO_BEGIN R"(
snippet jcc_both_ways
  cmp rax, rdx
  jb 1f
  je 2f
  jg 3f
  mov eax, 1
  ret
  1: mov eax, 2
  ret
  2: mov eax, 3
  ret
  3: mov eax, 4
  ret
end
snippet jcc_first
  jc 1f
  jo 2f
  jp 3f
  js 4f
  jz 5f
  mov eax, 1
  ret
  1: mov eax, 2
  ret
  2: mov eax, 3
  ret
  3: mov eax, 4
  ret
  4: mov eax, 5
  ret
  5: mov eax, 6
  ret
end
snippet jcc_inverted_near
  {disp32} jnc 1f
  {disp32} jno 1f
  {disp32} jnp 1f
  {disp32} jns 1f
  {disp32} ja 1f
  {disp32} jle 1f
  mov eax, 1
  1: ret
end
snippet jcc_inside_the_window
  test al, 1
  jz 1f
  inc ebx
  1: test al, 2
  jz 2f
  inc ebx
  2: inc edx
  ret
end
snippet jmp_short
  jmp 1f
  int3
  1: mov eax, 1
  ret
end
snippet jmp_backwards
  jmp 2f
  1: mov eax, 1
  ret
  2: jmp 1b
end
snippet jmp_near
  nop
  {disp32} jmp 1f
  int3
  1: mov eax, 1
  ret
end
snippet loop_inside_the_window
  and ecx, 7
  inc ecx
  1: lea rax, [rax+3]
  loop 1b
  ret
end
snippet loop_over_code
  lea ecx, [rcx+1]
  1: dec rcx
  loop 2f
  mov eax, 1
  ret
  2: mov eax, 2
  ret
end
snippet loope_loopne
  and ecx, 3
  loope 1f
  loopne 2f
  mov eax, 1
  ret
  1: mov eax, 2
  ret
  2: mov eax, 3
  ret
end
snippet loop_32_bit_counter
  mov eax, ecx
  .byte 0x67
  loop 1f
  mov eax, 1
  ret
  1: mov eax, 2
  ret
end
snippet jrcxz
  and ecx, 1
  jrcxz 1f
  mov eax, 1
  ret
  1: mov eax, 2
  ret
end
snippet jecxz
  jecxz 1f
  mov eax, 1
  ret
  1: mov eax, 2
  ret
end
snippet jrcxz_keeps_flags
  cmp al, dl
  jrcxz 1f
  sbb ebx, ebx
  1: setg al
  ret
end
snippet loop_to_the_first_byte
  lea rax, [rax+1]
  dec cl
  jnz 77b
  ret
end
snippet jmp_to_the_first_byte
  test cl, cl
  jz 1f
  dec cl
  jmp 77b
  1: ret
end
snippet call_direct
  push rax
  call 1f
  pop rdx
  ret
  1: mov rbx, [rsp]
  sub rbx, r10
  ret
end
snippet call_direct_first
  call 1f
  mov rcx, rbx
  ret
  1: mov rbx, [rsp]
  sub rbx, r10
  pushfq
  pop rax
  ret
end
snippet call_next
  call 1f
  1: pop rax
  sub rax, r10
  ret
end
snippet call_register
  mov r12, r10
  call r12
  lea rax, [r11+1]
  ret
end
snippet call_memory
  mov ebx, 1
  call [rdi+8]
  call [rdi+rbx*8]
  ret
end
snippet call_rip
  nop
  call [rip+1f]
  ret
  .p2align 3
  1: .quad 0x5eed5eed5eed5eed
end
snippet call_rsp_relative
  push r10
  mov ecx, 1
  call [rsp]
  push rax
  push rdx
  call [rsp+16]
  call [rsp+rcx*8+8]
  pop rax
  pop rdx
  pop rax
  sub rax, r10
  ret
end
snippet tail_jump_register
  mov eax, 5
  jmp r10
end
snippet tail_jump_memory
  push rax
  pop rbx
  jmp [rdi+8]
end
snippet tail_jump_rip
  jmp [rip+1f]
  .p2align 3
  1: .quad 0x5eed5eed5eed5eed
end
snippet notrack_jump
  mov ebx, 3
  notrack jmp r10
end
snippet jump_table
  and ecx, 1
  lea rdx, [rip+1f]
  movsxd rax, dword ptr [rdx+rcx*4]
  add rax, rdx
  jmp rax
  2: mov ebx, 1
  sub rax, r10
  sub rdx, r10
  ret
  3: mov ebx, 2
  sub rax, r10
  sub rdx, r10
  ret
  1: .long 2b-1b, 3b-1b
end
snippet ret_imm
  pop rdx
  push rax
  push rdx
  ret 8
end
snippet rep_ret
  xor eax, eax
  inc al
  repz ret
end
)" BLIP_ZOO_END);
