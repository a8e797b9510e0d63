// SPDX-License-Identifier: MIT
// Uses a library's variable: the linker gives it a copy of it, which the library uses too.
#include <dlfcn.h>
#include <stdio.h>

extern int lib_counter;
void lib_step(int n);

__attribute__((noipa)) void step(int n) {
  lib_counter += n;
  lib_step(0);
}

int main(int argc, char** argv) {
  for (int i = 0; i < 3; i++) step(100);
  if (argc > 1) {  // another library with variables of its own
    void* other = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    void (*other_step)(int) = (void (*)(int))dlsym(other, "lib_step");
    other_step(1);
  }
  printf("%d\n", lib_counter);
  return 0;
}
