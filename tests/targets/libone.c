// SPDX-License-Identifier: MIT
// Variables that executables and other libraries may have copies or definitions of.
int lib_counter = 5;
__attribute__((visibility("protected"))) int lib_protected = 7;

__attribute__((noipa)) void lib_step(int n) {
  lib_counter += n;
  lib_protected += n;
}
