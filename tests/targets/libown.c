// SPDX-License-Identifier: MIT
// Defines the variable of libone.so again: what is loaded before it counts.
int lib_counter = 1000;
