// SPDX-License-Identifier: MIT
#include "cli/view/babeltrace.h"

#include <dlfcn.h>

#include <string>

namespace blip::cli::bt {

namespace {

constexpr char kLibrary[] = "libbabeltrace2.so.0";

}  // namespace

#define X(name) decltype(&::bt_##name) name;
BLIP_BABELTRACE_FUNCTIONS(X)
#undef X

Status load() {
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);  // stays loaded: a second call finds the same
  if (!library) {
    return Error(ErrorKind::kNotFound,
                 std::string("traces are read by ") + kLibrary + " (Debian: libbabeltrace2-0): " + dlerror());
  }
#define X(name)                                                                 \
  name = reinterpret_cast<decltype(&::bt_##name)>(dlsym(library, "bt_" #name)); \
  if (!name) return Error(ErrorKind::kInvalid, std::string(kLibrary) + " has no bt_" #name);
  BLIP_BABELTRACE_FUNCTIONS(X)
#undef X
  return {};
}

}  // namespace blip::cli::bt
