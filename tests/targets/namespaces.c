// SPDX-License-Identifier: MIT
// namespaces LIBRARY: loads it twice, the second time into a namespace of its own.
#include <dlfcn.h>

#include "target.h"

typedef void (*Step)(int);

static Step step_of(void* library) {
  const Step step = library ? (Step)dlsym(library, "lib_step") : 0;
  require(step != 0, dlerror());
  return step;
}

int main(int argc, char** argv) {
  require(argc > 1, "the library");
  const Step here = step_of(dlopen(argv[1], RTLD_NOW | RTLD_LOCAL));
  const Step there = step_of(dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW));
  say("ready");
  while (next_round()) {
    here(100), here(1);
    there(2), there(3);
    say("done");
  }
  return 0;
}
