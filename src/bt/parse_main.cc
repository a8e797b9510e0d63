// SPDX-License-Identifier: MIT
// bt_parse < SCRIPT: ends with 0 if the text is a script by its grammar, whatever it asks for. For tests/suites/bpftrace.py.
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>

#include "bt/parser.h"
#include "bt/probes.h"

int main() {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const auto tree = blip::bt::parse_tree(text);
  const auto wrong = [](const blip::Error& error) {
    std::fprintf(stderr, "%s\n", error.message().c_str());
    return 1;
  };
  if (!tree) return wrong(tree.error());
  for (const auto& block : tree->probes)
    for (const auto& point : block.points) {
      const auto probe = blip::bt::parse_probe(text, point);
      const auto says = [&](const char* what) { return probe.error().message().starts_with(what); };
      const bool is_refused =
          !probe && (says("a kernel probe") || says("this kind of probe is not there yet"));
      if (!probe && !is_refused) return wrong(probe.error());
    }
  return 0;
}
